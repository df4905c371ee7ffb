//! Whether an issuer may issue a certificate (IEEE 1609.2 section 5.1.2.4).

use crate::asn1::Value;
use crate::certificate::Certificate;
use crate::location;
use crate::refusal::{Refusal, Signed};

use super::permission;

/// Checks everything of `certificate` that depends on its issuer's, except the signature. `rank` is
/// its expected kind: a ticket or an authority.
pub(super) fn check(
    certificate: &Certificate,
    issuer: &Certificate,
    rank: Signed,
) -> Result<(), Refusal> {
    if !issuer.validity().contains(&certificate.validity()) {
        return Err(Refusal::OutlivesIssuer);
    }
    let regions = [certificate, issuer].map(|one| one.tbs().at("region"));
    if let [Some(inner), Some(outer)] = regions
        && !location::is_within(inner, outer)
    {
        return Err(Refusal::RegionBeyondIssuer);
    }
    let tbs = certificate.tbs();
    check_rank(tbs, rank)?;
    for entry in tbs.list("appPermissions") {
        permission::check_issued(entry, issuer)?;
    }
    for group in tbs.list("certIssuePermissions") {
        permission::check_delegated(group, issuer)?;
    }
    Ok(())
}

/// TS 103 097 section 7.2: tickets send and do not issue, authorities issue.
fn check_rank(tbs: &Value, rank: Signed) -> Result<(), Refusal> {
    let has = |permissions| tbs.at(permissions).is_some();
    let (sends, issues) = (has("appPermissions"), has("certIssuePermissions"));
    match rank {
        Signed::Ticket if issues || !sends => Err(Refusal::CertificateForm(
            "is not a ticket: tickets send messages and issue no certificates",
        )),
        Signed::Authority if !issues => Err(Refusal::CertificateForm(
            "is not an authority: it has no permission to issue certificates",
        )),
        _ => Ok(()),
    }
}
