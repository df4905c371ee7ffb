//! Untrusted bytes as a message, a certificate and a payload: each is refused or accepted, nothing
//! panics, and memory stays within the receiver's limits.

use std::sync::OnceLock;

use trackbed_v2x::job::SignatureJob;
use trackbed_v2x::{Certificate, ItsTime, Policy, Receiver, SignedMessage, json, payload};

use self::world::World;

/// The corpus was signed by this infrastructure, at this place and time.
#[allow(dead_code, reason = "the tests of the messages use more of it")]
#[path = "../../crates/v2x/tests/v2x/world.rs"]
mod world;

pub fn run(data: &[u8]) {
    static TRUSTED: OnceLock<(Receiver, ItsTime)> = OnceLock::new();
    let make = || {
        let world = World::new();
        (world.receiver_with(Policy { tickets: 2, ..world.policy() }), world.now)
    };
    let (mut receiver, now) = TRUSTED.get_or_init(make).clone();
    // Accepts every signature, so that the code after the check is reached.
    let mut gullible = |_: &SignatureJob| true;
    let _ = receiver.accept(data, now, &mut gullible);
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
