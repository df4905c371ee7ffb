//! The loop over frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::bail;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trackbed_core::time::nanos;
use trackbed_inference::clock::monotonic_nanos;
use trackbed_inference::detection::Detection;
use trackbed_inference::detector::{Detector, Frame};
use trackbed_inference::program::{Program, Step};
use trackbed_inference::timing::{FRAMES_MAX, Timing};

use super::arguments::Arguments;
use super::outlet::Outlet;
use super::summary::Ended;
use super::usage::{Sums, Watch};
use crate::interrupt;

/// The detector or the program.
pub(super) enum Worker {
    Detector(Box<Detector>),
    Program(Program),
}

/// A measurement of frames.
pub(super) struct Session {
    worker: Worker,
    duration: Duration,
    warm_up: Duration,
    once: bool,
    timing: Timing,
    process: u32,
    watch: Option<Watch>,
    stop: Arc<AtomicBool>,
    progress: ProgressBar,
}

impl Session {
    /// Creates a session; signals are handled from now on.
    pub(super) fn new(
        worker: Worker,
        arguments: &Arguments,
        process: u32,
    ) -> anyhow::Result<Session> {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        interrupt::on_stop(move || asked.store(true, Ordering::Relaxed))?;
        Ok(Session {
            worker,
            duration: arguments.duration,
            warm_up: arguments.warm_up,
            once: arguments.once,
            timing: Timing::new(0),
            process,
            watch: None,
            stop,
            progress: progress(arguments.duration),
        })
    }

    pub(super) fn run(&mut self, outlet: &mut Outlet) -> anyhow::Result<Ended> {
        let Some(begin) = self.begin()? else { return Ok(Ended::Interrupted) };
        let from = begin.saturating_add(nanos(self.warm_up));
        self.timing = Timing::new(from);
        self.watch = Some(Watch::start(self.process, from)?);
        let end = begin.saturating_add(nanos(self.duration));
        let ended = loop {
            let now = monotonic_nanos();
            if self.stop.load(Ordering::Relaxed) {
                break Ended::Interrupted;
            }
            if now >= end {
                break Ended::Duration;
            }
            let left = Duration::from_nanos(end - now);
            let found = match &mut self.worker {
                Worker::Detector(detector) => detector.step(!self.once)?,
                // In short steps, so that signals are noticed.
                Worker::Program(program) => match program.step(left.min(PERIOD))? {
                    Step::Nothing => continue,
                    Step::Frame(frame) => Some((frame, Vec::new())),
                    Step::End => None,
                },
            };
            let Some((frame, found)) = found else { break Ended::Frames };
            if !self.take(outlet, begin, frame, &found)? {
                crate::output::tell(format_args!(
                    "note: stopped after {FRAMES_MAX} frames, the most that are stored"
                ));
                break Ended::Full;
            }
        };
        self.progress.finish_and_clear();
        Ok(ended)
    }

    pub(super) fn finish(self) -> (Timing, Sums) {
        (self.timing, self.watch.map(Watch::finish).unwrap_or_default())
    }

    /// When the session begins: now, or when a program reports that it is ready. `None` if a signal arrived
    /// before that.
    fn begin(&mut self) -> anyhow::Result<Option<u64>> {
        let Worker::Program(program) = &mut self.worker else {
            return Ok(Some(monotonic_nanos()));
        };
        let limit = monotonic_nanos().saturating_add(nanos(READY_MAX));
        while !self.stop.load(Ordering::Relaxed) {
            if let Some(begin) = program.wait_until_ready(PERIOD)? {
                return Ok(Some(begin));
            }
            if monotonic_nanos() > limit {
                bail!(
                    "the program has not printed a line for {} minutes; it must print one for each \
                     frame, without buffering (`stdbuf -oL`, or `python -u`)",
                    READY_MAX.as_secs() / 60
                );
            }
        }
        Ok(None)
    }

    fn take(
        &mut self,
        outlet: &mut Outlet,
        begin: u64,
        frame: Frame,
        found: &[Detection],
    ) -> anyhow::Result<bool> {
        outlet.frame(&frame, found)?;
        let gone = frame.end_ns.saturating_sub(begin);
        self.progress.set_position(gone / 1_000_000);
        let millis = frame.end_ns.saturating_sub(frame.begin_ns) as f64 / 1e6;
        self.progress.set_message(format!("frame {}, {millis:.0} ms", frame.number));
        Ok(self.timing.add(frame))
    }
}

fn progress(duration: Duration) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(5);
    let total = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(total), target);
    if bar.is_hidden() {
        return bar;
    }
    let style = ProgressStyle::with_template("{bar:30} {msg}").expect("the template is valid");
    bar.with_style(style)
}

const PERIOD: Duration = Duration::from_millis(100);
/// Long enough for a TensorRT pipeline that builds its engine first.
const READY_MAX: Duration = Duration::from_secs(600);
