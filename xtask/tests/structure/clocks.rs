//! Where the time of day is read. It may be set while a run goes on, so no measured time may come from it.

use crate::crates;
use crate::tree::look_into;

/// What reads the time of day, or hands on what does.
const READS: [&str; 4] =
    ["ClockId::Realtime", "SystemTime::now", "UnixTime::now", "DefaultTimeProvider"];

/// The files that do, and what for.
const FILES: [(&str, &str); 8] = [
    ("emulator/src/clock.rs", "the kernel's time stamps of packets, turned into monotonic time"),
    ("emulator/src/port/tun.rs", "packets of a port without time stamps, in the same form"),
    ("lab/src/capture.rs", "the date of a capture"),
    ("outward/src/log.rs", "the date of a line of a log"),
    ("protocols/src/tls/provider.rs", "certificates and tickets of sessions"),
    ("substrate/src/kernel/origin.rs", "what the others ask"),
    ("test/src/capture.rs", "the date of a capture"),
    ("workloads/src/messages/moment.rs", "what V2X messages say of their time"),
];

#[test]
fn the_time_of_day_is_read_for_dates_alone() {
    let mut found = Vec::new();
    for name in crates() {
        look_into(&name, &reads_it, &mut found);
    }
    found.sort();
    let known: Vec<&str> = FILES.iter().map(|(file, _)| *file).collect();
    assert_eq!(found, known, "a measured time comes from trackbed_substrate::now");
}

fn reads_it(code: &str) -> bool {
    let imports = code.contains("wall_clock") && code.contains("use trackbed_substrate");
    imports || READS.iter().any(|name| code.contains(name))
}
