//! Packets that are chosen by their content, and what happens to them.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Packet, Rng, Time};

use super::gate::{Gate, Gated};
use super::reordering::{HoldingLink, Picks};
use crate::content::ContentReader;
use crate::link::{Alteration, DropReason, Link, Outlet};
use crate::spec::{Model, Stage};

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is lost.
    Loss,
    /// A copy follows it.
    Duplication,
    /// It is held back for this long, and later ones overtake it.
    Delay(Duration),
}

/// Chooses packets by content and number: the second `ServerHello` of a direction, whatever is before it.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What happens to them.
    pub fault: Fault,
    /// Contents, as [`ContentReader`] names them, and numbers among the packets with this content, from 1.
    pub packets: Arc<[(String, u64)]>,
}

impl Model for Chosen {
    fn stage(&self) -> Stage {
        match self.fault {
            Fault::Loss => Stage::Loss,
            Fault::Duplication => Stage::Duplication,
            Fault::Delay(_) => Stage::Reordering,
        }
    }

    fn wrap(&self, _rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        let chooser = Chooser {
            packets: Arc::clone(&self.packets),
            reader: ContentReader::default(),
            counts: vec![0; self.packets.len()],
        };
        match self.fault {
            Fault::Delay(hold) => Box::new(HoldingLink::new(chooser, hold, inner)),
            fault => Box::new(Gated { gate: (fault, chooser), inner }),
        }
    }
}

#[derive(Debug)]
struct Chooser {
    packets: Arc<[(String, u64)]>,
    reader: ContentReader,
    /// How many packets with each content have passed.
    counts: Vec<u64>,
}

impl Picks for Chooser {
    fn picks(&mut self, packet: &Packet) -> bool {
        let content = self.reader.read(packet);
        let mut is_chosen = false;
        for ((wanted, number), count) in self.packets.iter().zip(&mut self.counts) {
            *count += u64::from(*wanted == content);
            is_chosen |= *wanted == content && *number == *count;
        }
        is_chosen
    }
}

impl Gate for (Fault, Chooser) {
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet) {
        let (fault, chooser) = self;
        match chooser.picks(&packet) {
            false => inner.push(now, packet, out),
            true if *fault == Fault::Loss => out.drop(now, packet, DropReason::Loss),
            true => {
                inner.push(now, packet.clone(), out);
                out.altered(now, &packet, Alteration::Duplicated);
                inner.push(now, packet, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trackbed_core::Seed;
    use trackbed_core::packet::{Ecn, UdpDatagram};

    use super::*;
    use crate::LinkSpec;

    #[derive(Default)]
    struct Out(Vec<(Time, usize)>, Vec<&'static str>);

    impl Outlet for Out {
        fn deliver(&mut self, at: Time, packet: Packet) {
            self.0.push((at, packet.len()));
        }

        fn drop(&mut self, _: Time, _: Packet, why: DropReason) {
            self.1.push(why.name());
        }

        fn altered(&mut self, _: Time, _: &Packet, what: Alteration) {
            self.1.push(what.name());
        }
    }

    /// Datagrams without a known protocol are `data`; IP and UDP take 28 bytes.
    #[test]
    fn the_chosen_packet_is_lost_doubled_or_held_back() {
        let hold = Duration::from_millis(5);
        for (fault, expected, said) in [
            (Fault::Loss, &[(0, 28), (20, 30)][..], "loss"),
            (Fault::Duplication, &[(0, 28), (10, 29), (10, 29), (20, 30)], "duplicated"),
            (Fault::Delay(hold), &[(0, 28), (15, 29), (20, 30)], "held back"),
        ] {
            let packets = Arc::from([("data".to_owned(), 2), ("SYN".to_owned(), 1)]);
            let spec = LinkSpec::new().with(Chosen { fault, packets });
            let (mut link, mut out) = (spec.build(&Seed::of_run(1, 0)), Out::default());
            let [from, to] = ["192.0.2.1:1", "192.0.2.2:2"].map(|end| end.parse().unwrap());
            for number in 0..3 {
                let now = Time::from_millis(10 * number);
                link.advance(now, &mut out);
                let payload = vec![0; number as usize];
                link.push(now, UdpDatagram::emit(from, to, Ecn::NotCapable, &payload), &mut out);
            }
            let expected: Vec<_> =
                expected.iter().map(|(ms, size)| (Time::from_millis(*ms), *size)).collect();
            assert_eq!((out.0, out.1), (expected, vec![said]));
        }
    }
}
