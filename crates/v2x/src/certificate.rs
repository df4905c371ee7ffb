//! Certificates: explicit ones, as TS 103 097 section 6 profiles those of IEEE 1609.2.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::asn1::{Value, coer};
use crate::hash::{CertificateHash, HashedId8, SELF_SIGNED, sha256, signed_digest};
use crate::ieee1609::{self, VERSION};
use crate::job::{PublicKey, SignatureJob};
use crate::point::{self, PointForm};
use crate::refusal::{Refusal, Signed};
use crate::time::Validity;

/// The maximum certificate size in bytes. Tickets have about 150, roots with many permissions some
/// hundreds.
pub const MAX_CERTIFICATE_LEN: usize = 2_048;

/// The signer of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The holder of the certificate with this identifier.
    Certificate(HashedId8),
    /// Its own holder: a root.
    Itself,
}

/// A parsed certificate: well-formed, with a known name, but not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCertificate<'a> {
    bytes: &'a [u8],
    issuer: Issuer,
    tbs: Arc<Value>,
    /// What is signed: `tbs` in its canonical form.
    tbs_bytes: Cow<'a, [u8]>,
    signature: Value,
    hash: CertificateHash,
}

impl<'a> ParsedCertificate<'a> {
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<ParsedCertificate<'a>, Refusal> {
        Refusal::limit(bytes.len(), MAX_CERTIFICATE_LEN)?;
        let (parsed, rest) = ParsedCertificate::take(bytes)?;
        coer::finish("certificate", rest)?;
        Ok(parsed)
    }

    /// Takes a certificate from the front of `bytes`, and returns the rest.
    ///
    /// # Errors
    /// If it is malformed, longer than [`MAX_CERTIFICATE_LEN`], implicit, or hashed with another
    /// algorithm than SHA-256.
    pub fn take(bytes: &'a [u8]) -> Result<(ParsedCertificate<'a>, &'a [u8]), Refusal> {
        const WHAT: &str = "certificate";
        let window = &bytes[..bytes.len().min(MAX_CERTIFICATE_LEN)];
        let ([preamble, version, kind], rest) = coer::take_bytes::<3>(WHAT, window)?;
        if *version != VERSION {
            return Err(Refusal::Version(*version));
        }
        // One bit marks a signature; type 1 is implicit (section 6.4.3).
        if *kind == 1 {
            return Err(Refusal::Unsupported("implicit certificates"));
        }
        if *preamble != 0x80 || *kind != 0 {
            return Err(Refusal::CertificateForm(
                "is not an explicit certificate with a signature",
            ));
        }
        let (issuer, rest) = match rest {
            [0x80, rest @ ..] => {
                let (id, rest) = coer::take_bytes(WHAT, rest)?;
                (Issuer::Certificate(HashedId8(*id)), rest)
            }
            [0x81, 0, rest @ ..] => (Issuer::Itself, rest),
            _ => return Err(Refusal::HashAlgorithm),
        };
        let head = &bytes[..window.len() - rest.len()];
        let (tbs, tbs_bytes, rest) = coer::take(WHAT, &ieee1609::ToBeSignedCertificate, rest)?;
        let (signature, signature_bytes, rest) =
            coer::take("certificate's signature", &ieee1609::Signature, rest)?;
        let own = &bytes[..window.len() - rest.len()];
        // The canonical form (section 6.4.3): points compressed, the signature's R by its x alone.
        let tbs_bytes = canonical_tbs(&tbs, tbs_bytes)?;
        let canonical_signature = canonical_signature(&signature);
        let hash = CertificateHash(match (&tbs_bytes, &canonical_signature) {
            (Cow::Borrowed(_), None) => sha256(own),
            (tbs, signature) => {
                sha256(&[head, tbs, signature.as_deref().unwrap_or(signature_bytes)].concat())
            }
        });
        Ok((
            ParsedCertificate { bytes: own, issuer, tbs: tbs.into(), tbs_bytes, signature, hash },
            &bytes[own.len()..],
        ))
    }

    /// Its hash, in the canonical form.
    pub fn hash(&self) -> CertificateHash {
        self.hash
    }

    /// Its signer.
    pub fn issuer(&self) -> Issuer {
        self.issuer
    }

    /// Its bytes, as received.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// A certificate whose form, key and name are known. Checking its signature and permissions takes
/// the issuer's certificate ([`crate::check`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    bytes: Box<[u8]>,
    issuer: Issuer,
    tbs: Arc<Value>,
    tbs_hash_input: Box<[u8]>,
    hash: CertificateHash,
    key: PublicKey,
    validity: Validity,
    r: [u8; 32],
    s: [u8; 32],
}

impl Certificate {
    /// Reads a certificate that fills `bytes`.
    ///
    /// # Errors
    /// If it is malformed, does not match the profile, or uses another curve than P-256.
    pub fn decode(bytes: &[u8]) -> Result<Certificate, Refusal> {
        Certificate::new(&ParsedCertificate::decode(bytes)?)
    }

    /// The certificate that was parsed, with its key decompressed: about 10 us.
    ///
    /// # Errors
    /// If its key or signature is not on P-256, or it does not match the profile of TS 103 097.
    pub fn new(parsed: &ParsedCertificate<'_>) -> Result<Certificate, Refusal> {
        let tbs = &parsed.tbs;
        check_profile(tbs)?;
        let of = match parsed.issuer {
            Issuer::Itself => Signed::Root,
            Issuer::Certificate(_) if tbs.at("certIssuePermissions").is_some() => Signed::Authority,
            Issuer::Certificate(_) => Signed::Ticket,
        };
        let (r, s) = point::signature_scalars(&parsed.signature, of)?;
        let key = tbs.at("verifyKeyIndicator.verificationKey");
        let key = key.ok_or(Refusal::CertificateForm("contains no verification key"))?;
        Ok(Certificate {
            bytes: parsed.bytes.into(),
            issuer: parsed.issuer,
            key: point::public_key(key)?,
            validity: Validity::of(tbs.at("validityPeriod").unwrap_or(&Value::Null)),
            tbs: Arc::clone(tbs),
            tbs_hash_input: (*parsed.tbs_bytes).into(),
            hash: parsed.hash,
            r,
            s,
        })
    }

    /// Its bytes, as received.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its hash. It identifies the certificate, and is the hash of the signer identifier input of
    /// the data that the certificate signs.
    pub fn hash(&self) -> CertificateHash {
        self.hash
    }

    /// The short name by which messages and certificates refer to it.
    pub fn id(&self) -> HashedId8 {
        self.hash.id8()
    }

    /// Its signer.
    pub fn issuer(&self) -> Issuer {
        self.issuer
    }

    /// The key of its holder.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Its validity period.
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// All of its signed content: `ToBeSignedCertificate` of IEEE 1609.2.
    pub fn tbs(&self) -> &Value {
        &self.tbs
    }

    /// The job that verifies the signature of `issuer`.
    pub fn job(&self, issuer: &Certificate) -> SignatureJob {
        let digest = signed_digest(&self.tbs_hash_input, &issuer.hash);
        SignatureJob { key: issuer.key, digest, r: self.r, s: self.s }
    }

    /// The job that verifies its self-signature; `None` if it names another signer.
    pub fn self_signed_job(&self) -> Option<SignatureJob> {
        if self.issuer != Issuer::Itself {
            return None;
        }
        let digest = signed_digest(&self.tbs_hash_input, &SELF_SIGNED);
        Some(SignatureJob { key: self.key, digest, r: self.r, s: self.s })
    }
}

/// TS 103 097 section 6.
fn check_profile(tbs: &Value) -> Result<(), Refusal> {
    let wrong = |what| Err(Refusal::CertificateForm(what));
    if !matches!(tbs.at("id").map(Value::chosen), Some(("name" | "none", _))) {
        return wrong("has an identifier that is neither a name nor none");
    }
    if tbs.at("certRequestPermissions").or(tbs.at("canRequestRollover")).is_some() {
        return wrong("has permissions to request certificates, which ETSI's profile excludes");
    }
    Ok(())
}

/// `tbs` with its points compressed; `bytes` if they are.
fn canonical_tbs<'a>(tbs: &Value, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, Refusal> {
    let key = tbs.at("verifyKeyIndicator.verificationKey.ecdsaNistP256");
    let key = key.and_then(point::compressed);
    let encryption = tbs.at("encryptionKey").and_then(compressed_encryption_key);
    if key.is_none() && encryption.is_none() {
        return Ok(bytes.into());
    }
    let change = |tbs: &mut Json| {
        if let Some(key) = key {
            tbs["verifyKeyIndicator"]["verificationKey"]["ecdsaNistP256"] = key;
        }
        if let Some(key) = encryption {
            tbs["encryptionKey"] = key;
        }
    };
    let kind = &ieee1609::ToBeSignedCertificate;
    coer::changed("certificate", kind, tbs, bytes, change).map(Cow::Owned)
}

/// The key with its point compressed; `None` if it is.
pub(crate) fn compressed_encryption_key(key: &Value) -> Option<Json> {
    let (curve, point) = key.at("publicKey")?.chosen();
    let point = point::compressed(point)?;
    let mut key = key.to_json();
    key["publicKey"][curve] = point;
    Some(key)
}

/// A signature on P-256 with R by its x alone; `None` if it is so, or on another curve.
fn canonical_signature(signature: &Value) -> Option<Vec<u8>> {
    let (r, s) = point::signature_scalars(signature, Signed::Ticket).ok()?;
    let is_canonical = signature.at("ecdsaNistP256Signature.rSig.x-only").is_some();
    (!is_canonical).then(|| point::signature(&r, &s, false, PointForm::XOnly))
}
