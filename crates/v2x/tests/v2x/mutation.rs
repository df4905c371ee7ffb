//! The effect of changes in transit on a message: never accepted, never a panic.

use trackbed_core::Seed;
use trackbed_v2x::sign::Identification;
use trackbed_v2x::{Certificate, PointForm, SignedMessage, json};

use crate::world::{World, accept, sign};

/// Every byte of a message by digest, changed in one bit and in all: it is refused, except for the
/// form of the point R, which is not signed (IEEE 1609.2 section 6.3.29 verifies only its x).
#[test]
fn no_changed_byte_is_believed() {
    let world = World::new();
    let payload = world.cam_payload();
    let message = world.cam(&payload);
    let mut receiver = world.receiver();
    accept(&mut receiver, &sign(&world.ticket, &message), world.now).unwrap();
    let signed =
        world.ticket.sign(&message, Identification::Digest, PointForm::Compressed).unwrap();
    accept(&mut receiver, &signed, world.now).unwrap();
    let form_of_r = signed.len() - 65;
    let mut bytes = signed.clone();
    let mut rng = Seed::of_run(1, 0).stream("bits");
    for at in 0..bytes.len() {
        for change in [0xff, 1 << rng.below(8)] {
            bytes[at] ^= change;
            let result = accept(&mut receiver, &bytes, world.now);
            assert!(result.is_err() || at == form_of_r, "byte {at} changed by {change:#x}");
            bytes[at] ^= change;
        }
    }
    assert_eq!(bytes, signed);
}

/// The same of a certificate that is new: the changed one is not kept.
#[test]
fn no_changed_certificate_is_kept() {
    let world = World::new();
    let mut signed = sign(&world.ticket, &world.cam(&world.cam_payload()));
    let certificate = world.ticket.certificate().bytes();
    let start = signed.windows(certificate.len()).position(|at| at == certificate).unwrap();
    let mut receiver = world.receiver();
    for at in start..start + certificate.len() {
        signed[at] ^= 0x10;
        assert!(accept(&mut receiver, &signed, world.now).is_err(), "byte {at}");
        signed[at] ^= 0x10;
    }
    assert_eq!(receiver.known_tickets(), 0);
    accept(&mut receiver, &signed, world.now).unwrap();
}

#[test]
fn what_is_cut_short_is_refused() {
    let world = World::new();
    let signed = sign(&world.ticket, &world.denm(&world.denm_payload(94)));
    let receiver = world.receiver();
    for len in 0..signed.len() {
        assert!(receiver.check(&signed[..len], world.now).is_err(), "{len} B");
    }
    let certificate = world.ticket.certificate().bytes();
    for len in 0..certificate.len() {
        assert!(Certificate::decode(&certificate[..len]).is_err(), "{len} B");
    }
}

/// Some thousand messages of several changes each, checked with everything inside and shown.
#[test]
fn nothing_that_comes_makes_it_panic() {
    let world = World::new();
    let receiver = world.receiver();
    let cam = world.cam_payload();
    let denm = world.denm_payload(94);
    let messages = [sign(&world.ticket, &world.cam(&cam)), sign(&world.ticket, &world.denm(&denm))];
    let mut rng = Seed::of_run(2, 0).stream("changes");
    for round in 0..4_000 {
        let mut bytes = messages[round % 2].clone();
        for _ in 0..=rng.below(6) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(4) {
                0 => bytes[at] = rng.next_u64() as u8,
                1 => bytes[at] = 0xff,
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, rng.next_u64() as u8),
            }
        }
        let _ = receiver.check(&bytes, world.now);
        let _ = json::describe(&bytes);
        // Payloads as if they had been signed.
        if let Ok(message) = SignedMessage::decode(&bytes) {
            for psid in [32, 36, 37] {
                let _ = trackbed_v2x::payload::decode(psid, message.payload());
            }
        }
    }
}
