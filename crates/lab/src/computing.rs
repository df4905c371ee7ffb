//! Ends whose programs take processor time for each packet, in virtual time.

use std::ops::Range;
use std::time::Duration;

use trackbed_analysis::computing::Computing;
use trackbed_core::{Packet, Time};
use trackbed_device::processor::host::{Host, PacketCost};
use trackbed_net::{Handled, NodeId, Processor, Way};
use trackbed_scenario::Cell;

use crate::emulated::spread;
use crate::topology::Track;

/// From now on the ends of `track` take this time. The phones are as many programs as on the emulated substrate.
pub(crate) fn attach(track: &mut Track, cell: &Cell, computing: Computing) {
    let of_share = |share: Range<u32>| {
        let nodes = &track.phones()[share.start as usize..share.end as usize];
        (nodes.to_vec(), computing.client)
    };
    let clients: Vec<_> = spread::shares(cell).into_iter().map(of_share).collect();
    let server = (vec![track.server], computing.server);
    for (nodes, packet) in clients.into_iter().chain([server]) {
        // One thread, which no other program disturbs.
        let host = Host::new(1, PacketCost { packet, byte_picos: 0 }, usize::MAX, None);
        track.network.add_processor(nodes, Box::new(Program { host, packet }));
    }
}

/// A program that handles packets one after the other.
#[derive(Debug)]
struct Program {
    host: Host<Handled>,
    packet: Duration,
}

impl Processor for Program {
    fn take(&mut self, now: Time, node: NodeId, way: Way, packet: Packet) -> Result<(), Packet> {
        let count = u32::try_from(packet.segments()).unwrap_or(u32::MAX);
        let work = self.packet.saturating_mul(count);
        self.host.submit(now, Handled { node, way, packet }, work);
        Ok(())
    }

    fn advance(&mut self, now: Time) {
        self.host.advance(now);
    }

    fn next_handled(&mut self) -> Option<Handled> {
        self.host.next_handled().map(|(_, handled)| handled)
    }

    fn next_wake(&self) -> Option<Time> {
        self.host.next_wake()
    }
}

#[cfg(test)]
mod tests {
    use trackbed_substrate::Cancel;

    use super::*;
    use crate::run::Runner;
    use crate::testing::built_in;

    /// One datagram there and one back: each end handles two packets.
    #[test]
    fn an_exchange_takes_what_its_four_packets_take() {
        let settings = ["protocol=coap", "workload.size=100B", "workload.count=1", "link.loss=0%"];
        let plan = built_in("vru", &settings);
        let completion = |runner: Runner| {
            runner.execute(&plan.cells[0], 1, 0).unwrap().samples().unwrap()["completion_ms"][0]
        };
        let [client, server] = [30, 500].map(Duration::from_micros);
        let free = Runner::new(Cancel::default());
        let busy = free.clone().with_computing(Computing { client, server });
        let more = completion(busy) - completion(free);
        assert!((more - 1.06).abs() < 1e-6, "{more} ms");
    }
}
