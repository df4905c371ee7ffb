//! Repeats one run on both substrates, captures both, and finds where they part.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use trackbed_analysis::parting::{Reader, Sent};
use trackbed_core::{Packet, Time};
use trackbed_measure::results::{EMULATED, Outcome, RunResult, VIRTUAL};
use trackbed_net::{Direction, LinkId, Point, Tap};
use trackbed_protocols::Observer;
use trackbed_scenario::Plan;
use trackbed_substrate::Cancel;

use crate::capture::Capture;
use crate::emulated::Emulated;
use crate::run::{Onlooker, Runner};

/// One run on one substrate.
#[derive(Debug)]
pub struct Captured {
    /// How it ended.
    pub result: RunResult,
    /// The packets of the shared links, as their senders handed them over.
    pub sent: Vec<Sent>,
    /// The files written.
    pub files: Vec<PathBuf>,
}

/// Executes a run of `plan` in virtual time and on the kernel, in this order, and writes captures to the
/// folders `virtual` and `emulated` in `directory`. `command` is the command line that repeats this.
///
/// # Errors
/// If a file cannot be written.
///
/// # Panics
/// If the plan has no such cell.
pub fn execute(
    (plan, emulated): (&Plan, &Emulated),
    (cell, run): (u32, u32),
    (directory, command): (&Path, &str),
) -> io::Result<[Captured; 2]> {
    let capture = |substrate| Watcher::begin(&directory.join(substrate), (command, substrate));
    let watcher = capture(VIRTUAL)?;
    let runner = Runner::new(Cancel::new());
    let outcome = runner
        .simulate(&plan.cells[cell as usize], (plan.seed, run), Some(&watcher))
        .unwrap_or_else(|why| Outcome::Failed(why.to_string()));
    let result = RunResult { cell, run, outcome, certificate: None };
    let virtually = watcher.finish(result)?;
    let watcher = capture(EMULATED)?;
    let result = emulated.observe(plan, (cell, run), Some(&watcher));
    Ok([virtually, watcher.finish(result)?])
}

/// Captures a run, and keeps what its packets contain.
struct Watcher {
    capture: Capture,
    seen: Arc<Mutex<Seen>>,
}

impl Watcher {
    fn begin(directory: &Path, about: (&str, &str)) -> io::Result<Watcher> {
        Ok(Watcher { capture: Capture::begin(directory, about)?, seen: Arc::default() })
    }

    fn finish(self, result: RunResult) -> io::Result<Captured> {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Captured { result, sent: seen.sent, files: self.capture.finish()? })
    }
}

impl Onlooker for Watcher {
    fn tap(&self, shared: LinkId, second: Option<LinkId>) -> Box<dyn Tap> {
        let seen = Arc::clone(&self.seen);
        Box::new(SeenTap { capture: self.capture.tap(shared, second), shared, second, seen })
    }

    fn observer(&self) -> Arc<dyn Observer> {
        self.capture.observer()
    }
}

#[derive(Default)]
struct Seen {
    reader: Reader,
    sent: Vec<Sent>,
    /// The memory of each packet, and where it is in `sent`.
    places: Vec<(usize, usize)>,
}

struct SeenTap {
    capture: Box<dyn Tap>,
    shared: LinkId,
    second: Option<LinkId>,
    seen: Arc<Mutex<Seen>>,
}

impl Tap for SeenTap {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        self.capture.see(at, link, direction, point, packet);
        let number = match link {
            link if link == self.shared => 0,
            link if Some(link) == self.second => 1,
            _ => return,
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Seen { reader, sent, places } = &mut *seen;
        match point {
            Point::Entered => {
                places.push((packet.bytes().as_ptr().addr(), sent.len()));
                sent.extend(reader.read((at, number), direction, packet));
            }
            // The last packet in this memory is the one: a link copies no packet that it does not alter.
            Point::Dropped(why) => {
                let address = packet.bytes().as_ptr().addr();
                let place = places.iter().rev().find(|(known, _)| *known == address);
                if let Some(sent) = place.and_then(|(_, place)| sent.get_mut(*place)) {
                    sent.lost = Some(why.name());
                }
            }
            Point::Delivered | Point::Altered(_) => {}
        }
    }
}
