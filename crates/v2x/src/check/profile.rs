//! The required and excluded fields of messages of each application (TS 103 097 section 7.1), and
//! the permissions that their content requires.

use crate::asn1::Value;
use crate::message::{SignedMessage, Signer};
use crate::payload::{self, psid};
use crate::refusal::Refusal;
use crate::time::ItsTime;

pub(super) fn check_header(message: &SignedMessage<'_>, psid: u64) -> Result<ItsTime, Refusal> {
    let has = |field| message.header().at(field).is_some();
    let generated = message.generation_time().ok_or(Refusal::Header("has no generation time"))?;
    if has("p2pcdLearningRequest") || has("missingCrlIdentifier") {
        return Err(Refusal::Header("has a field that TS 103 097 excludes"));
    }
    let has_certificate = matches!(message.signer(), Signer::Certificate(_));
    match psid {
        psid::CAM if has("expiryTime") || has("generationLocation") || has("encryptionKey") => {
            return Err(Refusal::Header("has fields that a CAM's may not have: section 7.1.1"));
        }
        psid::DENM => {
            if !has("generationLocation") {
                return Err(Refusal::Header("has no generation location: section 7.1.2"));
            }
            if !has_certificate {
                return Err(Refusal::SignerForm);
            }
            if has("expiryTime") || has("encryptionKey") {
                return Err(Refusal::Header(
                    "has fields that a DENM's may not have: section 7.1.2",
                ));
            }
        }
        _ => {}
    }
    Ok(generated)
}

/// Checks that the payload matches its application, and that `ssp` permits its content.
pub(super) fn check_payload(payload: &[u8], psid: u64, ssp: Option<&Value>) -> Result<(), Refusal> {
    let Some(value) = payload::decode(psid, payload)? else { return Ok(()) };
    let (bits, what) = match psid {
        psid::CAM => (payload::cam::required_permissions(&value).to_vec(), "this CAM"),
        psid::DENM => {
            (payload::denm::required_permissions(&value)?.to_vec(), "this cause of a DENM")
        }
        _ => return Ok(()),
    };
    // The first byte is the version, 1 (EN 302 637-2 table 4, EN 302 637-3 table 4).
    let permitted = match ssp.and_then(|ssp| ssp.octets("bitmapSsp")) {
        Some(ssp) => {
            ssp.first() == Some(&1)
                && ssp.len() > bits.len()
                && bits.iter().zip(&ssp[1..]).all(|(needs, has)| needs & !has == 0)
        }
        None => bits.iter().all(|bits| *bits == 0),
    };
    if permitted { Ok(()) } else { Err(Refusal::ServiceNotPermitted(what)) }
}
