//! Revocation lists by hash (IEEE 1609.2 section 7.4): the last ten bytes of the hashes of revoked
//! certificates.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::asn1::{Value, coer, hex};
use crate::check::{Trust, permission};
use crate::hash::CertificateHash;
use crate::ieee1609;
use crate::job::SignatureVerifier;
use crate::message::{SignedMessage, Signer};
use crate::payload::psid;
use crate::point::PointForm;
use crate::refusal::{Refusal, Signed};
use crate::sign::{Holder, Identification, Unsigned};
use crate::time::ItsTime;

/// The maximum list size in bytes: 60,000 entries.
pub const MAX_LIST_LEN: usize = 1 << 20;

/// The maximum number of stored revocations, over all lists.
pub const MAX_REVOKED: usize = 100_000;

/// The known revocations.
#[derive(Clone, Debug, Default)]
pub struct Revocations {
    /// When each of them expires.
    revoked: BTreeMap<[u8; 10], ItsTime>,
    issued: ItsTime,
}

impl Revocations {
    /// Whether the certificate with this hash is revoked.
    pub fn contains(&self, hash: &CertificateHash) -> bool {
        !self.revoked.is_empty() && self.revoked.contains_key(&hash.id10())
    }

    /// The number of revoked certificates.
    pub fn len(&self) -> usize {
        self.revoked.len()
    }

    /// Whether none is revoked.
    pub fn is_empty(&self) -> bool {
        self.revoked.is_empty()
    }

    /// Applies a list: a full one replaces the known revocations, a delta is added to them.
    pub(crate) fn take(
        &mut self,
        list: &[u8],
        now: ItsTime,
        trust: &Trust,
        verifier: &mut impl SignatureVerifier,
    ) -> Result<(), Refusal> {
        Refusal::limit(list.len(), MAX_LIST_LEN)?;
        let message = SignedMessage::decode_unlimited(list)?;
        if message.psid() != psid::CRL {
            return Err(Refusal::Psid(message.psid()));
        }
        let Signer::Digest(id) = message.signer() else { return Err(Refusal::SignerForm) };
        let root = trust.root(id)?;
        permission::of(root, psid::CRL).ok_or(Refusal::PsidNotPermitted(psid::CRL))?;
        let validity = root.validity();
        if now < validity.start || now >= validity.end {
            return Err(Refusal::CertificateExpired { of: Signed::Root });
        }
        let job = message.job(root.key(), &root.hash())?;
        if !crate::check::is_valid(&job, verifier) {
            return Err(Refusal::BadSignature { of: Signed::Message });
        }
        self.replace(message.payload(), now)
    }

    fn replace(&mut self, contents: &[u8], now: ItsTime) -> Result<(), Refusal> {
        const WHAT: &str = "revocation list";
        let (contents, _, rest) = coer::take(WHAT, &ieee1609::CrlContents, contents)?;
        coer::finish(WHAT, rest)?;
        let time = |of: &Value, field| {
            ItsTime::from_secs(
                of.integer(field).and_then(|secs| u32::try_from(secs).ok()).unwrap_or_default(),
            )
        };
        let issued = time(&contents, "issueDate");
        if issued < self.issued {
            return Err(Refusal::TooOld { age: self.issued.since(issued) });
        }
        let full = contents.at("typeSpecific.fullHashCrl");
        let list = full.or(contents.at("typeSpecific.deltaHashCrl"));
        let mut revoked = if full.is_some() { BTreeMap::new() } else { self.revoked.clone() };
        revoked.retain(|_, expiry| *expiry > now);
        for entry in list.map_or(&[][..], |list| list.list("entries")) {
            let (id, _) = coer::take_bytes(WHAT, entry.octets("id").unwrap_or_default())?;
            let expiry = time(entry, "expiry");
            if expiry > now {
                revoked.insert(*id, expiry);
            }
        }
        Refusal::limit(revoked.len(), MAX_REVOKED)?;
        self.revoked = revoked;
        self.issued = issued;
        Ok(())
    }
}

/// A full list of revoked certificates with the times at which they expire by themselves, signed by
/// `root`, which announces the next for `next`.
///
/// # Errors
/// If it cannot be encoded.
pub fn sign_list(
    root: &Holder,
    revoked: &[(CertificateHash, ItsTime)],
    issued: ItsTime,
    next: ItsTime,
) -> Result<Vec<u8>, Refusal> {
    let entry = |(hash, expiry): &(CertificateHash, ItsTime)| json!({ "id": hex(&hash.id10()), "expiry": expiry.as_secs() });
    let entries: Json = revoked.iter().map(entry).collect();
    let contents = json!({
        "version": 1,
        "crlSeries": 0,
        "crlCraca": root.certificate().id().to_string(),
        "issueDate": issued.as_secs(),
        "nextCrl": next.as_secs(),
        "priorityInfo": {},
        "typeSpecific": { "fullHashCrl": { "crlSerial": 0, "entries": entries } },
    });
    let contents = coer::encode("revocation list", &ieee1609::CrlContents, &contents)?;
    let message = Unsigned::new(psid::CRL, &contents, issued);
    root.sign(&message, Identification::Digest, PointForm::XOnly)
}
