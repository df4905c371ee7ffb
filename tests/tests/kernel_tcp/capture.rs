//! Every packet of a case, kept in memory: to be checked, and to be written out if the case fails.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use trackbed_core::{Packet, Time};
use trackbed_measure::pcapng::{PcapngWriter, Section, TapPoint};
use trackbed_net::{Alteration, Direction, LinkId, Point, Tap};

/// A packet somewhere on the link.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: Time,
    pub link: LinkId,
    /// Forward is from the engine to the kernel.
    pub direction: Direction,
    pub point: Point,
    pub packet: Packet,
}

/// Collects what a network shows. Clones share what they collect.
#[derive(Clone, Debug, Default)]
pub struct Capture(Arc<Mutex<Vec<Seen>>>);

impl Tap for Capture {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let seen = Seen { at, link, direction, point, packet: packet.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

impl Capture {
    /// What was seen until now.
    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes packets to `path` for Wireshark: what entered the link at each end, and what was lost or
/// altered on the way.
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
