//! What a machine is looked at for.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, Protocol, SocketType, ipproto};
use rustix::process::{Resource, geteuid, getrlimit};
use trackbed_emulator::namespace::{self, NetNamespace, Privileges};
use trackbed_inference::runtime::{Runtime, Search};
use trackbed_verifier::others::OpenSsl;

use super::Finding;

/// Everything, the substrates first. The process still has one thread: the kernel gives user namespaces
/// to no other.
pub(super) fn all() -> Vec<Finding> {
    let mut findings = vec![virtual_time(), namespaces()];
    findings.extend([priority(), lateness(), tun()]);
    let remedy = "a kernel with CONFIG_MPTCP, and sysctl net.mptcp.enabled=1";
    findings.extend([
        kernel_protocol("the kernel's MPTCP", ipproto::MPTCP, remedy),
        kernel_protocol("the kernel's SCTP", ipproto::SCTP, "modprobe sctp"),
    ]);
    findings.extend([congestion(), descriptors(), programs(), detection(), openssl(), vectors()]);
    findings.extend([
        feature("object stores (s3://, gs://, az://)", cfg!(feature = "store"), "store"),
        feature("Parquet tables", cfg!(feature = "parquet"), "parquet"),
    ]);
    findings
}

pub(super) fn finding(
    name: &str,
    works: bool,
    detail: impl Into<String>,
    remedy: Option<&str>,
) -> Finding {
    let remedy = remedy.map(str::to_owned);
    Finding { name: name.to_owned(), works, detail: detail.into(), remedy }
}

fn virtual_time() -> Finding {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    finding("virtual time", true, format!("{cores}; needs no privileges"), None)
}

fn namespaces() -> Finding {
    let name = "emulated substrate, link (network namespaces)";
    let made = namespace::acquire().and_then(|by| NetNamespace::new().map(|_| by));
    match made {
        Ok(Privileges::Capable) => finding(name, true, "with this process's privileges", None),
        Ok(Privileges::UserNamespace) => finding(name, true, "in a user namespace", None),
        Err(why) => {
            let why = why.to_string();
            let (what, help) = why.split_once("\n  help: ").unwrap_or((&why, ""));
            finding(name, false, what, Some(help).filter(|help| !help.is_empty()))
        }
    }
}

fn priority() -> Finding {
    let limit = getrlimit(Resource::Rtprio).current.unwrap_or(u64::MAX);
    let works = geteuid().is_root() || limit > 0;
    let detail = if works { "links run before other threads" } else { "links share the processor" };
    let remedy = "run as root, or allow it in /etc/security/limits.conf: \"USER - rtprio 1\"";
    finding("real-time priority", works, detail, (!works).then_some(remedy))
}

/// How late this machine wakes a thread: what packets of the emulated substrate are late by.
fn lateness() -> Finding {
    let mut late: Vec<Duration> = (0..WAKES).map(|_| one_wake()).collect();
    late.sort_unstable();
    let us = |share: usize| late[(WAKES * share / 100).min(WAKES - 1)].as_secs_f64() * 1e6;
    let (median, p99) = (us(50), us(99));
    let works = p99 < 1000.0;
    let remedy = "stop other programs, or give a virtual machine cores of its own";
    let detail =
        format!("a thread wakes {median:.0} us late in the median, {p99:.0} us in the p99");
    finding("timers for real time", works, detail, (!works).then_some(remedy))
}

#[expect(clippy::disallowed_methods, reason = "the machine's own lateness is what is measured")]
fn one_wake() -> Duration {
    let begin = Instant::now();
    thread::sleep(WAKE_AFTER);
    begin.elapsed().saturating_sub(WAKE_AFTER)
}

const WAKES: usize = 200;
const WAKE_AFTER: Duration = Duration::from_millis(1);

fn tun() -> Finding {
    let opened = File::options().read(true).write(true).open("/dev/net/tun");
    match opened {
        Ok(_) => finding("TUN devices", true, "/dev/net/tun", None),
        Err(why) => {
            let remedy = "modprobe tun; in a container: --device /dev/net/tun";
            finding("TUN devices", false, format!("/dev/net/tun: {why}"), Some(remedy))
        }
    }
}

fn kernel_protocol(name: &str, protocol: Protocol, remedy: &str) -> Finding {
    match rustix::net::socket(AddressFamily::INET, SocketType::STREAM, Some(protocol)) {
        Ok(_) => finding(name, true, "a socket opens", None),
        Err(why) => finding(name, false, why.to_string(), Some(remedy)),
    }
}

fn congestion() -> Finding {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let known = known.unwrap_or_default();
    let works = known.split_whitespace().any(|name| name == "cubic");
    let remedy = "modprobe tcp_bbr tcp_cubic; what is loaded can be chosen by `congestion`";
    let name = "the kernel's congestion controllers";
    finding(name, works, known.trim(), (!works).then_some(remedy))
}

fn descriptors() -> Finding {
    let limit = getrlimit(Resource::Nofile).maximum;
    let works = limit.is_none_or(|limit| limit >= DESCRIPTORS);
    let detail = limit.map_or("unlimited".to_owned(), |limit| format!("{limit} in a process"));
    let remedy = "raise the hard limit: ulimit -Hn, or LimitNOFILE= of the service";
    finding("descriptors for 10,000 phones in real time", works, detail, (!works).then_some(remedy))
}

const DESCRIPTORS: u64 = 10_200;

fn programs() -> Finding {
    let servers = trackbed_programs::registry().iter().map(|server| server.about());
    let clients = trackbed_programs::clients::registry().iter().map(|client| client.about());
    let (mut found, mut packages) = (Vec::new(), Vec::new());
    for about in servers.chain(clients) {
        match trackbed_programs::find_executable(about.executables, about.package) {
            Ok(_) => found.push(about.name),
            Err(_) => packages.extend(about.package),
        }
    }
    packages.sort_unstable();
    packages.dedup();
    let remedy = format!("apt install {}", packages.join(" "));
    let works = packages.is_empty();
    let detail = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
    finding("third-party servers and clients", works, detail, (!works).then_some(&remedy))
}

fn detection() -> Finding {
    let search = Search::of_environment(None);
    let built_in = if cfg!(feature = "rten") { "rten, built in" } else { "" };
    let library = search.find().map(|path| format!("ONNX Runtime at {}", path.display()));
    let found: Vec<&str> = library
        .iter()
        .map(String::as_str)
        .chain([built_in])
        .filter(|one| !one.is_empty())
        .collect();
    let works = !Runtime::is_missing(&search);
    let detail = if found.is_empty() { "no runtime".to_owned() } else { found.join("; ") };
    let remedy = match works {
        true => "for several times the speed: pip install onnxruntime",
        false => "pip install onnxruntime, or build with --features trackbed/rten",
    };
    finding("object detection", works, detail, library.is_none().then_some(remedy))
}

fn openssl() -> Finding {
    match OpenSsl::open() {
        Ok(library) => finding("verify --library openssl", true, library.version(), None),
        Err(_) => {
            let remedy = "apt install libssl3";
            finding("verify --library openssl", false, "no libcrypto 1.1.0 or newer", Some(remedy))
        }
    }
}

/// Not a matter of what works, but of how fast.
fn vectors() -> Finding {
    #[cfg(target_arch = "x86_64")]
    let fast = std::is_x86_feature_detected!("avx512ifma");
    #[cfg(not(target_arch = "x86_64"))]
    let fast = false;
    let detail = if fast { "with AVX-512 IFMA" } else { "the portable path: no AVX-512 IFMA here" };
    finding("V2X signatures in batches", true, detail, None)
}

fn feature(name: &str, is_there: bool, feature: &str) -> Finding {
    let detail = if is_there { "built in" } else { "not in this build" };
    let remedy = format!("build with --features trackbed/{feature}");
    finding(name, is_there, detail, (!is_there).then_some(&remedy))
}
