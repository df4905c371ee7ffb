#![no_main]

#[path = "../bodies/mqtt_broker.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
