//! Properties of this machine that affect results, and a process's resource usage.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use trackbed_linux::processes::resident_max;
use trackbed_linux::reaping::Usage;

/// The kernel and its settings, by name, and which work of interfaces the hosts do.
pub(crate) fn environment(offloads: &str) -> BTreeMap<String, String> {
    let system = rustix::system::uname();
    let mut found = BTreeMap::from([
        ("kernel".to_owned(), text(system.release())),
        ("architecture".to_owned(), text(system.machine())),
        ("cores".to_owned(), thread::available_parallelism().map_or(0, usize::from).to_string()),
        ("offloads".to_owned(), offloads.to_owned()),
    ]);
    for name in SYSCTLS.split(' ') {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        if let Ok(value) = fs::read_to_string(path) {
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            found.insert((*name).to_owned(), value);
        }
    }
    if let Ok(cpu) = fs::read_to_string("/proc/cpuinfo") {
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        if let Some((_, model)) = model {
            found.insert("processor".to_owned(), model.trim().to_owned());
        }
    }
    found
}

/// Resource usage of this process so far.
pub(crate) fn usage() -> Usage {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let processor = Duration::try_from(time).unwrap_or_default();
    Usage { processor, memory_bytes: resident_max(std::process::id()).unwrap_or(0) }
}

fn text(text: &std::ffi::CStr) -> String {
    text.to_string_lossy().into_owned()
}

/// The settings that determine the behaviour of the kernel's TCP.
const SYSCTLS: &str = "net.core.rmem_max net.core.wmem_max net.ipv4.tcp_allowed_congestion_control \
                       net.ipv4.tcp_congestion_control net.ipv4.tcp_early_retrans net.ipv4.tcp_ecn \
                       net.ipv4.tcp_min_rtt_wlen net.ipv4.tcp_notsent_lowat net.ipv4.tcp_recovery \
                       net.ipv4.tcp_rmem net.ipv4.tcp_sack net.ipv4.tcp_slow_start_after_idle \
                       net.ipv4.tcp_timestamps net.ipv4.tcp_window_scaling net.ipv4.tcp_wmem";
