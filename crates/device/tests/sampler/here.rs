//! This machine.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use trackbed_device::monitor::{Monitor, Sampler, Units};

/// A process that only computes.
struct Worker(Child);

impl Worker {
    /// One that has started: right after spawning, a process has no memory yet.
    fn new() -> Worker {
        let script = "echo begun; while :; do :; done";
        let mut command = Command::new("sh");
        let mut worker = command.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 6];
        worker.stdout.take().unwrap().read_exact(&mut said).unwrap();
        Worker(worker)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[test]
fn a_process_that_works_is_seen_to_work() {
    let worker = Worker::new();
    let mut sampler = Sampler::new(Path::new("/"), Units::of_this_machine());
    sampler.add("worker", worker.0.id());
    let begin = now();
    let first = sampler.sample(begin);
    assert_eq!(first.roles[0].processes, 1);
    assert!(first.roles[0].memory_bytes.is_some_and(|bytes| bytes > 10_000), "{first:?}");
    assert!(first.machine.cores.is_some_and(|cores| cores > 0));
    assert!(first.machine.memory_total_bytes > first.machine.memory_used_bytes);
    // One thread cannot use more than the elapsed time; ticks are at most 10 ms.
    loop {
        let role = sampler.sample(now()).roles.remove(0);
        let passed = (now() - begin) as f64 / 1e9;
        assert!(role.cpu_seconds <= passed + 0.02, "{role:?} in {passed} s");
        if role.cpu_seconds > 0.1 {
            break;
        }
        assert!(passed < 120.0, "it does not work: {role:?}");
    }
}

#[test]
fn a_monitor_reads_again_and_again_until_it_is_dropped() {
    let worker = Worker::new();
    let (readings, inbox) = channel();
    let take = move |reading| {
        let _ = readings.send(reading);
    };
    let roles = [("worker", worker.0.id())];
    let monitor = Monitor::start(Duration::from_millis(20), &roles, take).unwrap();
    let wait = || inbox.recv_timeout(Duration::from_secs(60)).unwrap();
    let mut last = wait();
    while !last.roles.iter().any(|role| role.cpu_seconds > 0.0) {
        let next = wait();
        assert!(next.at_ns > last.at_ns);
        last = next;
    }
    drop(monitor);
    // The thread has ended and dropped the other end.
    while inbox.try_recv().is_ok() {}
    assert_eq!(inbox.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
    assert!(Monitor::start(Duration::ZERO, &[], |_| {}).is_err());
}
