//! Permissions of a certificate, and the permissions that its issuer may grant.

use crate::asn1::Value;
use crate::certificate::Certificate;
use crate::message::psid;
use crate::refusal::Refusal;

/// How many entries of permissions are looked at in a certificate: the standard asks for eight at
/// least (IEEE 1609.2 section 6.4.8). Later entries are ignored.
const MAX_ENTRIES: usize = 64;

/// The permission of `certificate` for an application: `Some(None)` is a permission without
/// details, `None` no permission.
pub(super) fn of(certificate: &Certificate, application: u64) -> Option<Option<&Value>> {
    let mut list = certificate.tbs().list("appPermissions").iter().take(MAX_ENTRIES);
    list.find(|one| psid(one) == application).map(|entry| entry.at("ssp"))
}

/// Checks that `issuer` may grant a permission to send to a certificate right below it.
pub(super) fn check_issued(entry: &Value, issuer: &Certificate) -> Result<(), Refusal> {
    let permitted = groups(issuer).any(|group| {
        allows_end_entities(group)
            && allows_length(group, 1)
            && permits(group, psid(entry), |range| range_contains(range, entry.at("ssp")))
    });
    refuse_unless(permitted, psid(entry))
}

/// Checks that `issuer` may let an authority issue `group`: every chain below the authority is one
/// longer above it.
pub(super) fn check_delegated(group: &Value, issuer: &Certificate) -> Result<(), Refusal> {
    let outer = || {
        groups(issuer).filter(|outer| {
            allows_end_entities(outer)
                && lengths(group).is_some_and(|(least, most)| {
                    // A certificate may declare the maximum lengths.
                    allows_length(outer, least + 1)
                        && most
                            .map_or(lengths(outer).is_some_and(|outer| outer.1.is_none()), |most| {
                                allows_length(outer, most + 1)
                            })
                })
        })
    };
    if group.at("subjectPermissions.explicit").is_none() {
        let all = outer().any(|outer| outer.at("subjectPermissions.all").is_some());
        return refuse_unless(all, u64::MAX);
    }
    for inner in group.list("subjectPermissions.explicit") {
        let permitted = outer().any(|outer| {
            permits(outer, psid(inner), |range| range_within(inner.at("sspRange"), range))
        });
        refuse_unless(permitted, psid(inner))?;
    }
    Ok(())
}

fn refuse_unless(permitted: bool, application: u64) -> Result<(), Refusal> {
    if permitted { Ok(()) } else { Err(Refusal::IssueNotPermitted(application)) }
}

fn groups(issuer: &Certificate) -> impl Iterator<Item = &Value> {
    issuer.tbs().list("certIssuePermissions").iter().take(MAX_ENTRIES)
}

/// Whether chains may end in certificates for sending: the first bit of `eeType`, set by default.
fn allows_end_entities(group: &Value) -> bool {
    let sends = |kinds: &Value| matches!(kinds, Value::Bits(bits, _) if bits & 0x80 != 0);
    group.at("eeType").is_none_or(sends)
}

/// The shortest chain that is allowed, and the longest (`None`: any): below 2^64.
fn lengths(group: &Value) -> Option<(u64, Option<u64>)> {
    let least = group.integer("minChainLength").unwrap_or(1);
    let least = u64::try_from(least).ok().filter(|least| *least > 0)?;
    match group.integer("chainLengthRange").unwrap_or(0) {
        -1 => Some((least, None)),
        range => Some((least, Some(least + u64::try_from(range).ok()?))),
    }
}

fn allows_length(group: &Value, length: u64) -> bool {
    lengths(group)
        .is_some_and(|(least, most)| least <= length && most.is_none_or(|most| length <= most))
}

/// Whether `group` has a permission for the application with a range that `matches`.
fn permits(group: &Value, application: u64, matches: impl Fn(Option<&Value>) -> bool) -> bool {
    let mut ranges = group.list("subjectPermissions.explicit").iter().take(MAX_ENTRIES);
    group.at("subjectPermissions.all").is_some()
        || ranges.any(|range| psid(range) == application && matches(range.at("sspRange")))
}

/// IEEE 1609.2 section 6.4.30: without a range, any length.
fn range_contains(range: Option<&Value>, ssp: Option<&Value>) -> bool {
    match (range.map(Value::chosen), ssp.map(Value::chosen)) {
        (None | Some(("all", _)), _) => true,
        (Some(("opaque", Value::List(list))), Some(("opaque", ssp))) => list.contains(ssp),
        (Some(("opaque", Value::List(list))), None) => list.contains(&Value::Octets(Vec::new())),
        (Some(("bitmapSspRange", range)), Some(("bitmapSsp", Value::Octets(ssp)))) => bitmap(range)
            .is_some_and(|(value, mask)| {
                value.len() == ssp.len() && mask.len() == ssp.len() && agree(value, ssp, mask)
            }),
        _ => false,
    }
}

fn bitmap(range: &Value) -> Option<(&[u8], &[u8])> {
    Some((range.octets("sspValue")?, range.octets("sspBitmask")?))
}

/// Whether everything in `inner` is in `outer`: every bit that the outer one fixes, the inner one
/// fixes to the same value.
fn range_within(inner: Option<&Value>, outer: Option<&Value>) -> bool {
    match (inner.map(Value::chosen), outer.map(Value::chosen)) {
        (_, None | Some(("all", _))) => true,
        (Some(("opaque", Value::List(inner))), Some(("opaque", Value::List(outer)))) => {
            inner.iter().all(|one| outer.contains(one))
        }
        (Some(("bitmapSspRange", inner)), Some(("bitmapSspRange", outer))) => {
            let (Some((value, fixed)), Some((wanted_value, wanted))) =
                (bitmap(inner), bitmap(outer))
            else {
                return false;
            };
            [value, wanted_value, fixed].iter().all(|one| one.len() == wanted.len())
                && wanted.iter().zip(fixed).all(|(wanted, fixed)| wanted & !fixed == 0)
                && agree(value, wanted_value, wanted)
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
        let with = |name: &'static str, value: Value| {
            let mut group = groups(root).next().unwrap().clone();
            let Value::Fields(fields) = &mut group else { unreachable!() };
            fields.retain(|(known, _)| *known != name);
            fields.push((name, value));
            group
        };
        let delegating = |it| check_delegated(&with("minChainLength", Value::Integer(it)), root);
        // The root's own chains have two certificates below it.
        assert_eq!(delegating(1), Ok(()));
        for least in [2, i64::MAX] {
            assert_eq!(delegating(least), Err(Refusal::IssueNotPermitted(CAM)));
        }
        // Those who send, who enrol, both.
        let kinds = [0x80, 0x40, 0xc0].map(|kinds| with("eeType", Value::Bits(kinds, 8)));
        assert_eq!(kinds.each_ref().map(allows_end_entities), [true, false, true]);
    }
}
