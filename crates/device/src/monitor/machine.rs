//! The machine as a whole: `/proc/stat` and `/proc/meminfo` (proc(5)).

use std::path::Path;

use crate::monitor::files;

/// Processor time of all cores since the machine started, in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessorTime {
    pub(crate) cores: u32,
    busy: u64,
    idle: u64,
    stolen: u64,
}

/// Shares of the time between two readings, in percent of one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    pub(crate) busy: f64,
    pub(crate) stolen: f64,
}

impl ProcessorTime {
    pub(crate) fn read(root: &Path) -> Option<ProcessorTime> {
        ProcessorTime::parse(&files::text(&root.join("proc/stat"))?)
    }

    fn parse(stat: &str) -> Option<ProcessorTime> {
        let mut lines = stat.lines();
        let all: Vec<u64> = lines
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map(|ticks| ticks.parse().ok())
            .collect::<Option<_>>()?;
        let cores = lines.take_while(|line| line.starts_with("cpu")).count();
        // user nice system idle iowait irq softirq steal; guests' time is included in user and
        // nice.
        let ticks = |place: usize| all.get(place).copied().unwrap_or(0);
        if all.len() < 4 {
            return None;
        }
        Some(ProcessorTime {
            cores: u32::try_from(cores).ok()?.max(1),
            busy: ticks(0) + ticks(1) + ticks(2) + ticks(5) + ticks(6),
            idle: ticks(3) + ticks(4),
            stolen: ticks(7),
        })
    }

    /// The shares since `before`; `None` if no time has passed. Counters of idle time may go
    /// backwards a little (proc(5) on iowait), and a core that goes offline takes its counters
    /// away.
    pub(crate) fn since(&self, before: &ProcessorTime) -> Option<Shares> {
        let busy = self.busy.saturating_sub(before.busy) as f64;
        let stolen = self.stolen.saturating_sub(before.stolen) as f64;
        let all = busy + stolen + self.idle.saturating_sub(before.idle) as f64;
        let percent = 100.0 * f64::from(self.cores) / all;
        (all > 0.0).then_some(Shares { busy: busy * percent, stolen: stolen * percent })
    }
}

/// Bytes in use and in total.
pub(crate) fn memory(root: &Path) -> (Option<u64>, Option<u64>) {
    let Some(text) = files::text(&root.join("proc/meminfo")) else { return (None, None) };
    let total = files::bytes_of(&text, "MemTotal:");
    let available = files::bytes_of(&text, "MemAvailable:");
    (total.zip(available).map(|(all, free)| all.saturating_sub(free)), total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_full_cores_are_400_percent() {
        let parse = |text: &str| ProcessorTime::parse(text).unwrap();
        let cores = "\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1\nintr 5";
        let before = parse(&format!("cpu  100 0 50 1000 10 0 0 5 0 0{cores}"));
        let idle = parse(&format!("cpu  100 0 50 1400 10 0 0 5 0 0{cores}"));
        assert_eq!(before.cores, 4);
        assert_eq!(idle.since(&before), Some(Shares { busy: 0.0, stolen: 0.0 }));
        let full = parse(&format!("cpu  300 100 100 1000 10 25 25 5 0 0{cores}"));
        assert_eq!(full.since(&before), Some(Shares { busy: 400.0, stolen: 0.0 }));
        // A quarter each: busy, stolen, idle, waiting for a disk.
        let mixed = parse(&format!("cpu  200 0 50 1100 110 0 0 105 0 0{cores}"));
        assert_eq!(mixed.since(&before), Some(Shares { busy: 100.0, stolen: 100.0 }));
    }

    #[test]
    fn counters_that_go_backwards_or_stand_still_give_no_nonsense() {
        let before = ProcessorTime { cores: 2, busy: 100, idle: 1000, stolen: 9 };
        assert_eq!(before.since(&before), None);
        let odd = ProcessorTime { cores: 2, busy: 150, idle: 990, stolen: 0 };
        assert_eq!(odd.since(&before), Some(Shares { busy: 200.0, stolen: 0.0 }));
    }

    #[test]
    fn old_kernels_have_fewer_columns() {
        let time = ProcessorTime::parse("cpu 1 2 3 4\nctxt 1").unwrap();
        assert_eq!(time, ProcessorTime { cores: 1, busy: 6, idle: 4, stolen: 0 });
        assert_eq!(ProcessorTime::parse("cpu 1 2 x 4"), None);
        assert_eq!(ProcessorTime::parse(""), None);
    }
}
