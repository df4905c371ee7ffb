//! Received signed messages: `Ieee1609Dot2Data` with signed data in it (IEEE 1609.2 section 6.3).

use serde_json::Value as Json;

use crate::asn1::{Value, coer};
use crate::certificate::{ParsedCertificate, compressed_encryption_key};
use crate::hash::{CertificateHash, HashedId8, signed_digest};
use crate::ieee1609::{self, VERSION};
use crate::job::{PublicKey, SignatureJob};
use crate::location::Position;
use crate::point;
use crate::refusal::{Refusal, Signed};
use crate::time::ItsTime;

/// The maximum message size in bytes: three times the payload of an ITS-G5 frame.
pub const MAX_MESSAGE_LEN: usize = 4_608;

/// The signer of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signer<'a> {
    /// The holder of the certificate with this name, which arrived earlier.
    Digest(HashedId8),
    /// The holder of this certificate.
    Certificate(Box<ParsedCertificate<'a>>),
}

/// A parsed message: well-formed, but not checked. It borrows the received bytes, because these
/// were signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedMessage<'a> {
    /// What is signed: the payload with what belongs to it, then the header.
    tbs_bytes: &'a [u8],
    header_bytes: &'a [u8],
    payload: &'a [u8],
    header: Value,
    signer: Signer<'a>,
    r: [u8; 32],
    s: [u8; 32],
}

impl<'a> SignedMessage<'a> {
    /// Reads a message that fills `bytes`.
    ///
    /// # Errors
    /// If it is malformed, longer than [`MAX_MESSAGE_LEN`], not signed, hashed with another
    /// algorithm than SHA-256, signed on another curve than P-256, or with a signer other than a
    /// digest or one certificate.
    pub fn decode(bytes: &'a [u8]) -> Result<SignedMessage<'a>, Refusal> {
        Refusal::limit(bytes.len(), MAX_MESSAGE_LEN)?;
        const WHAT: &str = "message";
        let ([version, content], rest) = coer::take_bytes::<2>(WHAT, bytes)?;
        if *version != VERSION {
            return Err(Refusal::Version(*version));
        }
        // The second alternative of Ieee1609Dot2Content.
        if *content != 0x81 {
            return Err(Refusal::NotSigned);
        }
        let ([hash_id], rest) = coer::take_bytes::<1>(WHAT, rest)?;
        if *hash_id != 0 {
            return Err(Refusal::HashAlgorithm);
        }
        let tbs = rest;
        let (payload, rest) = take_payload(tbs)?;
        let (header, header_bytes, rest) = coer::take("header", &ieee1609::HeaderInfo, rest)?;
        let tbs_bytes = &tbs[..tbs.len() - rest.len()];
        let (signer, rest) = take_signer(rest)?;
        let (signature, _, rest) = coer::take("signature", &ieee1609::Signature, rest)?;
        coer::finish(WHAT, rest)?;
        let (r, s) = point::signature_scalars(&signature, Signed::Message)?;
        Ok(SignedMessage { tbs_bytes, header_bytes, payload, header, signer, r, s })
    }

    /// Its signer.
    pub fn signer(&self) -> &Signer<'a> {
        &self.signer
    }

    /// All of its header: `HeaderInfo` of IEEE 1609.2.
    pub fn header(&self) -> &Value {
        &self.header
    }

    /// Its application (PSID or ITS-AID).
    pub fn psid(&self) -> u64 {
        psid(&self.header)
    }

    /// Its generation time, if given.
    pub fn generation_time(&self) -> Option<ItsTime> {
        self.time("generationTime")
    }

    /// Its expiry time, if given.
    pub fn expiry_time(&self) -> Option<ItsTime> {
        self.time("expiryTime")
    }

    fn time(&self, field: &str) -> Option<ItsTime> {
        self.header.integer(field).map(|micros| ItsTime::from_micros(micros.unsigned_abs()))
    }

    /// Its generation location, if given and known.
    pub fn generation_location(&self) -> Option<Position> {
        Position::of(self.header.at("generationLocation")?).known()
    }

    /// The signed payload: for ETSI's messages a GeoNetworking packet from its common header on,
    /// for a basic safety message the message itself.
    pub fn payload(&self) -> &[u8] {
        self.payload
    }

    /// The job that verifies the signature by the holder of `key` and of the certificate with this
    /// hash.
    ///
    /// # Errors
    /// Only if the header has a point that is not canonical and cannot be re-encoded.
    pub fn job(&self, key: &PublicKey, signer: &CertificateHash) -> Result<SignatureJob, Refusal> {
        let digest = match self.canonical_tbs()? {
            Some(canonical) => signed_digest(&canonical, signer),
            None => signed_digest(self.tbs_bytes, signer),
        };
        Ok(SignatureJob { key: *key, digest, r: self.r, s: self.s })
    }

    /// IEEE 1609.2 section 6.3.9: a point in the encryption key is signed in its compressed form.
    fn canonical_tbs(&self) -> Result<Option<Vec<u8>>, Refusal> {
        let key = self.header.at("encryptionKey.public").and_then(compressed_encryption_key);
        let Some(key) = key else { return Ok(None) };
        let change = |header: &mut Json| header["encryptionKey"]["public"] = key;
        let kind = &ieee1609::HeaderInfo;
        let header = coer::changed("header", kind, &self.header, self.header_bytes, change)?;
        let payload = &self.tbs_bytes[..self.tbs_bytes.len() - self.header_bytes.len()];
        Ok(Some([payload, &header].concat()))
    }
}

/// The payload at the front of `tbs`, and what follows it. Only plain data: nested signed data would
/// let an attacker choose the recursion depth.
fn take_payload(tbs: &[u8]) -> Result<(&[u8], &[u8]), Refusal> {
    const WHAT: &str = "signed content";
    // The presence of `data` (without extensions, with or without a hash of other data), its version,
    // and the first alternative, which is unsecured data.
    let (hashes, rest) = match tbs {
        [presence @ (0x40 | 0x60), VERSION, 0x80, rest @ ..] => (presence & 0x20 != 0, rest),
        [_, _, _, ..] => return Err(Refusal::Nested),
        _ => return Err(Refusal::malformed(WHAT, &"it ends too early")),
    };
    let (payload, mut rest) = coer::take_octets(WHAT, rest)?;
    if hashes {
        (_, _, rest) = coer::take(WHAT, &ieee1609::HashedData, rest)?;
    }
    Ok((payload, rest))
}

fn take_signer(bytes: &[u8]) -> Result<(Signer<'_>, &[u8]), Refusal> {
    const WHAT: &str = "signer";
    let ([choice], rest) = coer::take_bytes::<1>(WHAT, bytes)?;
    match choice {
        0x80 => {
            let (id, rest) = coer::take_bytes::<8>(WHAT, rest)?;
            Ok((Signer::Digest(HashedId8(*id)), rest))
        }
        0x81 => {
            // How many there are, in one byte: one.
            let (quantity, rest) = coer::take_bytes::<2>(WHAT, rest)?;
            if *quantity != [1, 1] {
                return Err(Refusal::SignerForm);
            }
            let (certificate, rest) = ParsedCertificate::take(rest)?;
            Ok((Signer::Certificate(Box::new(certificate)), rest))
        }
        _ => Err(Refusal::SignerForm),
    }
}

pub(crate) fn psid(value: &Value) -> u64 {
    value.integer("psid").unwrap_or_default().unsigned_abs()
}
