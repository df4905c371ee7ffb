//! V2X messages and their security: IEEE 1609.2 and ETSI TS 103 097 signed data, certificates,
//! revocation, and what is signed (CAM, DENM, BSM). Sans-IO; time is an argument, keys come from a seed.
//!
//! The way of a message: [`SignedMessage::decode`] reads it, [`check::Receiver::check`] decides
//! everything about it but the arithmetic, and gives out [`job::SignatureJob`]s for whoever verifies;
//! [`check::Receiver::settle`] takes the verdicts. The other way round, a [`sign::Holder`] signs with
//! the certificates of a [`lab::Infrastructure`]. [`json`] shows messages and certificates, [`traffic`]
//! is what a crossing sends.
//!
//! Canonical octet encoding rules are rasn's, the types rasn-its'; payloads are read and written by tables
//! of their types. What is hashed are the bytes as they came: re-encoding would lose extensions that the types do not know.
//! Only where a point is not in its canonical form is that hashed in place of it (IEEE 1609.2 section
//! 6.1.2).
//!
//! # Not supported
//!
//! - Other curves than P-256, other hashes than SHA-256, implicit certificates, encrypted data, payloads
//!   that are external or omitted, countersignatures: each is refused by its own name.
//! - Enrolment, requests for certificates, trust lists (TS 102 941), peer-to-peer distribution of
//!   certificates: authorities are told of, tickets come with messages.
//! - Chains that are not root, authority, ticket.
//! - Revocation by linkage values, and ETSI's own form of revocation lists; theirs here is IEEE's, by
//!   hash.
//! - CAM and DENM of release 2; the optional parts of a BSM.
//! - Borders of countries: where it is, the receiver is told.
#![forbid(unsafe_code)]

pub mod certificate;
pub mod check;
mod coer;
pub mod hash;
pub mod job;
pub mod json;
pub mod lab;
pub mod location;
pub mod message;
pub mod payload;
mod point;
pub mod refusal;
pub mod revocation;
pub mod sign;
pub mod time;
pub mod traffic;

pub use certificate::Certificate;
pub use check::{Policy, Receiver};
pub use message::SignedMessage;
pub use point::PointForm;
pub use refusal::Refusal;
pub use time::ItsTime;
