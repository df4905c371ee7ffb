//! A public key infrastructure for the lab: a root, authorities below it, tickets below these, all
//! from a seed. No outside party trusts it.

mod permissions;

use std::sync::Arc;

use serde_json::{Value as Json, json};
use trackbed_core::Seed;

use crate::asn1::hex;
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
    /// Its region, `GeographicRegion` in the form of JSON encoding rules; `None` is the issuer's.
    pub region: Option<Json>,
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
        let tbs = terms.to_be_signed("trackbed lab root", Rank::Root, &key);
        let certificate = sign_certificate(&tbs, &json!({ "self": "sha256" }), &SELF_SIGNED, &key)?;
        Ok(Infrastructure { seed: *seed, root: holder(certificate, key)? })
    }

    /// The root. It may also sign revocation lists.
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
        let tbs = terms.to_be_signed(&name, Rank::Authority, &key);
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
        let tbs = terms.to_be_signed("", Rank::Ticket, &key);
        issue(authority, &tbs, key)
    }
}

fn issue(issuer: &Holder, tbs: &Json, key: PrivateKey) -> Result<Holder, Refusal> {
    let hash = issuer.certificate().hash();
    let identifier = json!({ "sha256AndDigest": hash.id8().to_string() });
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
    fn to_be_signed(&self, name: &str, rank: Rank, key: &PrivateKey) -> Json {
        let key = point::compressed_key(key.public());
        let mut tbs = json!({
            "id": if rank == Rank::Ticket { json!({ "none": null }) } else { json!({ "name": name }) },
            "cracaId": hex(&[0; 3]),
            "crlSeries": 0,
            "validityPeriod": { "start": self.start.as_secs(), "duration": { "hours": self.hours } },
            "verifyKeyIndicator": { "verificationKey": { "ecdsaNistP256": key } },
        });
        let optional = [
            ("region", self.region.clone()),
            ("appPermissions", self.permissions.app(rank)),
            ("certIssuePermissions", self.permissions.issue(rank)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                tbs[name] = value;
            }
        }
        tbs
    }
}
