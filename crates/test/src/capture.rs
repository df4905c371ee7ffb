//! The packets of a run, kept in memory and written when it fails.

use std::collections::VecDeque;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trackbed_core::{Packet, Time};
use trackbed_measure::keylog::KeyLog;
use trackbed_measure::pcapng::{PcapngWriter, Section, TapId, TapPoint};
use trackbed_net::{Direction, LinkId, Point, Tap};
use trackbed_outward::files::create;
use trackbed_substrate::wall_clock;

use crate::end::End;

/// The last packets of a run. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Recording(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    packets: VecDeque<Seen>,
    bytes: usize,
    forgotten: u64,
}

struct Seen {
    at: Time,
    /// The number of the end, two for each link.
    end: usize,
    point: Point,
    packet: Packet,
}

impl Recording {
    /// Writes the packets to a file in `folder`.
    pub(crate) fn write(
        &self,
        folder: &Path,
        seed: u64,
        ends: &[End],
        secrets: &KeyLog,
    ) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}-seed-{seed}.pcapng", name_of_test()));
        let kept = self.lock();
        let forgotten = kept.forgotten;
        let section = Section {
            hardware: "virtual".to_owned(),
            os: String::new(),
            command_line: format!("seed {seed}; {forgotten} earlier packets are not included"),
            epoch: wall_clock(),
        };
        let mut file = PcapngWriter::new(BufWriter::new(create(&path)?), &section)?;
        let taps: Vec<TapId> = ends
            .iter()
            .map(|end| {
                file.add_tap(&TapPoint { name: end.name().to_owned(), ..TapPoint::default() })
            })
            .collect::<io::Result<_>>()?;
        file.follow_keys(secrets);
        for Seen { at, end, point, packet } in &kept.packets {
            match point {
                Point::Dropped(why) => file.dropped(*at, taps[*end], packet, why.name())?,
                _ => file.packet(*at, taps[*end], packet, "")?,
            }
        }
        let end = kept.packets.back().map_or(Time::ZERO, |last| last.at);
        file.finish(end)?;
        Ok(path)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Recording {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let near = 2 * link.index() + usize::from(direction == Direction::Backward);
        let end = match point {
            Point::Entered | Point::Dropped(_) => near,
            Point::Delivered => near ^ 1,
            Point::Altered(_) => return,
        };
        let mut kept = self.lock();
        kept.bytes += packet.len() + OVERHEAD;
        kept.packets.push_back(Seen { at, end, point, packet: packet.clone() });
        while kept.bytes > BYTES_MAX {
            let Some(oldest) = kept.packets.pop_front() else { break };
            kept.bytes -= oldest.packet.len() + OVERHEAD;
            kept.forgotten += 1;
        }
    }
}

/// The folder `trackbed-test` beside the build's `deps`, or in the folder of temporary files.
pub(crate) fn default_folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().filter(|folder| folder.ends_with("deps"));
    let folder = folder.and_then(Path::parent).map_or_else(std::env::temp_dir, Path::to_owned);
    folder.join("trackbed-test")
}

/// The test program, and the test's name, which its thread has.
fn name_of_test() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let thread = std::thread::current();
    let name = format!("{program}-{}", thread.name().unwrap_or("unnamed"));
    name.replace("::", "-").replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-")
}

/// Each packet counts at every point where it was seen.
const BYTES_MAX: usize = 32 << 20;

/// About how much the memory and the file need besides the packet's bytes.
const OVERHEAD: usize = 100;
