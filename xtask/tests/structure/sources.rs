//! Where code may read the time of day, compute with functions of the platform, or learn a seed.

use std::fs;

use crate::{crates, root};

/// The files of these crates whose code, without tests, `is` what is looked for.
fn files(names: impl IntoIterator<Item = String>, is: impl Fn(&str) -> bool) -> Vec<String> {
    let crates = root().join("crates");
    let mut found = Vec::new();
    for path in names.into_iter().flat_map(|name| crate::files(&crates.join(name).join("src"))) {
        let place = path.strip_prefix(&crates).expect("below crates");
        let is_test = place.with_extension("").iter().any(|part| part == "tests");
        if path.extension().is_some_and(|end| end == "rs") && !is_test {
            let text = fs::read_to_string(&path).expect("a text");
            let (code, _tests) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
            found.extend(is(code).then(|| place.display().to_string()));
        }
    }
    found.sort();
    found
}

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

/// It may be set while a run goes on, so no measured time may come from it.
#[test]
fn the_time_of_day_is_read_for_dates_alone() {
    let known = FILES.map(|(file, _)| file);
    assert_eq!(
        files(crates(), reads_it),
        known,
        "a measured time comes from trackbed_substrate::now"
    );
}

fn reads_it(code: &str) -> bool {
    let imports = code.contains("wall_clock") && code.contains("use trackbed_substrate");
    imports || READS.iter().any(|name| code.contains(name))
}

/// Methods of `f64` whose last digits the platform's C library decides; the crate `libm` has the same
/// functions. Square roots and whole powers are exact or plain products.
const METHODS: [&str; 24] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp",
    "exp2", "exp_m1", "hypot", "ln", "ln_1p", "log10", "log2", "powf", "sin", "sin_cos", "sinh",
    "tan", "tanh",
];

/// The crates that may use them, and what for.
const FREE: [(&str, &str); 2] =
    [("inference", "a network for the processors of real devices"), ("report", "drawings")];

/// The results of virtual time, and what is computed from them, are the same on every processor.
#[test]
fn results_do_not_depend_on_the_c_library() {
    let calls_one = |code: &str| METHODS.iter().any(|name| code.contains(&format!(".{name}(")));
    let is_bound = |name: &String| FREE.iter().all(|(free, _)| free != name);
    let found = files(crates().into_iter().filter(is_bound), calls_one);
    assert!(found.is_empty(), "take these functions from `libm`: {found:?}");
}

/// CoAP's tokens follow from the seed that a machine learns, so others must not reach the machine.
#[test]
fn only_the_ends_of_emulated_runs_know_a_seed() {
    let found = files(crates(), |code| code.contains("machine.with_seed("));
    assert_eq!(found, ["lab/src/emulated/endpoint.rs"]);
}
