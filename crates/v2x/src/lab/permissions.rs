//! The permissions of lab certificates.

use rasn_its::ieee1609dot2 as asn1;
use rasn_its::ieee1609dot2::base_types as base;

use super::Rank;
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

    /// For sending: a ticket's own; a root signs revocation lists.
    pub(super) fn app(&self, rank: Rank) -> Option<base::SequenceOfPsidSsp> {
        let one = |psid: u64, ssp| base::PsidSsp { psid: base::Psid(psid.into()), ssp };
        let list: Vec<base::PsidSsp> = match rank {
            Rank::Root => vec![one(psid::CRL, None)],
            Rank::Authority => return None,
            Rank::Ticket => {
                let entries = self.0.iter();
                entries
                    .map(|(psid, bitmap)| one(*psid, bitmap.as_deref().map(bitmap_ssp)))
                    .collect()
            }
        };
        Some(list.into())
    }

    /// For issuing: the first byte of a bitmap is its version and fixed, the other bits are free.
    pub(super) fn issue(&self, rank: Rank) -> Option<asn1::SequenceOfPsidGroupPermissions> {
        let chain_length = match rank {
            Rank::Root => 2,
            Rank::Authority => 1,
            Rank::Ticket => return None,
        };
        let ranges: Vec<base::PsidSspRange> = self.0.iter().map(range).collect();
        let group = asn1::PsidGroupPermissions::builder()
            .subject_permissions(asn1::SubjectPermissions::Explicit(ranges.into()))
            .min_chain_length(chain_length.into())
            .build();
        Some(vec![group].into())
    }
}

fn bitmap_ssp(bitmap: &[u8]) -> base::ServiceSpecificPermissions {
    base::ServiceSpecificPermissions::BitmapSsp(base::BitmapSsp(bitmap.to_vec().into()))
}

fn range((psid, bitmap): &(u64, Option<Vec<u8>>)) -> base::PsidSspRange {
    let ssp_range = bitmap.as_ref().map(|bitmap| {
        let mut mask = vec![0; bitmap.len()];
        if let Some(version) = mask.first_mut() {
            *version = 0xff;
        }
        let mut value = vec![0xff; bitmap.len()];
        if let (Some(to), Some(version)) = (value.first_mut(), bitmap.first()) {
            *to = *version;
        }
        base::SspRange::BitmapSspRange(base::BitmapSspRange {
            ssp_value: value.into(),
            ssp_bitmask: mask.into(),
        })
    });
    base::PsidSspRange { psid: base::Psid((*psid).into()), ssp_range }
}
