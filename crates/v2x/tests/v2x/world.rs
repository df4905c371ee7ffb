//! A root, an authority, a ticket, a receiver that trusts them, and messages.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_v2x::check::{Accepted, Policy, Receiver};
use trackbed_v2x::job::PortableVerifier;
use trackbed_v2x::lab::{Infrastructure, Terms};
use trackbed_v2x::location::Position;
use trackbed_v2x::payload::{Vehicle, cam, denm, geonet, psid};
use trackbed_v2x::sign::{Holder, Identification, Unsigned};
use trackbed_v2x::{ItsTime, PointForm, Refusal};

/// A crossing in Daejeon.
pub const PLACE: Position = Position { latitude: 363_504_000, longitude: 1_273_845_000 };

pub struct World {
    pub infrastructure: Infrastructure,
    pub authority: Holder,
    pub ticket: Holder,
    pub now: ItsTime,
}

impl World {
    pub fn new() -> World {
        let now = ItsTime::from_secs(720_000_000);
        let start = now.before(Duration::from_secs(3_600));
        let seed = Seed::of_run(1, 0);
        let infrastructure = Infrastructure::new(&seed, &Terms::new(start, 10_000)).unwrap();
        let authority = infrastructure.authority(0, &Terms::new(start, 1_000)).unwrap();
        let ticket = infrastructure.ticket(&authority, 0, &Terms::new(start, 168)).unwrap();
        World { infrastructure, authority, ticket, now }
    }

    pub fn start(&self) -> ItsTime {
        self.now.before(Duration::from_secs(3_600))
    }

    pub fn policy(&self) -> Policy {
        Policy { position: Some(PLACE), ..Policy::default() }
    }

    pub fn receiver(&self) -> Receiver {
        self.receiver_with(self.policy())
    }

    pub fn receiver_with(&self, policy: Policy) -> Receiver {
        let roots = [Arc::clone(self.infrastructure.root().certificate())];
        let mut receiver = Receiver::new(policy, &roots, &mut PortableVerifier).unwrap();
        let authority = Arc::clone(self.authority.certificate());
        receiver.add_authority(authority, &mut PortableVerifier).unwrap();
        receiver
    }

    pub fn vehicle(&self) -> Vehicle {
        Vehicle { speed_cm_s: 1_389, heading_ddeg: 905, ..Vehicle::car(0xdead_beef, PLACE) }
    }

    pub fn cam_payload(&self) -> Vec<u8> {
        let cam = cam::encode(&self.vehicle(), self.now, true).unwrap();
        geonet::wrap(&self.vehicle(), self.now, geonet::PORT_CAM, &cam)
    }

    pub fn cam<'a>(&self, payload: &'a [u8]) -> Unsigned<'a> {
        Unsigned::new(psid::CAM, payload, self.now)
    }

    pub fn denm_payload(&self, cause: u8) -> Vec<u8> {
        let event = denm::Event {
            sequence: 3,
            cause,
            sub_cause: 0,
            detected: self.now,
            validity: Duration::from_secs(600),
        };
        let denm = denm::encode(&self.vehicle(), &event, self.now).unwrap();
        geonet::wrap_for_area(&self.vehicle(), self.now, 3, 500, geonet::PORT_DENM, &denm)
    }

    pub fn denm<'a>(&self, payload: &'a [u8]) -> Unsigned<'a> {
        Unsigned { psid: psid::DENM, generation_location: Some(PLACE), ..self.cam(payload) }
    }
}

/// Signs with a certificate, R by its x.
pub fn sign(holder: &Holder, message: &Unsigned<'_>) -> Vec<u8> {
    holder.sign(message, Identification::Certificate, PointForm::XOnly).unwrap()
}

pub fn accept<'a>(
    receiver: &mut Receiver,
    bytes: &'a [u8],
    now: ItsTime,
) -> Result<Accepted<'a>, Refusal> {
    receiver.accept(bytes, now, &mut PortableVerifier)
}
