//! The files that `link` writes while it runs.

use std::fs::File;

use anyhow::Context as _;
use trackbed_emulator::Clock;
use trackbed_net::Tap;

use super::arguments::LinkArguments;
use super::capture::Capture;
use super::log::PacketLog;
use super::taps::Taps;
use crate::output::tell;

/// The requested log and captures.
pub struct Records {
    log: Option<PacketLog>,
    capture: Option<Capture>,
}

impl Records {
    pub fn begin(arguments: &LinkArguments, clock: Clock) -> anyhow::Result<Records> {
        let epoch = clock.calendar().epoch();
        let words: Vec<String> = std::env::args().skip(2).collect();
        let title = words.join(" ");
        let log = arguments.log.as_ref().map(|path| {
            let file = File::create(path)
                .with_context(|| format!("cannot write the log {}", path.display()))?;
            anyhow::Ok(PacketLog::begin(Box::new(file), &title, epoch))
        });
        let capture = arguments.pcap.as_ref().map(|directory| {
            Capture::begin(directory, &format!("trackbed link {title}"), epoch)
                .with_context(|| format!("cannot write captures to {}", directory.display()))
        });
        Ok(Records { log: log.transpose()?, capture: capture.transpose()? })
    }

    pub fn tap(&self) -> Option<Box<dyn Tap>> {
        let log = self.log.as_ref().map(PacketLog::tap);
        let capture = self.capture.as_ref().map(Capture::tap);
        let taps: Vec<Box<dyn Tap>> = log.into_iter().chain(capture).collect();
        (!taps.is_empty()).then(|| Box::new(Taps(taps)) as Box<dyn Tap>)
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
