//! How long what was due had to wait for the thread of a run.

use std::fs;
use std::time::Duration;

use trackbed_core::Time;

/// How long work of a run waited although it could be done: the machine did not keep up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// The waits of tasks that were ready, for others of the run, all added up: two that wait for a
    /// millisecond make two. The kernel does not tell when a socket became ready. In the mean it is
    /// half of the time since the run last looked.
    pub tasks: Duration,
    /// How long the thread waited for a processor.
    pub thread: Duration,
    /// How often a task ran.
    pub served: u64,
}

/// Measures the waits of tasks.
#[derive(Debug)]
pub(super) struct Watch {
    tasks: Duration,
    served: u64,
    /// When the run last looked for events.
    looked: Time,
}

impl Watch {
    pub fn begin(now: Time) -> Watch {
        Watch { tasks: Duration::ZERO, served: 0, looked: now }
    }

    /// The thread has found events, from `began` to `now`. If the kernel had them at once, they came
    /// while tasks ran.
    pub fn found(&mut self, began: Time, now: Time, events: u64) {
        if now.since(began) < AT_ONCE {
            let events = u32::try_from(events).unwrap_or(u32::MAX);
            self.tasks += began.since(self.looked).saturating_mul(events) / 2;
        }
        self.looked = now;
    }

    /// The first timer that is due is this late.
    pub fn timer(&mut self, late: Duration) {
        self.tasks += late;
    }

    /// A task runs that has been ready for this long.
    pub fn task(&mut self, waited: Duration) {
        self.tasks += waited;
        self.served += 1;
    }

    pub fn waiting(&self) -> Waiting {
        Waiting { tasks: self.tasks, thread: thread_waited(), served: self.served }
    }
}

/// How long the calling thread was ready to run while others had the processors; zero where the
/// kernel does not tell (the second field of schedstat, Documentation/scheduler/sched-stats.rst).
fn thread_waited() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_ascii_whitespace().nth(1).and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// The longest time that a look takes if there is something to find.
const AT_ONCE: Duration = Duration::from_micros(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_wait_for_the_tasks_before_them() {
        let at = Time::from_millis;
        let mut watch = Watch::begin(at(0));
        // It waited for the event, not the event for it.
        watch.found(at(1), at(9), 1);
        assert_eq!(watch.tasks, Duration::ZERO);
        // The task took 4 ms, in which three more came: 2 ms each in the mean.
        watch.found(at(13), at(13), 3);
        assert_eq!(watch.tasks, Duration::from_millis(6));
        // Their tasks took 3 ms each.
        for waited in [0, 3, 6] {
            watch.task(Duration::from_millis(waited));
        }
        watch.timer(Duration::from_millis(1));
        assert_eq!(watch.tasks, Duration::from_millis(16));
        assert_eq!(watch.served, 3);
    }
}
