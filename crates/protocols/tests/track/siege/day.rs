//! A day of one message of 512 bytes per second: the memory of both ends and the network.

use super::ground::{RTT, ask, for_each_protocol};
use super::memory::held;
use crate::support::*;

/// The seconds of an hour. Where the build is not optimised, a day has one hour in as many parts, unless
/// `TRACKBED_WHOLE_DAY` is set.
fn hour() -> u64 {
    let is_whole = std::env::var_os("TRACKBED_WHOLE_DAY").is_some();
    if cfg!(debug_assertions) && !is_whole { 150 } else { 3_600 }
}

/// CoAP remembers received messages for 247 s (RFC 7252 section 4.8.2), and TLS changes no keys within
/// 2^24 records (RFC 8446 section 5.5); nothing else keeps state for longer. So after the first parts,
/// which cover these 247 s, memory use at the end of each part is the same, except for buffers that
/// double when they reach a new maximum: 8 KiB. Leaking 16 bytes per message would take at least 50 kB.
#[test]
fn a_day_leaves_nothing_behind() {
    for_each_protocol(|ground| async move {
        let name = ground.protocol.name();
        let hour = hour();
        let (connection, _) = ground.visit().await;
        let mut parts = Vec::new();
        let start = now();
        for second in 0..24 * hour {
            sleep_until(start + Duration::from_secs(second)).await;
            assert_eq!(ask(&*connection, 512).await, Ok(RTT), "{name}, second {second}");
            if (second + 1) % hour == 0 {
                parts.push(held());
            }
        }
        assert_eq!(now(), start + Duration::from_secs(24 * hour - 1) + RTT, "{name}: no drift");
        let first = parts[2];
        let most = parts[2..].iter().map(|held| (held - first).abs()).max().unwrap_or(0);
        eprintln!("  {} kB, {most} bytes more or less", first / 1_000);
        assert!(most <= 8_192, "{name}: {parts:?}");
    });
}
