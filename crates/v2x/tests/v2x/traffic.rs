//! What a crossing sends, by arithmetic.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Ratio, Seed, Time};
use trackbed_v2x::check::{Policy, Receiver};
use trackbed_v2x::job::{PortableVerifier, SignatureJob};
use trackbed_v2x::traffic::{
    Blockage, Crossing, Kind, Origin, Pace, Schedule, Traffic, Transmission,
};
use trackbed_v2x::{ItsTime, Refusal, SignedMessage};

use crate::world::PLACE;

fn traffic(crossing: Crossing) -> Traffic {
    Traffic::new(crossing, &Seed::of_run(1, 0), PLACE, ItsTime::from_secs(720_000_000)).unwrap()
}

/// A sixteenth of the study's crossing: twenty vehicles on two roads of one lane.
fn small() -> Crossing {
    Crossing { roads: 2, lanes: 1, ..Crossing::default() }
}

fn until(crossing: Crossing, end: Time) -> Vec<Transmission> {
    traffic(crossing).take_while(|message| message.at < end).collect()
}

#[test]
fn the_study_has_320_vehicles_and_3200_messages_a_second() {
    let study = Crossing::default();
    assert_eq!(study.vehicles(), 320);
    assert_eq!(study.messages_hz(), Some(3_200.0));
    assert_eq!(Crossing { crossings: 11, ..study }.messages_hz(), Some(35_200.0));
}

#[test]
fn messages_come_at_their_rates() {
    // 20 vehicles; two seconds from the second one on, without the beginning.
    let messages = until(small(), Time::from_millis(3_000));
    let from = Time::from_millis(1_000);
    let measured: Vec<_> = messages.iter().filter(|message| message.at >= from).collect();
    // A jitter of 5 ms may move one of each vehicle over either edge.
    assert!(measured.len().abs_diff(400) <= 20, "{}", measured.len());
    // Certificates: one a second of each, and one of each that is new, of which 20 x 10 / 300 a
    // second come.
    let certificates = measured.iter().filter(|message| message.has_certificate).count();
    assert!((36..=46).contains(&certificates), "{certificates}");
    assert!(messages.is_sorted_by_key(|message| message.at));
    // Each vehicle's are 100 ms apart, except for jitter.
    for vehicle in 0..20 {
        let times: Vec<Time> =
            messages.iter().filter(|one| one.vehicle == vehicle).map(|one| one.at).collect();
        assert!(
            times
                .windows(2)
                .all(|pair| { (95..=105).contains(&pair[1].since(pair[0]).as_millis()) })
        );
    }
}

/// Vehicles did not start together: each second, and each 3 s that a vehicle takes for the distance to the next one,
/// looks alike in all its tenths.
#[test]
fn certificates_and_vehicles_come_at_all_times() {
    let (mut known, mut certificates, mut vehicles) = (BTreeSet::new(), [0; 10], [0; 30]);
    let turns = Schedule::new(Crossing::default(), &Seed::of_run(1, 0), PLACE);
    for turn in turns.take_while(|turn| turn.due < Time::from_millis(31_000)) {
        let tenth = (turn.due.as_nanos() / 100_000_000) as usize;
        let is_new = known.insert(turn.pseudonym);
        if tenth >= 10 {
            certificates[tenth % 10] += usize::from(turn.has_certificate);
            vehicles[tenth % 30] += usize::from(is_new);
        }
    }
    // Thirty certificates of each of 320 vehicles, and 320 new vehicles.
    assert!(certificates.iter().all(|count| (600..1_600).contains(count)), "{certificates:?}");
    assert!((310..=330).contains(&vehicles.iter().sum::<usize>()), "{vehicles:?}");
    assert!(vehicles.iter().all(|count| *count < 80), "{vehicles:?}");
}

#[test]
fn the_same_seed_sends_the_same_bytes() {
    let take = || traffic(small()).take(60).collect::<Vec<_>>();
    assert_eq!(take(), take());
    let epoch = ItsTime::from_secs(720_000_000);
    let other = Traffic::new(small(), &Seed::of_run(2, 0), PLACE, epoch).unwrap();
    assert_ne!(other.take(60).collect::<Vec<_>>(), take());
}

fn receiver(traffic: &Traffic) -> Receiver {
    let roots = [Arc::clone(traffic.infrastructure().root().certificate())];
    let policy = Policy { position: Some(PLACE), ..Policy::default() };
    let mut receiver = Receiver::new(policy, &roots, &mut PortableVerifier).unwrap();
    let authority = Arc::clone(traffic.authority().certificate());
    receiver.add_authority(authority, &mut PortableVerifier).unwrap();
    receiver
}

#[test]
fn what_is_genuine_is_accepted_and_what_is_forged_is_not() {
    let forged = Ratio::from_parts(1, 4);
    for kind in [Kind::Bsm, Kind::Cam] {
        let mut traffic = traffic(Crossing { forged, kind, flood_hz: 100, ..small() });
        let mut receiver = receiver(&traffic);
        let messages: Vec<Transmission> = traffic.by_ref().take(120).collect();
        let mut seen = [0; 3];
        for message in &messages {
            let now = traffic.time_of_day(message.at);
            let result = receiver.accept(&message.bytes, now, &mut PortableVerifier);
            seen[message.origin as usize] += 1;
            match (message.origin, result) {
                (Origin::Vehicle, Ok(_)) => {}
                // Its first message, with the certificate, may have been a forged one.
                (Origin::Vehicle, Err(Refusal::UnknownSigner(_))) => {}
                (Origin::Vehicle, Err(refused)) => panic!("{refused}"),
                (Origin::Forged | Origin::Flood, Ok(_)) => panic!("a forgery is believed"),
                (Origin::Forged | Origin::Flood, Err(_)) => {}
            }
        }
        assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
    }
}

#[test]
fn a_flood_is_as_large_as_it_is_said_to_be() {
    let messages = until(Crossing { flood_hz: 2_000, ..small() }, Time::from_millis(500));
    let flood = messages.iter().filter(|message| message.origin == Origin::Flood).count();
    // From the first message on that there is to repeat.
    let first = messages.iter().find(|message| message.origin == Origin::Vehicle).unwrap().at;
    let expected = Time::from_millis(500).since(first).as_micros() / 500;
    assert!((flood as u128).abs_diff(expected) <= 1, "{flood} of {expected}");
}

#[test]
fn a_wave_changes_every_name() {
    let wave_every = Some(Duration::from_millis(500));
    let crossing = Crossing { wave_every, speed_m_s: 0, ..small() };
    let messages = until(crossing, Time::from_millis(1_000));
    let mut traffic = traffic(Crossing { wave_every, speed_m_s: 0, ..small() });
    let mut receiver = receiver(&traffic);
    for message in &messages {
        let now = traffic.time_of_day(message.at);
        // The generator tells which signatures are damaged: none of these is.
        receiver.accept(&message.bytes, now, &mut |_: &SignatureJob| true).unwrap();
    }
    // Twenty before the wave and twenty after it.
    assert_eq!(receiver.known_tickets(), 40);
    assert!(traffic.next().is_some());
}

#[test]
fn after_a_blockage_all_speak_at_once() {
    let blockage =
        Blockage { every: Duration::from_millis(400), lasting: Duration::from_millis(150) };
    let crossing = Crossing { blockage: Some(blockage), ..small() };
    let messages = until(crossing, Time::from_millis(700));
    let within = |from: u64, to: u64| {
        let span = Time::from_millis(from)..Time::from_millis(to);
        let inside = messages.iter().filter(|message| span.contains(&message.at));
        inside.map(|message| message.vehicle).collect::<Vec<u32>>()
    };
    assert!(within(400, 550).is_empty());
    let burst = within(550, 553);
    let speakers: BTreeSet<u32> = burst.iter().copied().collect();
    assert_eq!(speakers.len(), 20, "all vehicles");
    assert!(burst.len() <= 22, "each the newest it has: {burst:?}");
}

#[test]
fn triggered_vehicles_send_every_four_metres() {
    // 10 m/s is 4 m in 400 ms, by a rounded centimetre more or less: every 400 or 500 ms.
    let crossing = Crossing { pace: Pace::Triggered, kind: Kind::Cam, ..small() };
    let messages = until(crossing, Time::from_millis(2_000));
    assert!((80..=110).contains(&messages.len()), "{}", messages.len());
    let one: Vec<_> = messages.iter().filter(|message| message.vehicle == 3).collect();
    assert!(
        one.windows(2)
            .all(|pair| { (390..=510).contains(&pair[1].at.since(pair[0].at).as_millis()) })
    );
    let psids: BTreeSet<_> =
        messages.iter().map(|one| SignedMessage::decode(&one.bytes).unwrap().psid()).collect();
    assert_eq!(psids, BTreeSet::from([36]));
}
