//! Where the time of day is read. It may be set while a run goes on, so no measured time may come from it.

use std::fs;
use std::path::Path;

use crate::{crates, root};

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
        look_into(&root().join("crates").join(name).join("src"), &mut found);
    }
    found.sort();
    let known: Vec<&str> = FILES.iter().map(|(file, _)| *file).collect();
    assert_eq!(found, known, "a measured time comes from trackbed_substrate::now");
}

fn look_into(folder: &Path, found: &mut Vec<String>) {
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            look_into(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).expect("a text");
            let (code, _tests) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
            let imports = code.contains("wall_clock") && code.contains("use trackbed_substrate");
            if imports || READS.iter().any(|name| code.contains(name)) {
                let place = path.strip_prefix(root().join("crates")).expect("below crates");
                found.push(place.display().to_string());
            }
        }
    }
}
