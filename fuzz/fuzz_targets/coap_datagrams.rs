#![no_main]

#[path = "../bodies/server_words.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run_coap(data));
