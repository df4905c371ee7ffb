//! What a message costs apart from its verification, in real time: one line each, the best of several
//! rounds, since what else the machine does can only slow a round down.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use trackbed_v2x::job::{PortableVerifier, SignatureJob};
use trackbed_v2x::payload::{self, cam, psid};
use trackbed_v2x::sign::Identification;
use trackbed_v2x::{Certificate, PointForm, Policy, SignedMessage};

use self::world::World;

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/v2x/world.rs"]
mod world;

fn main() {
    let world = World::new();
    let (ticket, now) = (&world.ticket, world.now);
    let payload = world.cam_payload();
    let message = world.cam(&payload);
    let sign = |how| ticket.sign(&message, how, PointForm::Compressed).expect("it fits");
    let (by_digest, with_certificate) =
        (sign(Identification::Digest), sign(Identification::Certificate));
    println!("{} B by digest, {} B with certificate", by_digest.len(), with_certificate.len());

    best("decode, digest", || black_box(SignedMessage::decode(black_box(&by_digest)).is_ok()));
    best("decode, certificate", || {
        black_box(SignedMessage::decode(black_box(&with_certificate)).is_ok())
    });
    let certificate = ticket.certificate().bytes();
    best("certificate with its key", || black_box(Certificate::decode(certificate).is_ok()));
    best("payload of a CAM", || black_box(payload::decode(psid::CAM, &payload).is_ok()));

    let careless = Policy { look_inside: false, ..world.policy() };
    for (name, policy) in [("", world.policy()), (", not inside", careless)] {
        let mut receiver = world.receiver_with(policy);
        best(&format!("check, new certificate{name}"), || {
            black_box(receiver.check(&with_certificate, now).is_ok())
        });
        receiver.accept(&with_certificate, now, &mut PortableVerifier).expect("it is genuine");
        best(&format!("check, known certificate{name}"), || {
            black_box(receiver.check(&with_certificate, now).is_ok())
        });
        best(&format!("check and settle, digest{name}"), || {
            black_box(receiver.accept(&by_digest, now, &mut |_: &SignatureJob| true).is_ok())
        });
    }
    best("sign", || black_box(!sign(Identification::Digest).is_empty()));
    let vehicle = world.vehicle();
    best("encode a CAM", || black_box(cam::encode(&vehicle, now, true).is_ok()));
}

const ROUNDS: u32 = 30;

fn best(name: &str, mut work: impl FnMut() -> bool) {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let mut count = 0;
        while begin.elapsed() < Duration::from_millis(10) {
            for _ in 0..16 {
                assert!(work(), "{name} fails");
            }
            count += 16;
        }
        best = best.min(begin.elapsed() / count);
    }
    println!("{name:<40} {:>9.2} us", best.as_secs_f64() * 1e6);
}
