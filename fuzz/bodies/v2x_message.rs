//! A stranger's bytes as a message, a certificate, a payload and a revocation list: refused or taken,
//! never a panic, and no more kept than the receiver's limits.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_v2x::job::{PortableVerifier, SignatureJob, SignatureVerifier};
use trackbed_v2x::lab::{Infrastructure, Terms};
use trackbed_v2x::location::Position;
use trackbed_v2x::{Certificate, ItsTime, Policy, Receiver, SignedMessage, json, payload};

/// Says yes to everything, so that what is behind a signature is reached.
struct Gullible;

impl SignatureVerifier for Gullible {
    fn verify(&mut self, jobs: &[SignatureJob], verdicts: &mut Vec<bool>) {
        verdicts.extend(jobs.iter().map(|_| true));
    }
}

/// The corpus was signed by this infrastructure, at this place and time.
const PLACE: Position = Position { latitude: 363_504_000, longitude: 1_273_845_000 };

fn now() -> ItsTime {
    ItsTime::from_secs(720_000_000)
}

/// A receiver that keeps two tickets.
fn receiver() -> Receiver {
    static TRUSTED: OnceLock<Receiver> = OnceLock::new();
    let make = || {
        let start = now().before(Duration::from_secs(3_600));
        let infrastructure = Infrastructure::new(&Seed::of_run(1, 0), &Terms::new(start, 10_000))
            .expect("terms fit");
        let authority = infrastructure.authority(0, &Terms::new(start, 1_000)).expect("terms fit");
        let roots = [Arc::clone(infrastructure.root().certificate())];
        let policy = Policy { tickets: 2, position: PLACE, ..Policy::default() };
        let mut receiver =
            Receiver::new(policy, &roots, &mut PortableVerifier).expect("the root is one");
        receiver
            .add_authority(Arc::clone(authority.certificate()), &mut PortableVerifier)
            .expect("the authority is the root's");
        receiver
    };
    TRUSTED.get_or_init(make).clone()
}

/// One input.
pub fn run(data: &[u8]) {
    let mut receiver = receiver();
    let _ = receiver.accept(data, now(), &mut Gullible);
    let _ = receiver.revoke(data, now(), &mut Gullible);
    assert!(receiver.known_tickets() <= 2);
    let _ = Certificate::decode(data);
    let _ = json::describe(data);
    for psid in [payload::psid::BSM, payload::psid::CAM, payload::psid::DENM] {
        let _ = payload::decode(psid, data);
        if let Ok(message) = SignedMessage::decode(data) {
            let _ = payload::decode(psid, message.payload());
        }
    }
}
