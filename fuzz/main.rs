//! A fuzzer of the target that `TRACKBED_FUZZ` names, with the arguments of libFuzzer.
#![no_main]

use std::sync::LazyLock;

mod bodies;

static TARGET: LazyLock<bodies::Target> = LazyLock::new(|| {
    let name = std::env::var("TRACKBED_FUZZ").unwrap_or_default();
    let known = bodies::TARGETS.iter().find(|(known, ..)| *known == name);
    *known.unwrap_or_else(|| panic!("TRACKBED_FUZZ={name}: no such target in fuzz/bodies/mod.rs"))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.2)(data));
