//! Captures of a single run: packets at both ends, TLS secrets, QUIC traces, and page loads.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use trackbed_core::event::Record;
use trackbed_core::{Packet, Time};
use trackbed_measure::keylog::KeyLog;
use trackbed_measure::pcapng::{self, PcapngWriter, Section, TapId, TapPoint};
use trackbed_measure::qlog::QlogSinks;
use trackbed_measure::results::VIRTUAL;
use trackbed_measure::waterfall::{self, Bar};
use trackbed_net::{Direction, LinkId, Point, Tap};
use trackbed_outward::files::{create, create_private, open};
use trackbed_protocols::Observer;
use trackbed_substrate::wall_clock;

use crate::notes::Notes;
use crate::run::Onlooker;
use crate::topology::Track;

/// Captures a run into a directory.
#[derive(Debug)]
pub struct Capture {
    directory: PathBuf,
    command: String,
    bars: Mutex<Vec<Bar>>,
    /// Its traces of QUIC are files of the capture.
    pub(crate) notes: Notes,
    packets: Arc<Mutex<Option<Packets>>>,
}

impl Capture {
    /// Starts captures in `directory`, which is created if needed. `command` is the command line
    /// that repeats them, and `substrate` where they run.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn begin(directory: &Path, (command, substrate): (&str, &str)) -> io::Result<Capture> {
        fs::create_dir_all(directory)?;
        let keys = KeyLog::default();
        let about = (command, substrate);
        let followed = (substrate == VIRTUAL).then_some(&keys);
        let writer =
            |name: &str, what: &str| Writer::begin(directory, (name, what), about, followed);
        let packets = Packets {
            writers: [
                writer("phone", "the phones' end of the shared link")?,
                writer("server", "the server's end of the shared link")?,
                writer("dropped", "packets that the shared link lost")?,
            ],
            last: Time::ZERO,
            error: None,
        };
        Ok(Capture {
            directory: directory.to_owned(),
            command: command.to_owned(),
            bars: Mutex::default(),
            notes: Notes { keys, qlog: Some(QlogSinks::default()), windows: None },
            packets: Arc::new(Mutex::new(Some(packets))),
        })
    }

    /// Completes all files and returns them. Call it after the run.
    ///
    /// # Errors
    /// If a file could not be written, now or during the run.
    pub fn finish(self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        // A failed run may have left its tap behind; its packets from now on are lost.
        let packets = self.packets.lock().unwrap_or_else(PoisonError::into_inner).take();
        let packets = packets.expect("captures are finished once");
        if let Some(error) = packets.error {
            return Err(error);
        }
        for writer in packets.writers {
            files.push(writer.finish(packets.last, &self.notes.keys)?);
        }
        if !self.notes.keys.is_empty() {
            let path = self.directory.join("tls-keys.log");
            self.notes.keys.save(&path)?;
            files.push(path);
        }
        for (name, bytes) in self.notes.qlog.iter().flat_map(QlogSinks::take) {
            let path = self.directory.join(format!("{name}.sqlog"));
            create(&path)?.write_all(&bytes)?;
            files.push(path);
        }
        let bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        files.extend(write_pages(&bars, &self.directory, &self.command)?);
        Ok(files)
    }
}

impl Onlooker for Capture {
    /// Packets of the second link are on another interface in the same files.
    fn tap(&self, track: &Track) -> Box<dyn Tap> {
        let packets = Arc::clone(&self.packets);
        if track.links.len() > 1
            && let Some(packets) = packets.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
        {
            packets.add_second_link();
        }
        Box::new(LinksTap { links: track.links.clone(), stations: track.stations.clone(), packets })
    }

    fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(self.notes.clone())
    }

    fn keep(&self, records: &[Record]) {
        *self.bars.lock().unwrap_or_else(PoisonError::into_inner) = waterfall::bars(records);
    }
}

fn write_pages(bars: &[Bar], directory: &Path, command: &str) -> io::Result<Vec<PathBuf>> {
    if bars.is_empty() {
        return Ok(Vec::new());
    }
    let table = directory.join("waterfall.csv");
    waterfall::write_csv(bars, BufWriter::new(create(&table)?))?;
    let mut files = vec![table];
    let phones: BTreeSet<u32> = bars.iter().map(|bar| bar.phone).collect();
    for &phone in &phones {
        let name = if phones.len() == 1 { "page".to_owned() } else { format!("page-{phone}") };
        let path = directory.join(format!("{name}.har"));
        let archive = waterfall::archive(bars, phone, command);
        create(&path)?.write_all(serde_json::to_string_pretty(&archive)?.as_bytes())?;
        files.push(path);
    }
    Ok(files)
}

/// Write errors are kept and reported at the end: the run must not depend on the disk.
#[derive(Debug)]
struct Packets {
    /// Of the phones' end, of the server's, and of packets that were lost.
    writers: [Writer; 3],
    last: Time,
    error: Option<io::Error>,
}

impl Packets {
    fn add_second_link(&mut self) {
        for writer in &mut self.writers {
            if let Err(error) = writer.add_second_link() {
                self.error.get_or_insert(error);
            }
        }
    }
}

#[derive(Debug)]
struct Writer {
    pcapng: PcapngWriter<BufWriter<File>>,
    name: String,
    taps: Vec<TapId>,
    path: PathBuf,
    /// Whether it writes secrets as they come, before the packets. Otherwise they come at the end.
    follows: bool,
}

impl Writer {
    fn begin(
        directory: &Path,
        (name, description): (&str, &str),
        (command, substrate): (&str, &str),
        keys: Option<&KeyLog>,
    ) -> io::Result<Writer> {
        let path = directory.join(format!("{name}.pcapng"));
        let section = Section {
            hardware: substrate.to_owned(),
            os: String::new(),
            command_line: command.to_owned(),
            // No run is active on this thread: the simulated clock at the start of a run.
            epoch: wall_clock(),
        };
        // Without the seed's keys, the secrets in it are as private as those of any connection.
        let file = if keys.is_some() { create(&path)? } else { create_private(&path)? };
        let mut pcapng = PcapngWriter::new(BufWriter::new(file), &section)?;
        if let Some(keys) = keys {
            pcapng.follow_keys(keys);
        }
        let tap = pcapng.add_tap(&TapPoint {
            name: name.to_owned(),
            description: description.to_owned(),
            snap_len: 0,
        })?;
        Ok(Writer { pcapng, name: name.to_owned(), taps: vec![tap], path, follows: keys.is_some() })
    }

    fn add_second_link(&mut self) -> io::Result<()> {
        let tap = self.pcapng.add_tap(&TapPoint {
            name: format!("{}-second", self.name),
            description: "the same on the second link".to_owned(),
            snap_len: 0,
        })?;
        self.taps.push(tap);
        Ok(())
    }

    /// Completes the file, and returns its path.
    fn finish(self, last: Time, keys: &KeyLog) -> io::Result<PathBuf> {
        self.pcapng.finish(last)?.flush()?;
        if !(self.follows || keys.is_empty()) {
            insert_keys(&self.path, keys)?;
        }
        Ok(self.path)
    }

    fn packet(&mut self, at: Time, link: usize, packet: &Packet) -> io::Result<()> {
        self.pcapng.packet(at, self.taps[link], packet, "")
    }
}

/// Inserts all secrets between the section header of a capture and its packets.
fn insert_keys(path: &Path, keys: &KeyLog) -> io::Result<()> {
    let part = path.with_extension("part");
    let (mut old, mut new) = (open(path)?, create_private(&part)?);
    // Block type and total length (draft-ietf-opsawg-pcapng, section 3.1).
    let mut start = [0; 8];
    old.read_exact(&mut start)?;
    let header = u32::from_ne_bytes([start[4], start[5], start[6], start[7]]);
    new.write_all(&start)?;
    let rest = u64::from(header) - start.len() as u64;
    io::copy(&mut (&mut old).take(rest), &mut new)?;
    new.write_all(&pcapng::secrets(&keys.cursor().take_new()))?;
    io::copy(&mut old, &mut new)?;
    fs::rename(part, path)
}

#[derive(Debug)]
struct LinksTap {
    links: Vec<LinkId>,
    /// [`Track::stations`].
    stations: Vec<LinkId>,
    packets: Arc<Mutex<Option<Packets>>>,
}

impl Tap for LinksTap {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let number = self.links.iter().position(|own| *own == link).or_else(|| {
            // What is lost before a shared link is lost for it.
            let station = self.stations.iter().position(|own| *own == link)?;
            let is_lost = matches!(point, Point::Dropped(_));
            is_lost.then(|| station * self.links.len() / self.stations.len())
        });
        let Some(number) = number else { return };
        let mut packets = self.packets.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(packets) = packets.as_mut() else { return };
        packets.last = at;
        let [phones, server, dropped] = &mut packets.writers;
        let (near, far) = match direction {
            Direction::Forward => (phones, server),
            Direction::Backward => (server, phones),
        };
        let written = match point {
            Point::Entered => near.packet(at, number, packet),
            Point::Delivered => far.packet(at, number, packet),
            Point::Dropped(why) => {
                dropped.pcapng.dropped(at, dropped.taps[number], packet, why.name())
            }
            Point::Altered(_) => Ok(()),
        };
        if let Err(error) = written {
            packets.error.get_or_insert(error);
        }
    }
}
