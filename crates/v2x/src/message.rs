//! Received signed messages: `Ieee1609Dot2Data` with signed data in it (IEEE 1609.2 section 6.3).

use rasn_its::ieee1609dot2 as asn1;
use rasn_its::ieee1609dot2::base_types as base;

use crate::certificate::{ParsedCertificate, compressed_encryption_key};
use crate::hash::{CertificateHash, HashedId8, signed_digest};
use crate::job::{PublicKey, SignatureJob};
use crate::location::Position;
use crate::refusal::{Refusal, Signed};
use crate::time::ItsTime;
use crate::{coer, point};

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
    tbs: asn1::ToBeSignedData,
    tbs_bytes: &'a [u8],
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
        SignedMessage::decode_unlimited(bytes)
    }

    /// Like [`SignedMessage::decode`], of any length: revocation lists are long.
    pub(crate) fn decode_unlimited(bytes: &'a [u8]) -> Result<SignedMessage<'a>, Refusal> {
        const WHAT: &str = "message";
        let ([version, content], rest) = coer::take_bytes::<2>(WHAT, bytes)?;
        if *version != asn1::Ieee1609Dot2Data::VERSION {
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
        check_plain(rest)?;
        let (tbs, tbs_bytes, rest) = coer::take::<asn1::ToBeSignedData>("signed content", rest)?;
        let (signer, rest) = take_signer(rest)?;
        let (signature, _, rest) = coer::take::<base::Signature>("signature", rest)?;
        coer::finish(WHAT, rest)?;
        let (r, s) = point::signature_scalars(&signature, Signed::Message)?;
        Ok(SignedMessage { tbs, tbs_bytes, signer, r, s })
    }

    /// Its signer.
    pub fn signer(&self) -> &Signer<'a> {
        &self.signer
    }

    /// All of its header.
    pub fn header(&self) -> &asn1::HeaderInfo {
        &self.tbs.header_info
    }

    /// Its application (PSID or ITS-AID); `None` if it has more than 64 bits.
    pub fn psid(&self) -> Option<u64> {
        psid(&self.tbs.header_info.psid)
    }

    /// Its generation time, if given.
    pub fn generation_time(&self) -> Option<ItsTime> {
        self.tbs.header_info.generation_time.as_ref().map(|time| ItsTime::from_micros(time.0))
    }

    /// Its expiry time, if given.
    pub fn expiry_time(&self) -> Option<ItsTime> {
        self.tbs.header_info.expiry_time.as_ref().map(|time| ItsTime::from_micros(time.0))
    }

    /// Its generation location, if given and known.
    pub fn generation_location(&self) -> Option<Position> {
        let place = Position::from(self.tbs.header_info.generation_location.as_ref()?);
        let known = place.latitude <= base::NinetyDegreeInt::MAX
            && place.longitude <= base::OneEightyDegreeInt::MAX;
        known.then_some(place)
    }

    /// The signed payload: for ETSI's messages a GeoNetworking packet from its common header on,
    /// for a basic safety message the message itself.
    pub fn payload(&self) -> &[u8] {
        match self.tbs.payload.data.as_ref().map(|data| &data.content) {
            Some(asn1::Ieee1609Dot2Content::UnsecuredData(payload)) => payload,
            _ => &[],
        }
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
        let Some(base::EncryptionKey::Public(key)) = &self.tbs.header_info.encryption_key else {
            return Ok(None);
        };
        let Some(key) = compressed_encryption_key(key) else { return Ok(None) };
        let mut tbs = self.tbs.clone();
        tbs.header_info.encryption_key = Some(base::EncryptionKey::Public(key));
        coer::encode("signed content", &tbs).map(Some)
    }
}

/// Checks that the payload is plain data before a decoder descends: nested signed data would let an
/// attacker choose the recursion depth.
fn check_plain(tbs: &[u8]) -> Result<(), Refusal> {
    // The presence of `data` (without extensions, with or without a hash of other data), its version,
    // and the first alternative, which is unsecured data.
    match tbs {
        [0x40 | 0x60, asn1::Ieee1609Dot2Data::VERSION, 0x80, ..] => Ok(()),
        [_, _, _, ..] => Err(Refusal::Nested),
        _ => Err(Refusal::malformed("signed content", &"it ends too early")),
    }
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

pub(crate) fn psid(psid: &base::Psid) -> Option<u64> {
    u64::try_from(&psid.0).ok()
}
