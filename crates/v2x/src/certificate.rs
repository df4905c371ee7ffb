//! Certificates: explicit ones, as TS 103 097 section 6 profiles those of IEEE 1609.2.

use rasn_its::ieee1609dot2 as asn1;
use rasn_its::ieee1609dot2::base_types as base;

use crate::hash::{CertificateHash, HashedId8, SELF_SIGNED, sha256, signed_digest};
use crate::job::{PublicKey, SignatureJob};
use crate::refusal::{Refusal, Signed};
use crate::time::Validity;
use crate::{coer, point};

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
    tbs: asn1::ToBeSignedCertificate,
    tbs_bytes: &'a [u8],
    signature: base::Signature,
    hash: CertificateHash,
}

impl<'a> ParsedCertificate<'a> {
    /// Parses a certificate that fills `bytes`.
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
        if *version != asn1::CertificateBase::VERSION {
            return Err(Refusal::Version(*version));
        }
        // One bit marks a signature; type 1 is implicit (section 6.4.3).
        if *preamble != 0x80 || *kind != 0 {
            return Err(Refusal::CertificateForm(
                "is not an explicit certificate with a signature",
            ));
        }
        let (issuer, _, rest) = coer::take::<asn1::IssuerIdentifier>("issuer", rest)?;
        let (tbs, tbs_bytes, rest) = coer::take::<asn1::ToBeSignedCertificate>(WHAT, rest)?;
        let (signature, _, rest) = coer::take::<base::Signature>("certificate's signature", rest)?;
        let own = &bytes[..window.len() - rest.len()];
        let issuer = match issuer {
            asn1::IssuerIdentifier::Sha256AndDigest(id) => Issuer::Certificate(HashedId8(*id.0)),
            asn1::IssuerIdentifier::VSelf(base::HashAlgorithm::Sha256) => Issuer::Itself,
            _ => return Err(Refusal::HashAlgorithm),
        };
        let hash = CertificateHash(match canonical(own, &tbs, &signature)? {
            Some(canonical) => sha256(&canonical),
            None => sha256(own),
        });
        Ok((
            ParsedCertificate { bytes: own, issuer, tbs, tbs_bytes, signature, hash },
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
    tbs: asn1::ToBeSignedCertificate,
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
            Issuer::Certificate(_) if tbs.cert_issue_permissions.is_some() => Signed::Authority,
            Issuer::Certificate(_) => Signed::Ticket,
        };
        let (r, s) = point::signature_scalars(&parsed.signature, of)?;
        let asn1::VerificationKeyIndicator::VerificationKey(key) = &tbs.verify_key_indicator else {
            return Err(Refusal::CertificateForm("contains no verification key"));
        };
        let tbs_hash_input = match canonical_tbs(tbs) {
            Some(canonical) => coer::encode("certificate", &canonical)?.into(),
            None => parsed.tbs_bytes.into(),
        };
        Ok(Certificate {
            bytes: parsed.bytes.into(),
            issuer: parsed.issuer,
            key: point::public_key(key)?,
            validity: Validity::from(&tbs.validity_period),
            tbs: tbs.clone(),
            tbs_hash_input,
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

    /// All of its signed content.
    pub fn tbs(&self) -> &asn1::ToBeSignedCertificate {
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
fn check_profile(tbs: &asn1::ToBeSignedCertificate) -> Result<(), Refusal> {
    let wrong = |what| Err(Refusal::CertificateForm(what));
    if !matches!(tbs.id, asn1::CertificateId::Name(_) | asn1::CertificateId::None(())) {
        return wrong("has an identifier that is neither a name nor none");
    }
    if tbs.cert_request_permissions.is_some() || tbs.can_request_rollover.is_some() {
        return wrong("has permissions to request certificates, which ETSI's profile excludes");
    }
    Ok(())
}

/// The canonical form of a certificate (IEEE 1609.2 section 6.4.3: points compressed, the signature's
/// R by its x alone), or `None` if it came in that.
fn canonical(
    bytes: &[u8],
    tbs: &asn1::ToBeSignedCertificate,
    signature: &base::Signature,
) -> Result<Option<Vec<u8>>, Refusal> {
    let canonical_tbs = canonical_tbs(tbs);
    let canonical_signature = canonical_signature(signature);
    if canonical_tbs.is_none() && canonical_signature.is_none() {
        return Ok(None);
    }
    let (_, _, behind) = coer::take::<asn1::IssuerIdentifier>("issuer", &bytes[3..])?;
    let mut out = bytes[..bytes.len() - behind.len()].to_vec();
    out.extend(coer::encode("certificate", canonical_tbs.as_ref().unwrap_or(tbs))?);
    let signature = canonical_signature.as_ref().unwrap_or(signature);
    out.extend(coer::encode("certificate's signature", signature)?);
    Ok(Some(out))
}

fn canonical_tbs(tbs: &asn1::ToBeSignedCertificate) -> Option<asn1::ToBeSignedCertificate> {
    let key = match &tbs.verify_key_indicator {
        asn1::VerificationKeyIndicator::VerificationKey(
            base::PublicVerificationKey::EcdsaNistP256(key),
        ) => point::compressed(key),
        _ => None,
    };
    let encryption = tbs.encryption_key.as_ref().and_then(compressed_encryption_key);
    if key.is_none() && encryption.is_none() {
        return None;
    }
    let mut tbs = tbs.clone();
    if let Some(key) = key {
        tbs.verify_key_indicator = asn1::VerificationKeyIndicator::VerificationKey(
            base::PublicVerificationKey::EcdsaNistP256(key),
        );
    }
    tbs.encryption_key = encryption.or(tbs.encryption_key);
    Some(tbs)
}

/// The key with its point compressed; `None` if it is.
pub(crate) fn compressed_encryption_key(
    key: &base::PublicEncryptionKey,
) -> Option<base::PublicEncryptionKey> {
    use base::BasePublicEncryptionKey as Key;
    let public_key = match &key.public_key {
        Key::EciesNistP256(point) => Key::EciesNistP256(point::compressed(point)?),
        Key::EciesBrainpoolP256r1(point) => Key::EciesBrainpoolP256r1(point::compressed(point)?),
        _ => return None,
    };
    Some(base::PublicEncryptionKey { supported_symm_alg: key.supported_symm_alg, public_key })
}

fn canonical_signature(signature: &base::Signature) -> Option<base::Signature> {
    let base::Signature::EcdsaNistP256(inner) = signature else { return None };
    let x = match &inner.r_sig {
        base::EccP256CurvePoint::CompressedY0(x) | base::EccP256CurvePoint::CompressedY1(x) => x,
        base::EccP256CurvePoint::Uncompressed(point) => &point.x,
        base::EccP256CurvePoint::XOnly(_) | base::EccP256CurvePoint::Fill(()) => return None,
    };
    Some(base::Signature::EcdsaNistP256(base::EcdsaP256Signature {
        r_sig: base::EccP256CurvePoint::XOnly(*x),
        s_sig: inner.s_sig,
    }))
}
