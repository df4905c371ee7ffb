//! Why a message or a certificate is not taken.

use std::fmt;
use std::time::Duration;

use crate::hash::HashedId8;

/// What a refused signature or date belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signed {
    /// A message, by its ticket.
    Message,
    /// An authorization ticket, by its authority.
    Ticket,
    /// An authorization authority, by its root.
    Authority,
    /// A root certificate, by itself.
    Root,
}

/// Why something was refused. None of them is fatal to whoever checks: the next message is checked as
/// if this one had never come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Longer than what is taken at all.
    #[error("{len} B, where {max} B are the most")]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The most that is taken.
        max: usize,
    },
    /// Not an encoding of what it should be.
    #[error("the {what} is malformed: {detail}")]
    Malformed {
        /// Which part.
        what: &'static str,
        /// What the decoder says.
        detail: String,
    },
    /// Complete, and then more follows.
    #[error("{len} B follow the {what}")]
    TrailingBytes {
        /// Which part.
        what: &'static str,
        /// How many bytes are too many.
        len: usize,
    },
    /// Not version 3 of IEEE 1609.2.
    #[error("version {0} of IEEE 1609.2, not 3")]
    Version(u8),
    /// Not signed data: unsecured, encrypted, or a request for a certificate.
    #[error("the content is not signed data")]
    NotSigned,
    /// Signed data whose payload is not plain (IEEE 1609.2 allows nesting, no V2X message uses it).
    #[error("the signed payload is not plain data")]
    Nested,
    /// Hashed by something else than SHA-256.
    #[error("the hash algorithm is not SHA-256")]
    HashAlgorithm,
    /// Signed by itself, or with no or several certificates: TS 103 097 section 5.2 has exactly one.
    #[error("the signer is neither a digest nor one certificate")]
    SignerForm,
    /// A signature on another curve than P-256.
    #[error("the {of}'s signature is not on P-256")]
    SignatureCurve {
        /// Of what.
        of: Signed,
    },
    /// A signature whose point R is `fill`, which is no point.
    #[error("the {of}'s signature has no point R (fill)")]
    FillPoint {
        /// Of what.
        of: Signed,
    },
    /// A key on another curve than P-256.
    #[error("the certificate's key is not on P-256")]
    KeyCurve,
    /// A key that is not a point of the curve, or only half of one.
    #[error("the certificate's key is no point of P-256")]
    KeyNotOnCurve,
    /// A certificate that is not of the form of TS 103 097 section 6.
    #[error("the certificate {0}")]
    CertificateForm(&'static str),
    /// A header field that is missing, or that messages of this kind must not have (TS 103 097
    /// section 7).
    #[error("the header {0}")]
    Header(&'static str),
    /// Of an application that this receiver does not serve.
    #[error("application {0} is not served here")]
    Psid(u64),
    /// Generated too long ago.
    #[error("generated {age:?} ago")]
    TooOld {
        /// How long ago.
        age: Duration,
    },
    /// Generated later than now.
    #[error("generated {by:?} from now")]
    FromTheFuture {
        /// How much later.
        by: Duration,
    },
    /// Beyond its own expiry time.
    #[error("beyond its expiry time")]
    Expired,
    /// Signed by a certificate that is not known: ask for it, or wait for a message that has it.
    #[error("no certificate {0} is known")]
    UnknownSigner(HashedId8),
    /// Signed by a ticket of an authority that is not known or not trusted.
    #[error("no authority {0} is known and trusted")]
    UnknownIssuer(HashedId8),
    /// A certificate that is not valid yet.
    #[error("the {of} is not valid yet")]
    NotYetValid {
        /// Which one.
        of: Signed,
    },
    /// A certificate that is no longer valid.
    #[error("the {of} has expired")]
    CertificateExpired {
        /// Which one.
        of: Signed,
    },
    /// A certificate that is valid when its issuer is not.
    #[error("valid at times at which the issuer is not")]
    OutlivesIssuer,
    /// A place where the certificate is not valid.
    #[error("outside the region of the certificate")]
    OutOfRegion,
    /// A certificate for a region that its issuer has no say in.
    #[error("for a region that the issuer is not for")]
    RegionBeyondIssuer,
    /// Generated further away than any radio reaches.
    #[error("generated {distance_m} m away")]
    TooFar {
        /// Metres from the receiver.
        distance_m: u32,
    },
    /// The certificate does not allow this application.
    #[error("the certificate has no permission for application {0}")]
    PsidNotPermitted(u64),
    /// The certificate allows the application, but not this of it.
    #[error("the certificate has no permission for {0}")]
    ServiceNotPermitted(&'static str),
    /// The issuer may not give this application's permissions.
    #[error("the issuer may not permit what the certificate has for {0}")]
    IssueNotPermitted(u64),
    /// A certificate on a revocation list.
    #[error("certificate {0} is revoked")]
    Revoked(HashedId8),
    /// A signature that does not verify.
    #[error("the {of}'s signature does not verify")]
    BadSignature {
        /// Of what.
        of: Signed,
    },
}

impl Refusal {
    /// A short name of the reason, the same for all that were refused for it: to count by.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::TooLong { .. } => "too-long",
            Refusal::Malformed { .. } => "malformed",
            Refusal::TrailingBytes { .. } => "trailing-bytes",
            Refusal::Version(_) => "version",
            Refusal::NotSigned => "not-signed",
            Refusal::Nested => "nested",
            Refusal::HashAlgorithm => "hash-algorithm",
            Refusal::SignerForm => "signer-form",
            Refusal::SignatureCurve { .. } => "signature-curve",
            Refusal::FillPoint { .. } => "fill-point",
            Refusal::KeyCurve => "key-curve",
            Refusal::KeyNotOnCurve => "key-not-on-curve",
            Refusal::CertificateForm(_) => "certificate-form",
            Refusal::Header(_) => "header",
            Refusal::Psid(_) => "psid",
            Refusal::TooOld { .. } => "too-old",
            Refusal::FromTheFuture { .. } => "from-the-future",
            Refusal::Expired => "expired",
            Refusal::UnknownSigner(_) => "unknown-signer",
            Refusal::UnknownIssuer(_) => "unknown-issuer",
            Refusal::NotYetValid { .. } => "certificate-not-yet-valid",
            Refusal::CertificateExpired { .. } => "certificate-expired",
            Refusal::OutlivesIssuer => "outlives-issuer",
            Refusal::OutOfRegion => "out-of-region",
            Refusal::RegionBeyondIssuer => "region-beyond-issuer",
            Refusal::TooFar { .. } => "too-far",
            Refusal::PsidNotPermitted(_) => "psid-not-permitted",
            Refusal::ServiceNotPermitted(_) => "service-not-permitted",
            Refusal::IssueNotPermitted(_) => "issue-not-permitted",
            Refusal::Revoked(_) => "revoked",
            Refusal::BadSignature { .. } => "bad-signature",
        }
    }

    /// What a decoder says, cut to a length that a log can bear.
    pub(crate) fn malformed(what: &'static str, error: &impl fmt::Display) -> Refusal {
        let detail = error.to_string().chars().take(160).collect();
        Refusal::Malformed { what, detail }
    }
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Signed::Message => "message",
            Signed::Ticket => "authorization ticket",
            Signed::Authority => "authorization authority's certificate",
            Signed::Root => "root certificate",
        })
    }
}
