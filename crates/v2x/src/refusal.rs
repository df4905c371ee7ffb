//! Reasons to refuse a message or a certificate.

use std::fmt;
use std::time::Duration;

use trackbed_core::named;

use crate::hash::HashedId8;

named! {
    /// What a refused signature or date belongs to.
    #[derive(PartialOrd, Ord)]
    pub enum Signed {
        /// A message, by its ticket.
        Message = "message",
        /// An authorization ticket, by its authority.
        Ticket = "authorization ticket",
        /// An authorization authority, by its root.
        Authority = "authorization authority's certificate",
        /// A root certificate, by itself.
        Root = "root certificate",
    }
}

/// Why a message or certificate was refused. No refusal affects the receiver: the next message is
/// checked as if this one had never arrived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum Refusal {
    #[error("{len} B, more than the maximum of {max} B")]
    TooLong { len: usize, max: usize },
    #[error("the {what} is malformed: {detail}")]
    Malformed { what: &'static str, detail: String },
    #[error("{len} B follow the {what}")]
    TrailingBytes { what: &'static str, len: usize },
    #[error("version {0} of IEEE 1609.2, not 3")]
    Version(u8),
    /// Not signed data: unsecured, encrypted, or a request for a certificate.
    #[error("the content is not signed data")]
    NotSigned,
    /// Signed data whose payload is not plain (IEEE 1609.2 allows nesting, no V2X message uses it).
    #[error("the signed payload is not plain data")]
    Nested,
    #[error("the hash algorithm is not SHA-256")]
    HashAlgorithm,
    /// Signed by itself, or with no or several certificates: TS 103 097 section 5.2 has exactly one.
    #[error("the signer is neither a digest nor one certificate")]
    SignerForm,
    #[error("the {of}'s signature is an {kind}, not on P-256")]
    SignatureCurve { of: Signed, kind: &'static str },
    #[error("the {of}'s signature has no point R (fill)")]
    FillPoint { of: Signed },
    #[error("the certificate's key is an {0}, not on P-256")]
    KeyCurve(&'static str),
    #[error("the certificate's key is not a point of P-256")]
    KeyNotOnCurve,
    #[error("the certificate {0}")]
    CertificateForm(&'static str),
    /// A header field that is missing, or that messages of this kind must not have (TS 103 097
    /// section 7).
    #[error("the header {0}")]
    Header(&'static str),
    #[error("application {0} is not supported")]
    Psid(u64),
    /// It may be valid, but this crate cannot read it.
    #[error("{0} are not supported")]
    Unsupported(&'static str),
    #[error("generated {age:?} ago")]
    TooOld { age: Duration },
    #[error("generated {by:?} in the future")]
    FromTheFuture { by: Duration },
    #[error("the message has expired")]
    Expired,
    /// Signed by an unknown certificate: request it, or wait for a message that has it.
    #[error("unknown certificate {0}")]
    UnknownSigner(HashedId8),
    #[error("unknown or untrusted authority {0}")]
    UnknownIssuer(HashedId8),
    #[error("the {of} is not valid yet")]
    NotYetValid { of: Signed },
    #[error("the {of} has expired")]
    CertificateExpired { of: Signed },
    #[error("valid outside the issuer's validity period")]
    OutlivesIssuer,
    #[error("outside the certificate's region")]
    OutOfRegion,
    /// Its certificate has a region, and neither the message nor the receiver has a position.
    #[error("no position to compare with the certificate's region")]
    NoPosition,
    #[error("the region is outside the issuer's region")]
    RegionBeyondIssuer,
    #[error("generated {distance_m} m away")]
    TooFar {
        /// Metres from the receiver.
        distance_m: u32,
    },
    #[error("the certificate has no permission for application {0}")]
    PsidNotPermitted(u64),
    /// The certificate allows the application, but not this service.
    #[error("the certificate has no permission for {0}")]
    ServiceNotPermitted(&'static str),
    #[error("the issuer may not grant the certificate's permissions for application {0}")]
    IssueNotPermitted(u64),
    #[error("the {of}'s signature does not verify")]
    BadSignature { of: Signed },
}

impl Refusal {
    /// Refuses more than `max`.
    pub(crate) fn limit(len: usize, max: usize) -> Result<(), Refusal> {
        if len > max { Err(Refusal::TooLong { len, max }) } else { Ok(()) }
    }

    /// A decoder's message, truncated for logs.
    pub(crate) fn malformed(what: &'static str, error: &impl fmt::Display) -> Refusal {
        let detail = error.to_string().chars().take(160).collect();
        Refusal::Malformed { what, detail }
    }
}
