//! Messages and certificates as JSON: fields with their names in the standards (JSON encoding
//! rules, X.697), and computed values beside them.

use serde_json::{Value, json};

use crate::asn1::coer;
use crate::certificate::{Certificate, Issuer, ParsedCertificate};
use crate::ieee1609;
use crate::message::{SignedMessage, Signer};
use crate::payload;
use crate::refusal::Refusal;

/// A signed message or a certificate, whichever `bytes` are.
///
/// # Errors
/// If they are neither. Well-formed input that would be refused (an unknown curve of a
/// certificate's key, a malformed payload) is shown, with the reason.
pub fn describe(bytes: &[u8]) -> Result<Value, Refusal> {
    match bytes.first() {
        // A certificate begins with a bit that marks its signature (an implicit one has none), a
        // message with its version.
        Some(0 | 0x80) => certificate(bytes),
        _ => message(bytes),
    }
}

/// A signed message.
///
/// # Errors
/// As [`SignedMessage::decode`].
pub fn message(bytes: &[u8]) -> Result<Value, Refusal> {
    let message = SignedMessage::decode(bytes)?;
    // Decoded as a whole for its fields; that it is not nested has been checked above.
    let (data, ..) = coer::take("message", &ieee1609::Ieee1609Dot2Data, bytes)?;
    let mut shown = json!({
        "type": "signed-message",
        "psid": message.psid(),
        "generation_time_us": message.generation_time().map(|time| time.as_micros()),
        "signer": match message.signer() {
            Signer::Digest(id) => json!({ "digest": id.to_string() }),
            Signer::Certificate(parsed) => summary(parsed),
        },
    });
    match payload::decode(message.psid(), message.payload()) {
        Ok(None) => {}
        Ok(Some(fields)) => shown["payload"] = fields.to_json(),
        Err(error) => shown["payload_error"] = error.to_string().into(),
    }
    shown["data"] = data.to_json();
    Ok(shown)
}

/// A certificate.
///
/// # Errors
/// If it is malformed or too long.
pub fn certificate(bytes: &[u8]) -> Result<Value, Refusal> {
    let parsed = ParsedCertificate::decode(bytes)?;
    let (certificate, ..) = coer::take("certificate", &ieee1609::Certificate, bytes)?;
    let mut shown = summary(&parsed);
    shown["type"] = "certificate".into();
    shown["data"] = certificate.to_json();
    Ok(shown)
}

fn summary(parsed: &ParsedCertificate<'_>) -> Value {
    let issuer = match parsed.issuer() {
        Issuer::Certificate(id) => id.to_string(),
        Issuer::Itself => "self".to_owned(),
    };
    let mut shown = json!({ "certificate": parsed.hash().id8().to_string(), "issuer": issuer });
    match Certificate::new(parsed) {
        Ok(certificate) => {
            let validity = certificate.validity();
            shown["valid_from_us"] = validity.start.as_micros().into();
            shown["valid_until_us"] = validity.end.as_micros().into();
        }
        Err(error) => shown["refused"] = error.to_string().into(),
    }
    shown
}
