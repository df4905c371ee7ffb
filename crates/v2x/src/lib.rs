//! V2X messages and their security: IEEE 1609.2 and ETSI TS 103 097 signed data, certificates,
//! and what is signed (CAM, DENM, BSM). Sans-IO; time is an argument, keys come from a seed.
//!
//! The path of a message: [`SignedMessage::decode`] reads it. [`check::Receiver::check`] decides
//! everything but the signature arithmetic, and returns [`job::SignatureJob`]s for a verifier.
//! [`check::Receiver::settle`] takes the verdicts. In the other direction, a [`sign::Holder`] signs
//! with the certificates of a [`lab::Infrastructure`]. [`json`] prints messages and certificates;
//! [`traffic`] generates the messages of a crossing.
//!
//! ASN.1 modules drive the decoders and encoders, in canonical octet encoding rules for signed
//! data and certificates, in packed ones for payloads. The received bytes are hashed: re-encoding
//! would lose extensions that they do not know. Only for a point that is not in its canonical
//! form, that form is hashed instead (IEEE 1609.2 section 6.1.2).
//!
//! # Not supported
//!
//! - Other curves than P-256, other hashes than SHA-256, implicit certificates, encrypted data,
//!   payloads that are external or omitted, countersignatures: each is refused with its own reason.
//! - Enrolment, requests for certificates, trust lists (TS 102 941), peer-to-peer distribution of
//!   certificates: authorities are configured, tickets arrive with messages.
//! - Chains that are not root, authority, ticket.
//! - Revocation: no certificate is revoked before it expires.
//! - CAM and DENM of release 2; the optional parts of a BSM.
//! - Borders of countries: the receiver's country is configured.
#![forbid(unsafe_code)]

#[macro_use]
mod asn1;
pub mod certificate;
pub mod check;
pub mod hash;
pub mod job;
pub mod json;
pub mod lab;
pub mod location;
pub mod message;
pub mod payload;
mod point;
pub mod refusal;
pub mod sign;
pub mod time;
pub mod traffic;

/// The types of signed data and certificates.
#[allow(non_upper_case_globals, reason = "types have the names that they have in the standard")]
mod ieee1609 {
    /// The version of signed data and of certificates.
    pub(crate) const VERSION: u8 = 3;

    module!("ieee1609.asn1": Ieee1609Dot2Data, HashedData, HeaderInfo, Signature, Certificate, IssuerIdentifier,
        ToBeSignedCertificate);
}

pub use asn1::Value;
pub use certificate::Certificate;
pub use check::{Policy, Receiver};
pub use message::SignedMessage;
pub use point::PointForm;
pub use refusal::Refusal;
pub use time::ItsTime;
