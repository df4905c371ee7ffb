//! The files that `link` writes while it runs.

use std::fs::File;

use anyhow::Context as _;
use trackbed_core::{Packet, Time};
use trackbed_emulator::Clock;
use trackbed_net::{Direction, LinkId, Point, Tap};

use super::arguments::Arguments;
use super::capture::Capture;
use super::log::PacketLog;
use crate::output::tell;

/// The requested log and captures. Clones write to the same files.
#[derive(Clone)]
pub struct Records {
    log: Option<PacketLog>,
    capture: Option<Capture>,
}

impl Records {
    pub fn begin(arguments: &Arguments, clock: Clock) -> anyhow::Result<Records> {
        let epoch = clock.calendar().epoch();
        let words: Vec<String> = std::env::args().skip(2).collect();
        let title = words.join(" ");
        let log = arguments.log.as_ref().map(|path| {
            let file = File::create(path)
                .with_context(|| format!("cannot write the log {}", path.display()))?;
            anyhow::Ok(PacketLog::begin(file, &title, epoch))
        });
        let capture = arguments.pcap.as_ref().map(|directory| {
            Capture::begin(directory, &format!("trackbed link {title}"), epoch)
                .with_context(|| format!("cannot write captures to {}", directory.display()))
        });
        Ok(Records { log: log.transpose()?, capture: capture.transpose()? })
    }

    pub fn tap(&self) -> Option<Box<dyn Tap>> {
        let is_wanted = self.log.is_some() || self.capture.is_some();
        is_wanted.then(|| Box::new(self.clone()) as Box<dyn Tap>)
    }

    pub fn finish(&self) -> anyhow::Result<()> {
        if let Some(log) = &self.log {
            log.finish().context("cannot write the log")?;
        }
        if let Some(capture) = &self.capture {
            let files = capture.finish().context("cannot write the captures")?;
            files.iter().for_each(|file| tell(format_args!("captured: {}", file.display())));
        }
        Ok(())
    }
}

impl Tap for Records {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        if let Some(log) = &mut self.log {
            log.see(at, link, direction, point, packet);
        }
        if let Some(capture) = &mut self.capture {
            capture.see(at, link, direction, point, packet);
        }
    }
}
