#![no_main]

#[path = "../bodies/v2x_message.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
