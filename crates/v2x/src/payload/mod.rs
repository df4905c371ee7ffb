//! Payloads: cooperative awareness messages, event notifications, basic safety messages.

/// Application identifiers (PSID, which ETSI calls ITS-AID: TS 102 965, IEEE 1609.12).
pub mod psid {
    /// Basic safety messages (SAE J2735).
    pub const BSM: u64 = 32;
    /// Cooperative awareness messages (EN 302 637-2).
    pub const CAM: u64 = 36;
    /// Decentralized environmental notification messages (EN 302 637-3).
    pub const DENM: u64 = 37;
    /// Revocation lists (IEEE 1609.2 section 7.4).
    pub const CRL: u64 = 256;
}

pub mod bsm;
pub mod cam;
pub mod denm;
pub mod geonet;
mod its;
mod vehicle;

pub use vehicle::{Station, Vehicle};

use crate::asn1::Value;
use crate::location::Position;
use crate::refusal::Refusal;

/// Decodes the payload of an application, of a basic safety message the core data; `None` if its
/// payloads are not supported.
///
/// # Errors
/// If it is malformed, or addressed to another port than the application's.
pub fn decode(psid: u64, payload: &[u8]) -> Result<Option<Value>, Refusal> {
    Ok(Some(match psid {
        psid::BSM => bsm::decode(payload)?,
        psid::CAM => cam::decode(geonet::unwrap(payload, geonet::PORT_CAM)?)?,
        psid::DENM => denm::decode(geonet::unwrap(payload, geonet::PORT_DENM)?)?,
        _ => return Ok(None),
    }))
}

/// The sender's position: that of its CAM or BSM, else that of the network's header.
pub(crate) fn position(psid: u64, payload: &[u8]) -> Option<Position> {
    const CAM: [&str; 2] = [
        "cam.camParameters.basicContainer.referencePosition.latitude",
        "cam.camParameters.basicContainer.referencePosition.longitude",
    ];
    let paths = if psid == psid::CAM { CAM } else { ["lat", "long"] };
    let message = decode(psid, payload).ok().flatten().filter(|_| psid != psid::DENM);
    let told = message.and_then(|message| Position::named(&message, paths).known());
    told.or_else(|| if psid == psid::BSM { None } else { geonet::sender_position(payload) })
}
