//! A packet log in the format of mahimahi's `mm-link`.
//!
//! `+` a packet arrived at the link, `-` it left the link (with the time that it spent inside), `d` it was
//! dropped. Times are in milliseconds. Mahimahi writes whole milliseconds; we write fractions, which its
//! tools can read. One file contains both directions; `up` or `down` is the last word of a line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::time::Duration;

use trackbed_core::{Packet, Time};
use trackbed_net::{Alteration, Direction, LinkId, Point, Tap};

/// The address and the length of a packet's bytes.
type Identity = (usize, usize);

/// Writes a packet log.
pub struct PacketLog {
    sink: BufWriter<File>,
    /// The arrival time and the number of remaining copies of each packet inside, by the address of its bytes.
    inside: HashMap<Identity, (Time, u32)>,
    error: Option<io::Error>,
}

impl PacketLog {
    /// Starts a log. `epoch` is the time of day at [`Time::ZERO`], since 1970-01-01T00:00:00Z; `title`
    /// describes the link.
    pub fn begin(sink: File, title: &str, epoch: Duration) -> PacketLog {
        let mut lines =
            PacketLog { sink: BufWriter::new(sink), inside: HashMap::new(), error: None };
        lines.write(format_args!("# trackbed link {title}"));
        lines.write(format_args!("# init timestamp: {}", epoch.as_millis()));
        lines.write(format_args!("# base timestamp: 0"));
        lines
    }

    /// Writes all buffered lines.
    pub fn finish(&mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.sink.flush(),
        }
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        if self.error.is_none() {
            self.error = writeln!(self.sink, "{line}").err();
        }
    }

    /// The arrival time of a packet of which one copy leaves now.
    fn leave(&mut self, identity: Identity) -> Option<Time> {
        let (came, copies) = self.inside.get_mut(&identity)?;
        let came = *came;
        *copies -= 1;
        if *copies == 0 {
            self.inside.remove(&identity);
        }
        Some(came)
    }
}

impl Tap for PacketLog {
    fn see(&mut self, at: Time, _: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let way = match direction {
            Direction::Forward => "up",
            Direction::Backward => "down",
        };
        let identity = (packet.bytes().as_ptr() as usize, packet.len());
        let (ms, bytes) = (at.as_millis_f64(), packet.len());
        match point {
            Point::Entered => {
                self.inside.insert(identity, (at, 1));
                self.write(format_args!("{ms:.3} + {bytes} {way}"));
            }
            Point::Delivered => {
                let came = self.leave(identity);
                let inside = came.map_or(Duration::ZERO, |came| at - came).as_secs_f64() * 1e3;
                self.write(format_args!("{ms:.3} - {bytes} {inside:.3} {way}"));
            }
            Point::Dropped(why) => {
                self.leave(identity);
                self.write(format_args!("{ms:.3} d 1 {bytes} {way} {}", why.name()));
            }
            Point::Altered(what) => {
                // A changed packet counts as a new one.
                let (_, copies) = self.inside.entry(identity).or_insert((at, 1));
                *copies += u32::from(what == Alteration::Duplicated);
                self.write(format_args!("# {ms:.3} {} {bytes} {way}", what.name()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trackbed_core::packet::{Ecn, UdpDatagram};
    use trackbed_core::{Ratio, Seed};
    use trackbed_net::models::{Corruption, Delay, Duplication, Loss, loss::Listed};
    use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};

    use super::*;

    /// The log of packets of 100 bytes that enter at these times, in microseconds, a link like `up`.
    fn logged(up: &LinkSpec, sent: &[u64]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = PacketLog::begin(File::create(&path).unwrap(), "10 ms", Duration::from_secs(5));
        let mut builder = NetworkBuilder::default();
        let (near, far) = (builder.edge("near"), builder.edge("far"));
        let link = Duplex::new(up, &LinkSpec::new(), &Seed::of_run(1, 0));
        builder.connect(End::new(near, []), End::new(far, []), link);
        let mut network = builder.build().unwrap();
        network.set_tap(Some(Box::new(log)));
        let socket = "10.0.0.1:1".parse().unwrap();
        for micros in sent {
            let packet = UdpDatagram::emit(socket, socket, Ecn::NotCapable, &[0; 72]);
            network.send(Time::from_micros(*micros), near, packet);
        }
        network.advance(Time::from_millis(20));
        drop(network);
        std::fs::read_to_string(path).unwrap()
    }

    fn late() -> LinkSpec {
        LinkSpec::new().with(Delay::fixed(Duration::from_millis(10)))
    }

    #[test]
    fn every_event_of_a_packet_has_a_line() {
        let text = logged(&late().with(Loss::new(Listed::new([2]))), &[1_500, 1_500]);
        assert_eq!(text, include_str!("log.txt"));
    }

    /// Each copy spends the delay inside, whether duplicated or damaged.
    #[test]
    fn copies_and_damaged_packets_have_a_time_inside() {
        let probability = Ratio::from_parts(1, 1);
        let up = late().with(Duplication { probability }).with(Corruption { probability });
        let text = logged(&up, &[0, 1_000, 2_000]);
        let left: Vec<&str> = text.lines().filter(|line| line.contains(" - ")).collect();
        assert_eq!(left.len(), 6, "{text}");
        assert!(left.iter().all(|line| line.ends_with(" 10.000 up")), "{text}");
    }
}
