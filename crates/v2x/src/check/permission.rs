//! Permissions of a certificate, and the permissions that its issuer may grant.

use rasn_its::ieee1609dot2 as asn1;
use rasn_its::ieee1609dot2::base_types as base;

use crate::certificate::Certificate;
use crate::message::psid;
use crate::refusal::Refusal;

/// How many entries of permissions are looked at in a certificate: the standard asks for eight at
/// least (IEEE 1609.2 section 6.4.8). Later entries are ignored.
const MAX_ENTRIES: usize = 64;

/// The permission of `certificate` for an application: `Some(None)` is a permission without
/// details, `None` no permission.
pub(crate) fn of(
    certificate: &Certificate,
    application: u64,
) -> Option<Option<&base::ServiceSpecificPermissions>> {
    let list = certificate.tbs().app_permissions.as_ref()?;
    let entry = list.iter().take(MAX_ENTRIES).find(|one| psid(&one.psid) == Some(application))?;
    Some(entry.ssp.as_ref())
}

/// Checks that `issuer` may grant a permission to send to a certificate right below it.
pub(super) fn check_issued(entry: &base::PsidSsp, issuer: &Certificate) -> Result<(), Refusal> {
    let permitted = groups(issuer).any(|group| {
        allows_end_entities(group)
            && allows_length(group, 1)
            && permits(&group.subject_permissions, &entry.psid, |range| {
                range_contains(range, entry.ssp.as_ref())
            })
    });
    refuse_unless(permitted, &entry.psid)
}

/// Checks that `issuer` may let an authority issue `group`: every chain below the authority is one
/// longer above it.
pub(super) fn check_delegated(
    group: &asn1::PsidGroupPermissions,
    issuer: &Certificate,
) -> Result<(), Refusal> {
    let outer = || {
        groups(issuer).filter(|outer| {
            allows_end_entities(outer)
                && lengths(group).is_some_and(|(least, most)| {
                    // A certificate may declare the maximum lengths.
                    allows_length(outer, least.saturating_add(1))
                        && most
                            .map_or(lengths(outer).is_some_and(|outer| outer.1.is_none()), |most| {
                                allows_length(outer, most.saturating_add(1))
                            })
                })
        })
    };
    match &group.subject_permissions {
        asn1::SubjectPermissions::Explicit(ranges) => {
            for inner in ranges.iter() {
                let permitted = outer().any(|outer| {
                    permits(&outer.subject_permissions, &inner.psid, |range| {
                        range_within(inner.ssp_range.as_ref(), range)
                    })
                });
                refuse_unless(permitted, &inner.psid)?;
            }
            Ok(())
        }
        _ => {
            let all =
                outer().any(|outer| outer.subject_permissions == asn1::SubjectPermissions::All(()));
            if all { Ok(()) } else { Err(Refusal::IssueNotPermitted(u64::MAX)) }
        }
    }
}

fn refuse_unless(permitted: bool, application: &base::Psid) -> Result<(), Refusal> {
    match permitted {
        true => Ok(()),
        false => Err(Refusal::IssueNotPermitted(psid(application).unwrap_or(u64::MAX))),
    }
}

fn groups(issuer: &Certificate) -> impl Iterator<Item = &asn1::PsidGroupPermissions> {
    let list = issuer.tbs().cert_issue_permissions.iter();
    list.flat_map(|list| list.iter()).take(MAX_ENTRIES)
}

/// The first bit of `eeType`: chains may end in certificates for sending.
fn allows_end_entities(group: &asn1::PsidGroupPermissions) -> bool {
    group.ee_type.0.first().is_some_and(|bit| *bit)
}

/// The shortest chain that is allowed, and the longest (`None`: any).
fn lengths(group: &asn1::PsidGroupPermissions) -> Option<(u64, Option<u64>)> {
    let least = u64::try_from(&group.min_chain_length).ok().filter(|least| *least > 0)?;
    match i64::try_from(&group.chain_length_range).ok()? {
        -1 => Some((least, None)),
        range => Some((least, Some(least.checked_add(u64::try_from(range).ok()?)?))),
    }
}

fn allows_length(group: &asn1::PsidGroupPermissions, length: u64) -> bool {
    lengths(group)
        .is_some_and(|(least, most)| least <= length && most.is_none_or(|most| length <= most))
}

fn permits(
    permissions: &asn1::SubjectPermissions,
    application: &base::Psid,
    matches: impl Fn(Option<&base::SspRange>) -> bool,
) -> bool {
    match permissions {
        asn1::SubjectPermissions::All(()) => true,
        asn1::SubjectPermissions::Explicit(ranges) => {
            let mut ranges = ranges.iter().take(MAX_ENTRIES);
            ranges.any(|range| range.psid == *application && matches(range.ssp_range.as_ref()))
        }
        _ => false,
    }
}

/// IEEE 1609.2 section 6.4.30: without a range, any length.
fn range_contains(
    range: Option<&base::SspRange>,
    ssp: Option<&base::ServiceSpecificPermissions>,
) -> bool {
    use base::ServiceSpecificPermissions as Ssp;
    match (range, ssp) {
        (None | Some(base::SspRange::All(())), _) => true,
        (Some(base::SspRange::Opaque(list)), Some(Ssp::Opaque(ssp))) => list.contains(ssp),
        (Some(base::SspRange::Opaque(list)), None) => list.iter().any(|one| one.is_empty()),
        (Some(base::SspRange::BitmapSspRange(range)), Some(Ssp::BitmapSsp(ssp))) => {
            let (value, mask) = (&range.ssp_value, &range.ssp_bitmask);
            value.len() == ssp.len() && mask.len() == ssp.len() && agree(value, ssp, mask)
        }
        _ => false,
    }
}

/// Whether everything in `inner` is in `outer`: every bit that the outer one fixes, the inner one
/// fixes to the same value.
fn range_within(inner: Option<&base::SspRange>, outer: Option<&base::SspRange>) -> bool {
    use base::SspRange as Range;
    match (inner, outer) {
        (_, None | Some(Range::All(()))) => true,
        (Some(Range::Opaque(inner)), Some(Range::Opaque(outer))) => {
            inner.iter().all(|one| outer.contains(one))
        }
        (Some(Range::BitmapSspRange(inner)), Some(Range::BitmapSspRange(outer))) => {
            let (fixed, wanted) = (&inner.ssp_bitmask, &outer.ssp_bitmask);
            let lengths = [&inner.ssp_value, &outer.ssp_value, fixed];
            lengths.iter().all(|one| one.len() == wanted.len())
                && wanted.iter().zip(fixed.iter()).all(|(wanted, fixed)| wanted & !fixed == 0)
                && agree(&inner.ssp_value, &outer.ssp_value, wanted)
        }
        _ => false,
    }
}

/// Whether the bits of `mask` are the same in both.
fn agree(a: &[u8], b: &[u8], mask: &[u8]) -> bool {
    a.iter().zip(b).zip(mask).all(|((a, b), mask)| (a ^ b) & mask == 0)
}

#[cfg(test)]
mod tests {
    use trackbed_core::Seed;

    use super::*;
    use crate::lab::{Infrastructure, Terms};
    use crate::payload::psid::CAM;
    use crate::time::ItsTime;

    #[test]
    fn an_authority_may_not_issue_longer_chains_than_its_root_says() {
        let terms = Terms::new(ItsTime::from_secs(720_000_000), 1_000);
        let lab = Infrastructure::new(&Seed::of_run(1, 0), &terms).unwrap();
        let root = lab.root().certificate();
        let delegating = |least: u64| {
            let mut group = groups(root).next().unwrap().clone();
            group.min_chain_length = least.into();
            check_delegated(&group, root)
        };
        // The root's own chains have two certificates below it.
        assert_eq!(delegating(1), Ok(()));
        for least in [2, u64::MAX] {
            assert_eq!(delegating(least), Err(Refusal::IssueNotPermitted(CAM)));
        }
    }
}
