//! A public key infrastructure for the lab: a root, authorities below it, tickets below these, all
//! from a seed. No outside party trusts it.

mod permissions;

use std::sync::Arc;

use rasn_its::ieee1609dot2 as asn1;
use rasn_its::ieee1609dot2::base_types as base;
use trackbed_core::Seed;

use crate::hash::SELF_SIGNED;
use crate::point;
use crate::refusal::Refusal;
use crate::sign::{Holder, PrivateKey, sign_certificate};
use crate::time::ItsTime;

pub use permissions::Permissions;

/// The contents of a lab certificate.
#[derive(Clone, Debug)]
pub struct Terms {
    /// When it becomes valid, to the second.
    pub start: ItsTime,
    /// Its validity in hours.
    pub hours: u16,
    /// Its region; `None` is the issuer's.
    pub region: Option<base::GeographicRegion>,
    /// Its permissions.
    pub permissions: Permissions,
}

impl Terms {
    /// Valid from `start` on for this many hours, everywhere, for everything that vehicles send.
    pub fn new(start: ItsTime, hours: u16) -> Terms {
        Terms { start, hours, region: None, permissions: Permissions::vehicle() }
    }
}

/// A root and its authorities and tickets, from one seed: the same on every machine.
pub struct Infrastructure {
    seed: Seed,
    root: Holder,
}

impl Infrastructure {
    /// A root of the seed's: its stream is `v2x/root`.
    ///
    /// # Errors
    /// If `terms` have a value that does not fit its field.
    pub fn new(seed: &Seed, terms: &Terms) -> Result<Infrastructure, Refusal> {
        let key = PrivateKey::from_stream(&mut seed.stream("v2x/root"));
        let tbs = terms.to_be_signed("trackbed lab root", Rank::Root, &key)?;
        let issuer = asn1::IssuerIdentifier::VSelf(base::HashAlgorithm::Sha256);
        let certificate = sign_certificate(&tbs, &issuer, &SELF_SIGNED, &key)?;
        Ok(Infrastructure { seed: *seed, root: holder(certificate, key)? })
    }

    /// The root. It also signs revocation lists.
    pub fn root(&self) -> &Holder {
        &self.root
    }

    /// Authorization authority number `number`, certified by the root.
    ///
    /// # Errors
    /// If `terms` have a value that does not fit its field.
    pub fn authority(&self, number: u32, terms: &Terms) -> Result<Holder, Refusal> {
        let key =
            PrivateKey::from_stream(&mut self.seed.stream(&format!("v2x/authority/{number}")));
        let name = format!("trackbed lab authority {number}");
        let tbs = terms.to_be_signed(&name, Rank::Authority, &key)?;
        issue(&self.root, &tbs, key)
    }

    /// Ticket number `number` of an authority: a pseudonym of some vehicle. Tickets with other terms
    /// are other certificates of the same key.
    ///
    /// # Errors
    /// If `terms` have a value that does not fit its field.
    pub fn ticket(
        &self,
        authority: &Holder,
        number: u64,
        terms: &Terms,
    ) -> Result<Holder, Refusal> {
        let name = format!("v2x/ticket/{}/{number}", authority.certificate().id());
        let key = PrivateKey::from_stream(&mut self.seed.stream(&name));
        let tbs = terms.to_be_signed("", Rank::Ticket, &key)?;
        issue(authority, &tbs, key)
    }
}

fn issue(
    issuer: &Holder,
    tbs: &asn1::ToBeSignedCertificate,
    key: PrivateKey,
) -> Result<Holder, Refusal> {
    let hash = issuer.certificate().hash();
    let identifier = asn1::IssuerIdentifier::Sha256AndDigest(base::HashedId8(hash.id8().0.into()));
    holder(sign_certificate(tbs, &identifier, &hash, issuer.key())?, key)
}

fn holder(certificate: crate::Certificate, key: PrivateKey) -> Result<Holder, Refusal> {
    Holder::new(Arc::new(certificate), key).ok_or(Refusal::KeyNotOnCurve)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    Root,
    Authority,
    Ticket,
}

impl Terms {
    /// TS 103 097 section 6: authorities have a name and issue, tickets have none and send.
    fn to_be_signed(
        &self,
        name: &str,
        rank: Rank,
        key: &PrivateKey,
    ) -> Result<asn1::ToBeSignedCertificate, Refusal> {
        let id = match rank {
            Rank::Ticket => asn1::CertificateId::None(()),
            _ => asn1::CertificateId::Name(base::Hostname(name.to_owned())),
        };
        let key = base::PublicVerificationKey::EcdsaNistP256(point::compressed_key(key.public()));
        asn1::ToBeSignedCertificate::builder()
            .id(id)
            .craca_id(base::HashedId3([0; 3].into()))
            .crl_series(base::CrlSeries(0))
            .validity_period(base::ValidityPeriod {
                start: base::Time32(self.start.as_secs()),
                duration: base::Duration::Hours(self.hours),
            })
            .maybe_region(self.region.clone())
            .maybe_app_permissions(self.permissions.app(rank))
            .maybe_cert_issue_permissions(self.permissions.issue(rank))
            .verify_key_indicator(asn1::VerificationKeyIndicator::VerificationKey(key))
            .build()
            .map_err(|error| Refusal::malformed("certificate", &format!("{error:?}")))
    }
}
