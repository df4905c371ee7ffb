use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

fn seed() -> Seed {
    Seed::of_run(1, 0)
}

fn complete(phone: u32, message: u32, millis: u64) -> Bytes {
    Denm::of_len(Denm::COMPLETE_LEN).message(&seed(), phone, message, Time::from_millis(millis))
}

#[test]
fn every_message_has_exactly_355_bytes_and_passes_the_check() {
    let denm = Denm::of_len(Denm::COMPLETE_LEN);
    for phone in [0, 1, 9, 77, 4_321, 9_999] {
        for message in [0, 1, 10, 8_999, 9_000, 123_456, u32::MAX] {
            // From the start of a run to ten days later.
            for millis in [0, 1, 999, 100_000, 864_000_000] {
                let content = complete(phone, message, millis);
                assert_eq!(content.len(), 355, "{content:?}");
                assert_eq!(denm.check(&content), Ok(()), "{content:?}");
            }
        }
    }
}

#[test]
fn messages_of_any_length_from_the_least_are_exact_and_valid() {
    for len in (Denm::LEN_MIN..800).chain([1_200, 65_536]) {
        let denm = Denm::of_len(len);
        let content = denm.message(&seed(), 17, 3, Time::from_millis(5));
        assert_eq!(content.len(), len, "{content:?}");
        assert_eq!(denm.check(&content), Ok(()), "{content:?}");
    }
    let containers = |len| Denm::of_len(len).containers;
    assert_eq!([64, 265, 266, 322, 323, 354, 355, 900].map(containers), [1, 1, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn messages_differ_by_phone_by_number_by_time_and_by_seed() {
    let base = complete(0, 0, 0);
    let other_seed = Denm::of_len(355).message(&Seed::of_run(2, 0), 0, 0, Time::ZERO);
    let all = [base.clone(), complete(1, 0, 0), complete(0, 1, 0), complete(0, 0, 1), other_seed];
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(base, complete(0, 0, 0));
}

/// A run begins at 2026-01-01T00:00:00Z: 8036 days and 5 leap seconds after the epoch of ITS.
#[test]
fn times_are_milliseconds_of_atomic_time_since_2004() {
    let content: Value = serde_json::from_slice(&complete(0, 0, 0)).unwrap();
    assert_eq!(content["management"]["detectionTime"], 8_036_u64 * 86_400_000 + 5_000);
}

/// Ten seconds at walking pace, and a position that is off by at most 3 m each time.
#[test]
fn a_phone_moves_at_the_speed_that_it_reports() {
    let degrees = |content: &Value, index: usize| {
        content["management"]["eventPosition"][index].as_f64().unwrap() / 1e7
    };
    for phone in 0..50 {
        let [first, last] = [0, 10_000]
            .map(|millis| serde_json::from_slice::<Value>(&complete(phone, 0, millis)).unwrap());
        let north = (degrees(&last, 0) - degrees(&first, 0)) * 111_200.0;
        let cosine = degrees(&first, 0).to_radians().cos();
        let east = (degrees(&last, 1) - degrees(&first, 1)) * 111_200.0 * cosine;
        let speed = first["location"]["eventSpeed"][0].as_f64().unwrap() / 100.0;
        let moved = north.hypot(east);
        // Who turns around at the end of the street ends up nearer.
        assert!(moved <= speed * 10.0 * 1.02 + 0.01, "phone {phone}: {moved} m at {speed} m/s");
    }
}

#[test]
fn what_is_damaged_missing_or_out_of_range_is_refused() {
    let denm = Denm::of_len(355);
    let good = String::from_utf8(complete(0, 0, 0).to_vec()).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{good}");
        denm.check(good.replace(from, to).as_bytes())
    };
    assert_eq!(
        changed("\"stationType\":1", "\"stationType\":256"),
        Err("management/stationType is 256, not a whole number from 0 to 255".to_owned())
    );
    assert_eq!(
        changed("\"detectionTime\"", "\"detectionTide\""),
        Err("management/detectionTime is missing".to_owned())
    );
    assert_eq!(changed("\"situation\"", "\"situations\""), Err("situation is missing".to_owned()));
    for (from, to) in [
        ("\"messageID\":1", "\"messageID\":2"),
        ("\"informationQuality\":3", "\"informationQuality\":3.5"),
        ("\"informationQuality\":3", "\"informationQuality\":\"3\""),
        ("[12,0]", "[12]"),
        ("\"relevanceDistance\":1", "\"relevanceDistance\":8"),
        ("\"validityDuration\":60", "\"validityDuration\":86401"),
        ("\"eventPosition\":[", "\"eventPosition\":[9"),
        ("}}", "}"),
    ] {
        assert!(changed(from, to).is_err(), "{from} replaced by {to} was taken");
    }
    // Optional by the standard.
    assert_eq!(changed("\"validityDuration\":60,", ""), Ok(()));
    for cut in 0..good.len() {
        assert!(denm.check(&good.as_bytes()[..cut]).is_err());
    }
}

#[test]
fn a_short_message_is_checked_for_what_it_has() {
    let denm = Denm::of_len(100);
    let header = r#"{"header":{"protocolVersion":2,"messageID":1,"stationID":10000}"#;
    assert_eq!(denm.check(format!("{header}}}").as_bytes()), Ok(()));
    let wrong = format!(r#"{header},"situation":{{"informationQuality":9}}}}"#);
    assert!(denm.check(wrong.as_bytes()).unwrap_err().starts_with("situation/informationQuality"));
}
