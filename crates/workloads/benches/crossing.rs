//! How long signed messages wait for their verdicts on this machine, in real time: each is decoded,
//! checked against the policy, hashed and verified on arrival.
//!
//! `cargo bench -p trackbed-workloads --bench crossing`. The goal is a 99th percentile of 10 ms at
//! 35,000 messages a second with one in twenty forged, on two cores with AVX-512 IFMA; and under a
//! flood of forgeries at ten times that rate, bounded memory.

use std::net::SocketAddr;
use std::path::Path;

use trackbed_connection::{Capabilities, Handshake, Transport};
use trackbed_core::event::{EventLog, Record};
use trackbed_core::{Arguments, Seed};
use trackbed_measure::metrics;
use trackbed_substrate::kernel::{Execution, Origin};
use trackbed_workloads::environment::Course;
use trackbed_workloads::{Patience, Stage, find};

/// Eleven crossings of 320 vehicles, ten messages a second each, on two workers. Tables of all keys
/// exist before the measurement.
const RUSH: &[(&str, &str)] = &[
    ("crossings", "11"),
    ("forged", "5 %"),
    ("workers", "2"),
    ("table-memory", "256 MB"),
    ("late", "drop"),
];

fn main() {
    println!("{:?}, {} processors", trackbed_verifier::Path::fastest(), processors());
    println!(
        "{:<34}{:>9}{:>8}{:>8}{:>8}{:>8}{:>9}{:>8}{:>9}{:>8}",
        "", "heard", "p50 ms", "p95", "p99", "late %", "strange %", "cpu %", "tables MB", "peak MB"
    );
    let calm = [("duration", "12 s"), ("warm-up", "6 s")];
    for run in 0..3 {
        report("rush, 35,200 messages/s", &[RUSH, &calm].concat(), run);
    }
    let flood = [("duration", "4 s"), ("warm-up", "2 s"), ("flood", "352000 /s")];
    report("the same, and 352,000 forgeries/s", &[RUSH, &flood].concat(), 0);
}

fn report(name: &str, settings: &[(&'static str, &str)], run: u64) {
    let records = hear(settings, run);
    if let Err(why) = metrics::outcome(&records) {
        println!("{name}: {why}");
        return;
    }
    let mut verdicts = samples("verdict_ms", &records);
    verdicts.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let place = (share * verdicts.len() as f64) as usize;
        verdicts.get(place.min(verdicts.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    };
    let one = |metric: &str| samples(metric, &records).first().copied().unwrap_or(0.0);
    let heard = one("heard_count");
    println!(
        "{name:<34}{heard:>9}{:>8.3}{:>8.2}{:>8.2}{:>8.2}{:>9.2}{:>8.1}{:>9.0}{:>8.0}",
        quantile(0.5),
        quantile(0.95),
        quantile(0.99),
        100.0 * one("late_verdict_ratio"),
        100.0 * one("unknown_signer_count") / heard,
        one("verification_cpu_percent"),
        one("tables_bytes") / 1e6,
        resident_bytes_max() as f64 / 1e6,
    );
    assert_eq!(one("wrong_verdict_count"), 0.0, "no verdict is wrong, however busy it is");
}

fn hear(settings: &[(&'static str, &str)], run: u64) -> Vec<Record> {
    let workload = find("verification").expect("it is registered");
    let value = |(name, text): &(&'static str, &str)| {
        let known = workload.parameters().iter().find(|parameter| parameter.name == *name);
        let parsed = known.and_then(|parameter| parameter.kind.parse(text).ok());
        (*name, parsed.expect("the settings are right"))
    };
    let given: Vec<_> = settings.iter().map(value).collect();
    let arguments = Arguments::read(workload.parameters(), &given).expect("they are right");
    let prepared = (workload.prepare)(&arguments, Path::new(".")).expect("they go together");
    let main = |_| async {
        let log = EventLog::default();
        let stage = Stage {
            first: 0,
            phones: Vec::new(),
            capabilities: NOTHING,
            hosts: Vec::new(),
            server: SocketAddr::from(([127, 0, 0, 1], 1)),
            handshake: Handshake::New,
            patience: Patience::REAL,
            course: Course::default(),
            seed: Seed::of_run(1, run),
            log: log.clone(),
        };
        prepared.drive(stage).await;
        log.take()
    };
    Execution::new(Origin::now()).run(main).expect("nothing stops it")
}

fn samples(metric: &str, records: &[Record]) -> Vec<f64> {
    (metrics::find(metric).expect("it is registered").compute)(records)
}

const NOTHING: Capabilities =
    Capabilities { multiplexed: true, ..Capabilities::plain(Transport::Udp) };

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The peak memory of this process (`VmHWM`), which includes the script and all earlier
/// measurements; 0 if the system does not report it.
fn resident_bytes_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}
