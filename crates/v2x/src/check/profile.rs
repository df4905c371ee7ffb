//! The required and excluded fields of messages of each application (TS 103 097 section 7.1), and
//! the permissions that their content requires.

use rasn_its::ieee1609dot2::base_types as base;

use crate::message::{SignedMessage, Signer};
use crate::payload::{self, psid};
use crate::refusal::Refusal;
use crate::time::ItsTime;

pub(super) fn check_header(message: &SignedMessage<'_>, psid: u64) -> Result<ItsTime, Refusal> {
    let header = message.header();
    let generated = message.generation_time().ok_or(Refusal::Header("has no generation time"))?;
    if header.p2pcd_learning_request.is_some() || header.missing_crl_identifier.is_some() {
        return Err(Refusal::Header("has a field that TS 103 097 excludes"));
    }
    let has_certificate = matches!(message.signer(), Signer::Certificate(_));
    match psid {
        psid::CAM => {
            let others = header.expiry_time.is_some()
                || header.generation_location.is_some()
                || header.encryption_key.is_some();
            if others {
                return Err(Refusal::Header("has fields that a CAM's may not have: section 7.1.1"));
            }
        }
        psid::DENM => {
            if header.generation_location.is_none() {
                return Err(Refusal::Header("has no generation location: section 7.1.2"));
            }
            if !has_certificate {
                return Err(Refusal::SignerForm);
            }
            if header.expiry_time.is_some() || header.encryption_key.is_some() {
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
pub(super) fn check_payload(
    payload: &[u8],
    psid: u64,
    ssp: Option<&base::ServiceSpecificPermissions>,
) -> Result<(), Refusal> {
    let Some(value) = payload::decode(psid, payload)? else { return Ok(()) };
    let (bits, what) = match psid {
        psid::CAM => (payload::cam::required_permissions(&value).to_vec(), "this CAM"),
        psid::DENM => {
            (payload::denm::required_permissions(&value)?.to_vec(), "this cause of a DENM")
        }
        _ => return Ok(()),
    };
    // The first byte is the version, 1 (EN 302 637-2 table 4, EN 302 637-3 table 4).
    let permitted = match ssp {
        Some(base::ServiceSpecificPermissions::BitmapSsp(ssp)) => {
            ssp.first() == Some(&1)
                && ssp.len() > bits.len()
                && bits.iter().zip(&ssp[1..]).all(|(needs, has)| needs & !has == 0)
        }
        _ => bits.iter().all(|bits| *bits == 0),
    };
    if permitted { Ok(()) } else { Err(Refusal::ServiceNotPermitted(what)) }
}
