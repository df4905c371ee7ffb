//! Corruption, duplication and reordering.

use trackbed_core::packet::{PacketError, UdpDatagram};

use crate::harness::*;

#[test]
fn a_corrupted_packet_differs_in_one_bit_that_a_checksum_finds() {
    let events = run(&LinkSpec::new().then(Corruption { probability: percent(20) }), burst(5_000));
    let mut corrupted = 0;
    for (index, (_, _, seen)) in events.iter().filter(|e| e.1 == Point::Delivered).enumerate() {
        let sent = packet(index as u32, 1500);
        let bits: u32 =
            sent.bytes().iter().zip(seen.bytes()).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert!(bits <= 1);
        if bits == 1 {
            corrupted += 1;
            let error = UdpDatagram::parse(seen).unwrap_err();
            assert!(matches!(error, PacketError::BadChecksum | PacketError::Truncated));
        }
    }
    assert_eq!(corrupted, times(&events, Point::Altered(Alteration::Corrupted)).len());
    assert!((900..1_100).contains(&corrupted), "{corrupted} of 5,000 at 20 %");
}

#[test]
fn a_copy_follows_right_behind_and_may_be_lost_alone() {
    let all = LinkSpec::new().then(Duplication { probability: Ratio::ONE });
    assert_eq!(numbers(&run(&all, burst(3)), Point::Delivered), [0, 0, 1, 1, 2, 2]);
    let events = run(&all.then(Loss::bernoulli(percent(50))), burst(1_000));
    let arrived = numbers(&events, Point::Delivered);
    let lost = numbers(&events, Point::Dropped(DropReason::Loss));
    assert_eq!(arrived.len() + lost.len(), 2_000);
    let once = (0..1_000).filter(|n| arrived.iter().filter(|a| *a == n).count() == 1).count();
    assert!((430..570).contains(&once), "{once} of 1,000 pairs lost exactly one");
}

#[test]
fn a_packet_held_back_is_overtaken_by_those_of_its_time() {
    let spec = LinkSpec::new().then(Reordering { probability: percent(10), hold: ms(5) });
    let events = run(&spec, every(ms(1), 2_000));
    let held = numbers(&events, Point::Altered(Alteration::HeldBack));
    assert!((150..250).contains(&held.len()));
    for (at, point, packet) in &events {
        let number = number(packet);
        let late = if held.contains(&number) { 5 } else { 0 };
        if *point == Point::Delivered {
            assert_eq!(*at, Time::from_millis(u64::from(number) + late));
        }
    }
}
