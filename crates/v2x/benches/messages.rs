//! What a message costs apart from its verification, in real time: one line each, the best of several
//! rounds, since what else the machine does can only slow a round down.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trackbed_core::Seed;
use trackbed_v2x::job::{PortableVerifier, SignatureJob, SignatureVerifier};
use trackbed_v2x::lab::{Infrastructure, Terms};
use trackbed_v2x::location::Position;
use trackbed_v2x::payload::{self, Station, Vehicle, cam, geonet, psid};
use trackbed_v2x::sign::{Identification, Unsigned};
use trackbed_v2x::{Certificate, ItsTime, PointForm, Policy, Receiver, SignedMessage};

/// Accepts everything: only the work around the arithmetic is timed.
struct Gullible;

impl SignatureVerifier for Gullible {
    fn verify(&mut self, jobs: &[SignatureJob], verdicts: &mut Vec<bool>) {
        verdicts.extend(jobs.iter().map(|_| true));
    }
}

fn main() {
    let now = ItsTime::from_secs(720_000_000);
    let terms = Terms::new(now.before(Duration::from_secs(60)), 168);
    let lab = Infrastructure::new(&Seed::of_run(1, 0), &terms).expect("terms fit");
    let authority = lab.authority(0, &terms).expect("terms fit");
    let ticket = lab.ticket(&authority, 0, &terms).expect("terms fit");
    let position = Position { latitude: 363_504_000, longitude: 1_273_845_000 };
    let vehicle = Vehicle::car(7, position);
    let source = geonet::Source {
        station: Station::PassengerCar,
        address: [2, 0, 0, 0, 0, 7],
        time: now,
        position,
        speed_cm_s: 0,
        heading_ddeg: 0,
    };
    let encoded = cam::encode(&vehicle, now, true).expect("a car fits");
    let payload = geonet::wrap(&source, geonet::PORT_CAM, &encoded);
    let message = Unsigned {
        psid: psid::CAM,
        payload: &payload,
        generation_time: now,
        expiry_time: None,
        generation_location: None,
    };
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

    let roots = [Arc::clone(lab.root().certificate())];
    let policy = Policy { position, ..Policy::default() };
    let careless = Policy { look_inside: false, ..policy.clone() };
    for (name, policy) in [("", policy), (", not inside", careless)] {
        let mut receiver =
            Receiver::new(policy, &roots, &mut PortableVerifier).expect("the root is one");
        let authority = Arc::clone(authority.certificate());
        receiver.add_authority(authority, &mut PortableVerifier).expect("it is the root's");
        best(&format!("check, new certificate{name}"), || {
            black_box(receiver.check(&with_certificate, now).is_ok())
        });
        receiver.accept(&with_certificate, now, &mut PortableVerifier).expect("it is genuine");
        best(&format!("check, known certificate{name}"), || {
            black_box(receiver.check(&with_certificate, now).is_ok())
        });
        best(&format!("check and settle, digest{name}"), || {
            black_box(receiver.accept(&by_digest, now, &mut Gullible).is_ok())
        });
    }
    best("sign", || black_box(!sign(Identification::Digest).is_empty()));
    best("encode a CAM", || black_box(cam::encode(&vehicle, now, true).is_ok()));
}

const ROUNDS: u32 = 30;

/// Times `work`, which says whether it has succeeded.
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
