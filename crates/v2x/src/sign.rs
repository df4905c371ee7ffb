//! Signing: messages by the holders of tickets, certificates by authorities.

use std::sync::Arc;

use p256::ecdsa::SigningKey;
use serde_json::{Value as Json, json};
use trackbed_core::Rng;

use crate::asn1::coer;
use crate::certificate::Certificate;
use crate::hash::{CertificateHash, signed_digest};
use crate::ieee1609::{self, VERSION};
use crate::job::PublicKey;
use crate::location::Position;
use crate::point::{self, PointForm};
use crate::refusal::Refusal;
use crate::time::ItsTime;

/// A private key on P-256. It signs deterministically (RFC 6979): the nonce comes from the key and
/// the digest, so that runs are repeatable, and no weak random-number generator reveals the key.
#[derive(Clone)]
pub struct PrivateKey {
    secret: SigningKey,
    public: PublicKey,
}

impl PrivateKey {
    /// The next key of a stream.
    pub fn from_stream(rng: &mut Rng) -> PrivateKey {
        loop {
            let mut bytes = [0; 32];
            rng.fill(&mut bytes);
            // Zero, or not below the group's order: one in 2^32.
            if let Some(key) = PrivateKey::from_bytes(&bytes) {
                return key;
            }
        }
    }

    /// The key that is this number, big-endian; `None` if it is zero or not below the group's order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<PrivateKey> {
        let secret = SigningKey::from_bytes(bytes.into()).ok()?;
        let point = secret.verifying_key().to_sec1_point(false);
        let public = PublicKey::from_coordinates(&(*point.x()?).into(), &(*point.y()?).into())?;
        Some(PrivateKey { secret, public })
    }

    /// Its public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The signature of a digest, its point R in the requested form.
    pub(crate) fn sign(&self, digest: &[u8; 32], form: PointForm) -> Vec<u8> {
        let (signature, recovery) = self.secret.sign_prehash_recoverable(digest);
        let (r, s) = signature.split_bytes();
        point::signature(&r.into(), &s.into(), recovery.is_y_odd(), form)
    }
}

/// The input of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned<'a> {
    /// The application ([`crate::payload::psid`]).
    pub psid: u64,
    /// The bytes that are signed.
    pub payload: &'a [u8],
    /// When they were generated.
    pub generation_time: ItsTime,
    /// Their expiry time, if it is included.
    pub expiry_time: Option<ItsTime>,
    /// Their generation location, if it is included; required for DENMs.
    pub generation_location: Option<Position>,
}

impl<'a> Unsigned<'a> {
    /// A message without an expiry time and a location.
    pub fn new(psid: u64, payload: &'a [u8], generation_time: ItsTime) -> Unsigned<'a> {
        let (expiry_time, generation_location) = (None, None);
        Unsigned { psid, payload, generation_time, expiry_time, generation_location }
    }
}

/// How the signer is identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identification {
    /// By the eight bytes that name its certificate: short, but only for receivers that have it.
    Digest,
    /// By the certificate itself.
    Certificate,
}

/// The holder of a certificate: an authorization ticket, or that of an authority.
#[derive(Clone)]
pub struct Holder {
    certificate: Arc<Certificate>,
    key: PrivateKey,
}

impl Holder {
    /// The holder of `certificate` with `key`; `None` if the key is not the certificate's.
    pub fn new(certificate: Arc<Certificate>, key: PrivateKey) -> Option<Holder> {
        (certificate.key() == key.public()).then_some(Holder { certificate, key })
    }

    /// The certificate.
    pub fn certificate(&self) -> &Arc<Certificate> {
        &self.certificate
    }

    pub(crate) fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// Signs a message: returns the bytes to transmit.
    ///
    /// # Errors
    /// If a value does not fit its field, such as an invalid place.
    pub fn sign(
        &self,
        message: &Unsigned<'_>,
        identification: Identification,
        form: PointForm,
    ) -> Result<Vec<u8>, Refusal> {
        let tbs = to_be_signed(message)?;
        let signature = self.key.sign(&signed_digest(&tbs, &self.certificate.hash()), form);
        // protocolVersion 3, signedData, sha256
        let mut out = Vec::with_capacity(tbs.len() + 256);
        out.extend([VERSION, 0x81, 0]);
        out.extend(tbs);
        match identification {
            Identification::Digest => {
                out.push(0x80);
                out.extend(self.certificate.id().0);
            }
            Identification::Certificate => {
                // One certificate, counted in one byte.
                out.extend([0x81, 1, 1]);
                out.extend(self.certificate.bytes());
            }
        }
        out.extend(signature);
        Ok(out)
    }
}

fn to_be_signed(message: &Unsigned<'_>) -> Result<Vec<u8>, Refusal> {
    let mut header = json!({
        "psid": message.psid,
        "generationTime": message.generation_time.as_micros(),
    });
    if let Some(time) = message.expiry_time {
        header["expiryTime"] = time.as_micros().into();
    }
    if let Some(Position { latitude, longitude }) = message.generation_location {
        // An elevation of 0xF000 is unknown (section 6.3.18).
        header["generationLocation"] =
            json!({ "latitude": latitude, "longitude": longitude, "elevation": 0xf000 });
    }
    // Plain data are present, of this version, unsecured.
    let mut tbs = vec![0x40, VERSION, 0x80];
    coer::length(message.payload.len(), &mut tbs);
    tbs.extend(message.payload);
    tbs.extend(coer::encode("header", &ieee1609::HeaderInfo, &header)?);
    Ok(tbs)
}

/// Signs a certificate with these contents (`ToBeSignedCertificate`): `issuer` is its issuer
/// (`IssuerIdentifier`), with the hash of the issuer's certificate and its key, or
/// [`crate::hash::SELF_SIGNED`] and its own key.
pub(crate) fn sign_certificate(
    tbs: &Json,
    issuer: &Json,
    signer: &CertificateHash,
    key: &PrivateKey,
) -> Result<Certificate, Refusal> {
    let tbs = coer::encode("certificate", &ieee1609::ToBeSignedCertificate, tbs)?;
    // A signature is present; version 3; explicit.
    let mut out = vec![0x80, VERSION, 0];
    out.extend(coer::encode("issuer", &ieee1609::IssuerIdentifier, issuer)?);
    out.extend(&tbs);
    out.extend(key.sign(&signed_digest(&tbs, signer), PointForm::XOnly));
    Certificate::decode(&out)
}
