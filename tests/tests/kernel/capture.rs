//! Every packet of a case, kept in memory: to be checked, and to be written out if the case fails.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use trackbed_measure::pcapng::{PcapngWriter, Section, TapPoint};
use trackbed_net::{LinkId, Tap};

use crate::*;

/// A packet somewhere on a path.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: Time,
    /// Forward is from the engine to the kernel.
    pub direction: Direction,
    pub point: Point,
    pub packet: Packet,
}

/// Collects the packets of paths: sent and received at both ends, and lost or altered in between.
/// Clones share the collection.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The links of each path, from the engine to the kernel.
    paths: Vec<Vec<LinkId>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Tap for Capture {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let Some(path) = self.paths.iter().find(|path| path.contains(&link)) else { return };
        let end = match (direction, point) {
            (Direction::Forward, Point::Entered) | (Direction::Backward, Point::Delivered) => {
                path.first()
            }
            (Direction::Forward, Point::Delivered) | (Direction::Backward, Point::Entered) => {
                path.last()
            }
            (_, Point::Dropped(_) | Point::Altered(_)) => Some(&link),
        };
        if end == Some(&link) {
            let seen = Seen { at, direction, point, packet: packet.clone() };
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        }
    }
}

impl Capture {
    /// Sees paths, each of these links from the engine to the kernel.
    pub fn new(paths: Vec<Vec<LinkId>>) -> Capture {
        Capture { paths, seen: Arc::default() }
    }

    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes packets to `path` for Wireshark: what entered the link at each end, and what was lost or
/// altered in transit.
pub fn write(path: &Path, command: &str, seen: &[Seen]) -> io::Result<()> {
    let section = Section { command_line: command.to_owned(), ..Section::default() };
    let mut writer = PcapngWriter::new(BufWriter::new(File::create(path)?), &section)?;
    let mut tap = |name: &str, description: &str| {
        let (name, description) = (name.to_owned(), description.to_owned());
        writer.add_tap(&TapPoint { name, description, snap_len: 0 })
    };
    let sent = tap("sent", "packets as their senders made them")?;
    let arrived = tap("arrived", "packets as they reach their receivers")?;
    let lost = tap("lost", "packets that the link loses")?;
    for Seen { at, point, packet, .. } in seen {
        match point {
            Point::Entered => writer.packet(*at, sent, packet, "")?,
            Point::Delivered => writer.packet(*at, arrived, packet, "")?,
            Point::Dropped(why) => writer.dropped(*at, lost, packet, why.name())?,
            Point::Altered(Alteration::HeldBack) => {}
            Point::Altered(what) => writer.packet(*at, lost, packet, what.name())?,
        }
    }
    writer.finish(seen.last().map_or(Time::ZERO, |seen| seen.at))?;
    Ok(())
}
