//! Output that is written during the session.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};
use trackbed_inference::clock::monotonic_nanos;
use trackbed_inference::detection::{Detection, DetectionWriter, Form};
use trackbed_inference::detector::Frame;

use super::arguments::Arguments;
use super::summary::{About, Ended};
use crate::output;

/// Writes events to standard output and detections to a file, as requested.
pub(super) struct Outlet {
    events: bool,
    detections: Option<DetectionWriter<BufWriter<File>>>,
    classes: Vec<u32>,
}

impl Outlet {
    pub(super) fn open(arguments: &Arguments) -> anyhow::Result<Outlet> {
        let detections = arguments.detections.as_deref().map(create).transpose()?;
        Ok(Outlet { events: arguments.events, detections, classes: arguments.classes.clone() })
    }

    pub(super) fn begin(&mut self, about: &About) -> anyhow::Result<()> {
        let ready = || {
            json!({
                "event": "ready", "monotonic_ns": monotonic_nanos(), "process": about.process,
                "about": about.document(),
            })
        };
        self.event(ready)
    }

    fn event(&self, event: impl FnOnce() -> Value) -> anyhow::Result<()> {
        if self.events { output::stream(&format!("{}\n", event())) } else { Ok(()) }
    }

    pub(super) fn frame(&mut self, frame: &Frame, found: &[Detection]) -> anyhow::Result<()> {
        self.event(|| {
            let stages = frame.stages.map(|stages| {
                json!({
                    "load_ns": stages.load_ns, "pre_ns": stages.pre_ns,
                    "inference_ns": stages.inference_ns, "post_ns": stages.post_ns,
                })
            });
            json!({
                "event": "frame", "frame": frame.number, "begin_ns": frame.begin_ns,
                "end_ns": frame.end_ns, "stages": stages, "detections": frame.detections,
            })
        })?;
        if let Some(writer) = &mut self.detections {
            let wanted = |detection: &&Detection| {
                self.classes.is_empty() || self.classes.contains(&detection.class)
            };
            let wanted: Vec<Detection> = found.iter().filter(wanted).copied().collect();
            writer.write(frame.number, &wanted).context("cannot write --detections")?;
        }
        Ok(())
    }

    pub(super) fn end(self, ended: Ended) -> anyhow::Result<()> {
        self.event(|| {
            json!({
                "event": "end", "monotonic_ns": monotonic_nanos(), "reason": ended.name(),
            })
        })?;
        match self.detections {
            Some(writer) => writer.finish().context("cannot write --detections"),
            None => Ok(()),
        }
    }
}

fn create(path: &Path) -> anyhow::Result<DetectionWriter<BufWriter<File>>> {
    let json = path.extension().is_some_and(|extension| {
        ["ndjson", "jsonl", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    });
    let form = if json { Form::Ndjson } else { Form::Mot };
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(DetectionWriter::new(form, BufWriter::new(file)))
}
