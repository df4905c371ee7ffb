//! Why a message or a certificate is not taken.

use std::error::Error;
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Longer than what is taken at all.
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The most that is taken.
        max: usize,
    },
    /// Not an encoding of what it should be.
    Malformed {
        /// Which part.
        what: &'static str,
        /// What the decoder says.
        detail: String,
    },
    /// Complete, and then more follows.
    TrailingBytes {
        /// Which part.
        what: &'static str,
        /// How many bytes are too many.
        len: usize,
    },
    /// Not version 3 of IEEE 1609.2.
    Version(u8),
    /// Not signed data: unsecured, encrypted, or a request for a certificate.
    NotSigned,
    /// Signed data whose payload is not plain (IEEE 1609.2 allows nesting, no V2X message uses it).
    Nested,
    /// Hashed by something else than SHA-256.
    HashAlgorithm,
    /// Signed by itself, or with no or several certificates: TS 103 097 section 5.2 has exactly one.
    SignerForm,
    /// A signature on another curve than P-256.
    SignatureCurve {
        /// Of what.
        of: Signed,
    },
    /// A signature whose point R is `fill`, which is no point.
    FillPoint {
        /// Of what.
        of: Signed,
    },
    /// A key on another curve than P-256.
    KeyCurve,
    /// A key that is not a point of the curve, or only half of one.
    KeyNotOnCurve,
    /// A certificate that is not of the form of TS 103 097 section 6.
    CertificateForm(&'static str),
    /// A header field that is missing, or that messages of this kind must not have (TS 103 097
    /// section 7).
    Header(&'static str),
    /// Of an application that this receiver does not serve.
    Psid(u64),
    /// Generated too long ago.
    TooOld {
        /// How long ago.
        age: Duration,
    },
    /// Generated later than now.
    FromTheFuture {
        /// How much later.
        by: Duration,
    },
    /// Beyond its own expiry time.
    Expired,
    /// Signed by a certificate that is not known: ask for it, or wait for a message that has it.
    UnknownSigner(HashedId8),
    /// Signed by a ticket of an authority that is not known or not trusted.
    UnknownIssuer(HashedId8),
    /// A certificate that is not valid yet.
    NotYetValid {
        /// Which one.
        of: Signed,
    },
    /// A certificate that is no longer valid.
    CertificateExpired {
        /// Which one.
        of: Signed,
    },
    /// A certificate that is valid when its issuer is not.
    OutlivesIssuer,
    /// A place where the certificate is not valid.
    OutOfRegion,
    /// A certificate for a region that its issuer has no say in.
    RegionBeyondIssuer,
    /// Generated further away than any radio reaches.
    TooFar {
        /// Metres from the receiver.
        distance_m: u32,
    },
    /// The certificate does not allow this application.
    PsidNotPermitted(u64),
    /// The certificate allows the application, but not this of it.
    ServiceNotPermitted(&'static str),
    /// The issuer may not give this application's permissions.
    IssueNotPermitted(u64),
    /// A certificate on a revocation list.
    Revoked(HashedId8),
    /// A signature that does not verify.
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLong { len, max } => write!(f, "{len} B, where {max} B are the most"),
            Refusal::Malformed { what, detail } => write!(f, "the {what} is malformed: {detail}"),
            Refusal::TrailingBytes { what, len } => write!(f, "{len} B follow the {what}"),
            Refusal::Version(version) => write!(f, "version {version} of IEEE 1609.2, not 3"),
            Refusal::NotSigned => write!(f, "the content is not signed data"),
            Refusal::Nested => write!(f, "the signed payload is not plain data"),
            Refusal::HashAlgorithm => write!(f, "the hash algorithm is not SHA-256"),
            Refusal::SignerForm => write!(f, "the signer is neither a digest nor one certificate"),
            Refusal::SignatureCurve { of } => write!(f, "the {of}'s signature is not on P-256"),
            Refusal::FillPoint { of } => write!(f, "the {of}'s signature has no point R (fill)"),
            Refusal::KeyCurve => write!(f, "the certificate's key is not on P-256"),
            Refusal::KeyNotOnCurve => write!(f, "the certificate's key is no point of P-256"),
            Refusal::CertificateForm(what) => write!(f, "the certificate {what}"),
            Refusal::Header(what) => write!(f, "the header {what}"),
            Refusal::Psid(psid) => write!(f, "application {psid} is not served here"),
            Refusal::TooOld { age } => write!(f, "generated {age:?} ago"),
            Refusal::FromTheFuture { by } => write!(f, "generated {by:?} from now"),
            Refusal::Expired => write!(f, "beyond its expiry time"),
            Refusal::UnknownSigner(id) => write!(f, "no certificate {id} is known"),
            Refusal::UnknownIssuer(id) => write!(f, "no authority {id} is known and trusted"),
            Refusal::NotYetValid { of } => write!(f, "the {of} is not valid yet"),
            Refusal::CertificateExpired { of } => write!(f, "the {of} has expired"),
            Refusal::OutlivesIssuer => write!(f, "valid at times at which the issuer is not"),
            Refusal::OutOfRegion => write!(f, "outside the region of the certificate"),
            Refusal::RegionBeyondIssuer => write!(f, "for a region that the issuer is not for"),
            Refusal::TooFar { distance_m } => write!(f, "generated {distance_m} m away"),
            Refusal::PsidNotPermitted(psid) => {
                write!(f, "the certificate has no permission for application {psid}")
            }
            Refusal::ServiceNotPermitted(what) => {
                write!(f, "the certificate has no permission for {what}")
            }
            Refusal::IssueNotPermitted(psid) => {
                write!(f, "the issuer may not permit what the certificate has for {psid}")
            }
            Refusal::Revoked(id) => write!(f, "certificate {id} is revoked"),
            Refusal::BadSignature { of } => write!(f, "the {of}'s signature does not verify"),
        }
    }
}

impl Error for Refusal {}
