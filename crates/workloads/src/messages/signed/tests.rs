use trackbed_net::NetworkBuilder;
use trackbed_substrate::simulated::Simulation;
use trackbed_v2x::SignedMessage;
use trackbed_v2x::job::PortableVerifier;
use trackbed_v2x::payload;

use super::*;

fn in_virtual_time<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut network = NetworkBuilder::default();
    let _ = network.host("alone");
    let main = |_| async move { work() };
    Simulation::default().run(Seed::of_run(1, 0), network.build().unwrap(), main).unwrap()
}

fn message(signed: &Signed, phone: u32, message: u32) -> Bytes {
    signed.message(&Seed::of_run(1, 0), phone, message, Time::ZERO).unwrap()
}

#[test]
fn a_message_is_a_denm_of_a_pedestrian_with_a_certificate_place_and_time() {
    let bytes = in_virtual_time(|| message(&Signed::default(), 7, 3));
    assert!(bytes.len() < SIGNED_LEN_MAX as usize, "{} B", bytes.len());
    let read = SignedMessage::decode(&bytes).unwrap();
    assert_eq!(read.psid(), psid::DENM);
    let place = read.generation_location().unwrap();
    assert!(place.distance_m(&Position { latitude: 358_900_000, longitude: 1_286_100_000 }) < 5e3);
    let denm = payload::decode(psid::DENM, read.payload()).unwrap().expect("it is known");
    assert_eq!(denm.integer("header.stationID"), Some(10_007));
    assert_eq!(denm.integer("denm.management.stationType"), Some(1), "a pedestrian");
    assert_eq!(denm.integer("denm.situation.eventType.causeCode"), Some(12));
}

#[test]
fn both_ends_agree_on_whom_to_trust_without_a_word() {
    in_virtual_time(|| {
        let (phones, unit) = (Signed::default(), Signed::default());
        let now = time_of_day(Time::ZERO);
        let mut receiver = unit.receiver(now, &mut PortableVerifier).unwrap();
        for phone in 0..3 {
            let bytes = message(&phones, phone, 0);
            assert_eq!(bytes, message(&unit, phone, 0));
            receiver.accept(&bytes, now, &mut PortableVerifier).unwrap();
            // Ten minutes later it is too old.
            let later = now.after(Duration::from_secs(601));
            let refused = receiver.accept(&bytes, later, &mut PortableVerifier).unwrap_err();
            assert!(matches!(refused, Refusal::TooOld { .. }), "{refused}");
        }
    });
}

/// Certificates are valid when they are made, also at the end of a term.
#[test]
fn certificates_are_valid_at_any_time_of_day() {
    for hours in [0, 1, 29_999, 30_000, 200_000, 400_000] {
        let now = ItsTime::from_secs(hours * 3_600);
        let validity = Signed::default().ticket(0, now).unwrap().certificate().validity();
        assert!(validity.start <= now);
        assert!(now.after(Duration::from_secs(30_000 * 3_600)) < validity.end, "{hours} h");
    }
}
