//! The permissions of lab certificates.

use serde_json::{Value as Json, json};

use super::Rank;
use crate::asn1::hex;
use crate::payload::psid;

/// Applications, each with a bitmap (EN 302 637-2 annex, EN 302 637-3 annex) or nothing.
///
/// A ticket may send these. An authority may issue tickets for any bits of the same applications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions(Vec<(u64, Option<Vec<u8>>)>);

impl Permissions {
    /// The permissions of an ordinary vehicle: CAMs without special containers, DENMs for all
    /// causes, BSMs.
    pub fn vehicle() -> Permissions {
        Permissions::default()
            .with(psid::CAM, Some(&[1, 0, 0]))
            .with(psid::DENM, Some(&[1, 0xff, 0xff, 0xff]))
            .with(psid::BSM, None)
    }

    /// The same, and one application more.
    pub fn with(mut self, psid: u64, bitmap: Option<&[u8]>) -> Permissions {
        self.0.push((psid, bitmap.map(<[u8]>::to_vec)));
        self
    }

    /// For sending: a ticket's own; a root may sign revocation lists.
    pub(super) fn app(&self, rank: Rank) -> Option<Json> {
        let one = |(psid, bitmap): &(u64, Option<Vec<u8>>)| match bitmap {
            Some(bitmap) => json!({ "psid": psid, "ssp": { "bitmapSsp": hex(bitmap) } }),
            None => json!({ "psid": psid }),
        };
        match rank {
            Rank::Root => Some(json!([{ "psid": psid::CRL }])),
            Rank::Authority => None,
            Rank::Ticket => Some(self.0.iter().map(one).collect()),
        }
    }

    /// For issuing: the first byte of a bitmap is its version and fixed, the other bits are free.
    pub(super) fn issue(&self, rank: Rank) -> Option<Json> {
        let chain_length = match rank {
            Rank::Root => 2,
            Rank::Authority => 1,
            Rank::Ticket => return None,
        };
        let ranges: Json = self.0.iter().map(range).collect();
        let permissions = json!({ "explicit": ranges });
        Some(json!([{ "subjectPermissions": permissions, "minChainLength": chain_length }]))
    }
}

fn range((psid, bitmap): &(u64, Option<Vec<u8>>)) -> Json {
    let Some(bitmap) = bitmap else { return json!({ "psid": psid }) };
    let with_version = |version: u8, others: u8| {
        hex(&bitmap
            .iter()
            .enumerate()
            .map(|(at, _)| if at == 0 { version } else { others })
            .collect::<Vec<_>>())
    };
    let version = bitmap.first().copied().unwrap_or_default();
    let (value, mask) = (with_version(version, 0xff), with_version(0xff, 0));
    let range = json!({ "bitmapSspRange": { "sspValue": value, "sspBitmask": mask } });
    json!({ "psid": psid, "sspRange": range })
}
