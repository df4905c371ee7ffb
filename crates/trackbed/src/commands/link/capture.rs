//! Captures of both ends of a link, and of dropped packets.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use trackbed_core::{Packet, Time};
use trackbed_measure::pcapng::{PcapngWriter, Section, TapId, TapPoint};
use trackbed_net::{Direction, LinkId, Point, Tap};
use trackbed_outward::files::create;

/// Writes `inside.pcapng`, `outside.pcapng` and `dropped.pcapng`.
#[derive(Debug)]
pub struct Capture {
    inside: Writer,
    outside: Writer,
    dropped: Writer,
    last: Time,
    error: Option<io::Error>,
}

#[derive(Debug)]
struct Writer {
    pcapng: Option<PcapngWriter<BufWriter<File>>>,
    tap: TapId,
    path: PathBuf,
}

impl Capture {
    /// Creates the files in `directory`, and the directory if it does not exist; files of an earlier capture
    /// are replaced. `epoch` is the time of day at [`Time::ZERO`], since 1970-01-01T00:00:00Z.
    pub fn begin(directory: &Path, command: &str, epoch: Duration) -> io::Result<Capture> {
        fs::create_dir_all(directory)?;
        let section = Section {
            hardware: String::new(),
            os: "Linux".to_owned(),
            command_line: command.to_owned(),
            epoch,
        };
        let writer = |name: &str, description: &str| {
            let path = directory.join(format!("{name}.pcapng"));
            let mut pcapng = PcapngWriter::new(BufWriter::new(create(&path)?), &section)?;
            let (name, description) = (name.to_owned(), description.to_owned());
            let tap = pcapng.add_tap(&TapPoint { name, description, snap_len: 0 })?;
            Ok::<_, io::Error>(Writer { pcapng: Some(pcapng), tap, path })
        };
        Ok(Capture {
            inside: writer("inside", "the inner end of the link")?,
            outside: writer("outside", "the outer end of the link")?,
            dropped: writer("dropped", "packets that the link dropped")?,
            last: Time::ZERO,
            error: None,
        })
    }

    /// Completes the files and returns their paths.
    pub fn finish(&mut self) -> io::Result<Vec<PathBuf>> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut paths = Vec::new();
        for writer in [&mut self.inside, &mut self.outside, &mut self.dropped] {
            if let Some(pcapng) = writer.pcapng.take() {
                pcapng.finish(self.last)?.flush()?;
            }
            paths.push(writer.path.clone());
        }
        Ok(paths)
    }
}

impl Tap for Capture {
    fn see(&mut self, at: Time, _: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let (writer, comment) = match (point, direction) {
            (Point::Entered, Direction::Forward) | (Point::Delivered, Direction::Backward) => {
                (&mut self.inside, "")
            }
            (Point::Entered, Direction::Backward) | (Point::Delivered, Direction::Forward) => {
                (&mut self.outside, "")
            }
            (Point::Dropped(why), _) => (&mut self.dropped, why.name()),
            (Point::Altered(_), _) => return,
        };
        // Packets still in flight after the end are not captured.
        let Some(pcapng) = &mut writer.pcapng else { return };
        if let Err(why) = pcapng.packet(at, writer.tap, packet, comment) {
            self.error.get_or_insert(why);
        }
        self.last = self.last.max(at);
    }
}
