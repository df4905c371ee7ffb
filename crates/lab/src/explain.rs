//! Repeats one run on both substrates, captures both, and keeps their packets.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use trackbed_analysis::computing::Computing;
use trackbed_analysis::divergence::{Reader, Sent, Window};
use trackbed_core::{Packet, Time};
use trackbed_measure::results::{EMULATED, Outcome, RunResult, VIRTUAL};
use trackbed_net::{Direction, LinkId, Point, Tap};
use trackbed_protocols::{Observer, Side};
use trackbed_scenario::Plan;
use trackbed_substrate::Cancel;

use crate::capture::Capture;
use crate::emulated::Emulated;
use crate::run::{Onlooker, Runner};
use crate::topology::Track;
use crate::windows::{Connection, Windows};

/// One run on one substrate.
#[derive(Debug)]
pub struct Captured {
    /// How it ended.
    pub result: RunResult,
    /// The packets of the shared links, as their senders handed them over.
    pub sent: Vec<Sent>,
    /// The congestion windows at both ends of the first TCP connection.
    pub windows: Vec<Window>,
    /// The files written.
    pub files: Vec<PathBuf>,
}

/// Executes a run of `plan` in virtual time and on the kernel, and writes captures to the folders `virtual`
/// and `emulated` in `directory`. `command` is the command line that repeats this. In virtual time the ends
/// take the processor time that was measured on the kernel, so that what remains has another cause; it is
/// returned too.
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
) -> io::Result<([Captured; 2], Option<Computing>)> {
    let watcher = Watcher::begin(&directory.join(EMULATED), (command, EMULATED))?;
    let result = emulated.observe(plan, (&[cell], run), Some(&watcher)).remove(0);
    let emulated = watcher.finish(result)?;
    let computing = Computing::measured(std::slice::from_ref(&emulated.result))
        .filter(|_| !plan.cells[cell as usize].shares_cores());
    let virtually = virtually(plan, (cell, run), (directory, command), computing)?;
    Ok(([virtually, emulated], computing))
}

/// Executes a run in virtual time, and writes captures to the folder `virtual` in `directory`.
fn virtually(
    plan: &Plan,
    (cell, run): (u32, u32),
    (directory, command): (&Path, &str),
    computing: Option<Computing>,
) -> io::Result<Captured> {
    let watcher = Watcher::begin(&directory.join(VIRTUAL), (command, VIRTUAL))?;
    let runner = Runner::new(Cancel::default()).with_computing(computing);
    let (outcome, answered) = runner
        .simulate(&[&plan.cells[cell as usize]], (plan.seed, run), Some(&watcher))
        .map_or_else(|why| (Outcome::Failed(why.to_string()), None), |mut all| all.remove(0));
    watcher.finish(RunResult { cell, run, outcome, certificate: None, answered })
}

/// Captures a run, and keeps what its packets contain.
struct Watcher {
    capture: Capture,
    seen: Arc<Mutex<Seen>>,
    windows: Windows,
}

impl Watcher {
    fn begin(directory: &Path, about: (&str, &str)) -> io::Result<Watcher> {
        let (mut capture, windows) = (Capture::begin(directory, about)?, Windows::default());
        capture.notes.windows = Some(windows.clone());
        Ok(Watcher { capture, seen: Arc::default(), windows })
    }

    fn finish(self, result: RunResult) -> io::Result<Captured> {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let first = seen.reader.first().unwrap_or(Time::ZERO);
        let windows = self.windows.take().into_iter();
        let windows = windows.flat_map(|(side, of)| relative(side, of, first)).collect();
        Ok(Captured { result, sent: seen.sent, windows, files: self.capture.finish()? })
    }
}

/// The windows of an end, with times since the first packet.
fn relative(side: Side, of: Connection, first: Time) -> Vec<Window> {
    let direction = match side {
        Side::Client => Direction::Forward,
        Side::Server => Direction::Backward,
    };
    let paths = of.paths.into_iter().enumerate();
    paths
        .flat_map(|(path, of)| of.windows.into_iter().map(move |window| (path, window)))
        .map(|(path, window)| {
            let at = Time::ZERO + (window.at - first);
            Window { at, direction, path, bytes: window.bytes, rtt: window.rtt }
        })
        .collect()
}

impl Onlooker for Watcher {
    fn tap(&self, track: &Track) -> Box<dyn Tap> {
        let (capture, seen) = (self.capture.tap(track), Arc::clone(&self.seen));
        Box::new(SeenTap { capture, links: track.links.clone(), seen })
    }

    fn observer(&self) -> Arc<dyn Observer> {
        self.capture.observer()
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn windows(&self, side: Side, of: Connection) {
        self.windows.add(side, of);
    }
}

#[derive(Default)]
struct Seen {
    reader: Reader,
    sent: Vec<Sent>,
    /// The address in memory of each packet, and where it is in `sent`.
    places: Vec<(usize, Range<usize>)>,
}

struct SeenTap {
    capture: Box<dyn Tap>,
    links: Vec<LinkId>,
    seen: Arc<Mutex<Seen>>,
}

impl Tap for SeenTap {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        self.capture.see(at, link, direction, point, packet);
        let Some(number) = self.links.iter().position(|own| *own == link) else { return };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Seen { reader, sent, places } = &mut *seen;
        match point {
            Point::Entered => {
                let from = sent.len();
                sent.extend(reader.read((at, number), direction, packet));
                places.push((packet.bytes().as_ptr().addr(), from..sent.len()));
            }
            // The last packet in this memory is the one: a link copies no packet that it does not alter.
            Point::Dropped(why) => {
                let address = packet.bytes().as_ptr().addr();
                let place = places.iter().rev().find(|(known, _)| *known == address);
                let lost = place.and_then(|(_, place)| sent.get_mut(place.clone()));
                lost.into_iter().flatten().for_each(|sent| sent.lost = Some(why.name()));
            }
            Point::Delivered | Point::Altered(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use trackbed_analysis::agreement;
    use trackbed_analysis::divergence::{divergence, first_late};
    use trackbed_measure::agreement::AgreementVerdict;
    use trackbed_net::Direction;

    use super::*;
    use crate::testing::built_in;

    /// Runs of a small transfer over a very lossy link, with this setting.
    fn runs(setting: &str) -> Vec<Captured> {
        let settings = "protocol=tcp congestion=cubic sack=false workload.size=30kB link.rate=10Mbit/s link.delay=20ms \
                        link.loss=5%";
        let settings: Vec<&str> = settings.split(' ').chain([setting]).collect();
        let plan = built_in("bulk", &settings);
        let folder = tempfile::tempdir().unwrap();
        let run = |run| virtually(&plan, (0, run), (folder.path(), "test"), None).unwrap();
        (0..40).map(run).collect()
    }

    /// A deliberate error in our TCP: it waits a second before it sends again what was lost, in place of
    /// 200 ms (RFC 6298 rule 2.4; Linux waits 200 ms).
    #[test]
    fn a_wrong_timeout_is_found_and_explained() {
        let (right, wrong) = (runs("rto-min=200ms"), runs("rto-min=1s"));
        let plan = built_in("bulk", &["protocol=tcp", "congestion=cubic"]);
        let results = |runs: &[Captured]| -> Vec<RunResult> {
            runs.iter().map(|captured| captured.result.clone()).collect()
        };
        let found = agreement::compare_cell(
            &plan,
            0,
            [results(&right), results(&wrong)],
            (&[], agreement::CONFIDENCE),
        );
        assert_eq!(found[0].verdict, AgreementVerdict::Different, "{found:?}");
        assert!(found[0].ratio > 1.05, "{found:?}");

        let run = agreement::most_different(&results(&right), &results(&wrong), &[]).unwrap();
        let [right, wrong] = [&right, &wrong].map(|runs| &runs[run as usize].sent);
        let [early, late] = first_late(right, wrong).expect("they send at different times");
        // The first packet at another time is one that was lost before, three quarters of a second later.
        assert_eq!(early.content, late.content);
        let was_lost = |sent: &&Sent| {
            sent.lost.is_some() && sent.direction == early.direction && sent.at < early.at
        };
        let lost: Vec<&Sent> = right.iter().filter(was_lost).collect();
        let number = |sent: &Sent| sent.content.tcp.map(|tcp| tcp.sequence);
        assert!(lost.iter().any(|sent| number(sent) == number(&early)), "{early:?} {lost:?}");
        assert!((late.at - early.at).as_millis() > 500, "{early:?} {late:?}");
    }

    #[test]
    fn equal_runs_do_not_part() {
        let [one, other] = [runs("rto-min=200ms"), runs("rto-min=200ms")];
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(divergence(&one.sent, &other.sent), None);
            assert_eq!(first_late(&one.sent, &other.sent), None);
            for direction in [Direction::Forward, Direction::Backward] {
                assert!(one.sent.iter().any(|sent| sent.direction == direction));
                // The first connection's ends have ten packets to begin with (RFC 6928).
                let first = one.windows.iter().find(|window| window.direction == direction);
                assert_eq!(first.map(|window| window.bytes), Some(10 * 1_448));
            }
        }
    }
}
