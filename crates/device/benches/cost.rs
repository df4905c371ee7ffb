//! The cost of a reading of this machine: processor time, with and without a role of one process.

use std::path::Path;

use rustix::time::{ClockId, clock_gettime};
use trackbed_device::monitor::{Sampler, Units};

const READINGS: u64 = 200;

fn main() {
    for roles in [false, true] {
        let mut sampler = Sampler::new(Path::new("/"), Units::of_this_machine());
        if roles {
            sampler.add("self", std::process::id());
        }
        let begin = nanos(ClockId::ProcessCPUTime);
        for _ in 0..READINGS {
            sampler.sample(nanos(ClockId::Monotonic));
        }
        let micros = (nanos(ClockId::ProcessCPUTime) - begin) / READINGS / 1_000;
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_process = |name: &std::ffi::OsStr| name.to_string_lossy().parse::<u32>().is_ok();
        let processes = processes.filter(|entry| is_process(&entry.file_name())).count();
        println!("roles: {roles}, {micros} us of processor time a reading, {processes} processes");
    }
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
