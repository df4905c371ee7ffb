#![no_main]

#[path = "../bodies/coap_datagrams.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
