//! The files that `link` writes while it runs.

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
pub struct Records(Arc<Mutex<(Option<PacketLog>, Option<Capture>)>>);

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
        Ok(Records(Arc::new(Mutex::new((log.transpose()?, capture.transpose()?)))))
    }

    fn lock(&self) -> MutexGuard<'_, (Option<PacketLog>, Option<Capture>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tap(&self) -> Option<Box<dyn Tap>> {
        let is_unwanted = matches!(*self.lock(), (None, None));
        (!is_unwanted).then(|| Box::new(self.clone()) as Box<dyn Tap>)
    }

    pub fn finish(&self) -> anyhow::Result<()> {
        let (log, capture) = &mut *self.lock();
        log.as_mut().map_or(Ok(()), PacketLog::finish).context("cannot write the log")?;
        if let Some(capture) = capture {
            let files = capture.finish().context("cannot write the captures")?;
            files.iter().for_each(|file| tell(format_args!("captured: {}", file.display())));
        }
        Ok(())
    }
}

impl Tap for Records {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let (log, capture) = &mut *self.lock();
        let log = log.iter_mut().map(|log| log as &mut dyn Tap);
        for tap in log.chain(capture.iter_mut().map(|capture| capture as &mut dyn Tap)) {
            tap.see(at, link, direction, point, packet);
        }
    }
}
