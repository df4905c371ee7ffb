//! Revocation lists by hash (IEEE 1609.2 section 7.4): the last ten bytes of the hashes of revoked
//! certificates.

use std::collections::BTreeMap;

use rasn_its::ieee1609dot2::{base_types as base, crl_base_types as crl};

use crate::check::{Trust, permission};
use crate::coer;
use crate::hash::CertificateHash;
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
        if message.psid() != Some(psid::CRL) {
            return Err(Refusal::Psid(message.psid().unwrap_or(u64::MAX)));
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
        let (contents, _, rest) = coer::take::<crl::CrlContents>(WHAT, contents)?;
        coer::finish(WHAT, rest)?;
        let issued = ItsTime::from_secs(contents.issue_date.0);
        if issued < self.issued {
            return Err(Refusal::TooOld { age: self.issued.since(issued) });
        }
        let (entries, is_full) = match &contents.type_specific {
            crl::TypeSpecificCrlContents::FullHashCrl(list) => (&list.entries, true),
            crl::TypeSpecificCrlContents::DeltaHashCrl(list) => (&list.entries, false),
            _ => return Err(Refusal::malformed(WHAT, &"it lists linkage values, not hashes")),
        };
        let mut revoked = if is_full { BTreeMap::new() } else { self.revoked.clone() };
        revoked.retain(|_, expiry| *expiry > now);
        let entries = entries.iter().map(|entry| (*entry.id.0, ItsTime::from_secs(entry.expiry.0)));
        revoked.extend(entries.filter(|(_, expiry)| *expiry > now));
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
    let entries: Vec<crl::HashBasedRevocationInfo> = revoked
        .iter()
        .map(|(hash, expiry)| {
            crl::HashBasedRevocationInfo::builder()
                .id(base::HashedId10(hash.id10().into()))
                .expiry(base::Time32(expiry.as_secs()))
                .build()
        })
        .collect();
    let list = crl::ToBeSignedHashIdCrl::builder().crl_serial(0).entries(entries.into()).build();
    let contents = crl::CrlContents {
        version: 1,
        crl_series: base::CrlSeries(0),
        crl_craca: base::HashedId8(root.certificate().id().0.into()),
        issue_date: base::Time32(issued.as_secs()),
        next_crl: base::Time32(next.as_secs()),
        priority_info: crl::CrlPriorityInfo::builder().build(),
        type_specific: crl::TypeSpecificCrlContents::FullHashCrl(list),
    };
    let contents = coer::encode("revocation list", &contents)?;
    let message = Unsigned::new(psid::CRL, &contents, issued);
    root.sign(&message, Identification::Digest, PointForm::XOnly)
}
