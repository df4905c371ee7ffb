//! Measured durations of frames, as text.
//!
//! ```text
//! trackbed-durations 1
//! # whatever is worth knowing about the measurement
//! threads 2
//! frame 4410233 101734055
//! frame 4398120 99872314
//! ```
//!
//! The first line is the format's name and version. `threads` is the number of threads that share
//! the parallel part of each frame. Then a line for each frame, in order: nanoseconds of its serial
//! part, done by one thread (loading, preparing, finding boxes), and of its parallel part (the
//! model), both measured on an otherwise idle machine. Empty lines and those that begin with `#`
//! are ignored.

use std::fmt;
use std::time::Duration;

use trackbed_core::text::TextError;

use crate::processor::{error, number, words};

/// The frames of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durations {
    /// Threads that share the parallel part of each frame, from 1 to [`THREADS_MAX`].
    pub threads: u32,
    /// At least one, in the order of measurement.
    pub frames: Vec<FrameTime>,
}

/// The duration of a frame without competition for the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTime {
    /// On one thread, in nanoseconds.
    pub serial_ns: u64,
    /// On all threads at the same time, in nanoseconds.
    pub parallel_ns: u64,
}

/// The maximum number of threads for a frame.
pub const THREADS_MAX: u32 = 1024;
/// The maximum number of frames in a measurement.
pub const FRAMES_MAX: usize = 1_000_000;
/// The maximum duration of a frame's part: an hour, in nanoseconds.
pub const PART_MAX_NS: u64 = 3_600_000_000_000;

impl Durations {
    /// Parses a text.
    ///
    /// # Errors
    /// At the first malformed line.
    pub fn parse(text: &str) -> Result<Durations, TextError> {
        let (mut threads, mut frames) = (None, Vec::new());
        for (line, words) in words(text, MAGIC)? {
            let refuse = |why| error(line, why);
            match words.as_slice() {
                ["threads", count] if threads.is_none() && frames.is_empty() => {
                    let count = number(count, 1..=THREADS_MAX.into(), "number of threads");
                    threads = Some(count.map_err(refuse)? as u32);
                }
                ["frame", serial, parallel] if frames.len() < FRAMES_MAX => {
                    frames.push(FrameTime::read(serial, parallel).map_err(refuse)?);
                }
                ["frame", _, _] => {
                    return Err(error(line, format!("there are more than {FRAMES_MAX} frames")));
                }
                _ => {
                    let known = "write \"threads N\" once, and then \"frame SERIAL PARALLEL\" with \
                                 nanoseconds for each frame";
                    return Err(error(line, known));
                }
            }
        }
        let last = text.lines().count() as u64;
        let threads = threads.ok_or_else(|| error(last, "\"threads N\" is missing"))?;
        if frames.is_empty() {
            return Err(error(last, "there is no frame line; add one"));
        }
        Ok(Durations { threads, frames })
    }

    /// The same frames with another number of threads for the parallel part, which is the same
    /// total work: with twice as many, each does half as much.
    #[must_use]
    pub fn with_threads(self, threads: u32) -> Durations {
        let (before, threads) = (self.threads, threads.clamp(1, THREADS_MAX));
        let share = |nanos: u64| {
            let all = u128::from(nanos) * u128::from(before);
            u64::try_from(all.div_ceil(u128::from(threads))).unwrap_or(u64::MAX)
        };
        let of = |frame: FrameTime| FrameTime { parallel_ns: share(frame.parallel_ns), ..frame };
        Durations { threads, frames: self.frames.into_iter().map(of).collect() }
    }

    /// The mean duration of a frame without competition for the cores.
    pub fn mean(&self) -> Duration {
        let length =
            |frame: &FrameTime| u128::from(frame.serial_ns) + u128::from(frame.parallel_ns);
        let sum: u128 = self.frames.iter().map(length).sum();
        let mean = sum / (self.frames.len() as u128).max(1);
        Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
    }
}

impl FrameTime {
    fn read(serial: &str, parallel: &str) -> Result<FrameTime, String> {
        let part = |text: &str| number(text, 0..=PART_MAX_NS, "number of nanoseconds");
        let frame = FrameTime { serial_ns: part(serial)?, parallel_ns: part(parallel)? };
        if frame.serial_ns + frame.parallel_ns == 0 {
            return Err("a frame must take more than zero nanoseconds".to_owned());
        }
        Ok(frame)
    }
}

/// As [`Durations::parse`] reads it.
impl fmt::Display for Durations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{MAGIC}\nthreads {}", self.threads)?;
        for FrameTime { serial_ns, parallel_ns } in &self.frames {
            writeln!(f, "frame {serial_ns} {parallel_ns}")?;
        }
        Ok(())
    }
}

const MAGIC: &str = "trackbed-durations 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let frame = |serial_ns, parallel_ns| FrameTime { serial_ns, parallel_ns };
        let durations = Durations { threads: 4, frames: vec![frame(1, 2), frame(0, 3_000_000)] };
        assert_eq!(Durations::parse(&durations.to_string()), Ok(durations));
        let text = "trackbed-durations 1\n\n# a remark\n threads 1 \nframe\t5 0\n";
        let durations = Durations { threads: 1, frames: vec![frame(5, 0)] };
        assert_eq!(Durations::parse(text), Ok(durations));
    }

    #[test]
    fn other_threads_share_the_same_work() {
        let frame = |serial_ns, parallel_ns| FrameTime { serial_ns, parallel_ns };
        let measured = Durations { threads: 2, frames: vec![frame(5, 90), frame(7, 30)] };
        assert_eq!(measured.mean(), Duration::from_nanos(66));
        let three = measured.clone().with_threads(3);
        assert_eq!(three, Durations { threads: 3, frames: vec![frame(5, 60), frame(7, 20)] });
        assert_eq!(measured.clone().with_threads(2), measured);
        assert_eq!(measured.with_threads(1).frames, [frame(5, 180), frame(7, 60)]);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let why = |text: &str| Durations::parse(text).unwrap_err().to_string();
        assert!(why("").starts_with("line 1: "));
        assert!(why("trackbed-durations 2\nthreads 1").starts_with("line 1: "));
        for row in include_str!("durations-mistakes.txt").lines() {
            let (rest, line) = row.split_once(" | ").unwrap();
            let rest = rest.replace("\\n", "\n");
            let why = why(&format!("{MAGIC}\n{rest}"));
            assert!(why.starts_with(&format!("line {line}: ")), "{why}");
        }
    }
}
