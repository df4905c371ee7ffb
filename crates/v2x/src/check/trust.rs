//! Roots and the authorities below them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::certificate::{Certificate, Issuer};
use crate::hash::HashedId8;
use crate::job::SignatureVerifier;
use crate::refusal::{Refusal, Signed};

use super::chain;

/// The maximum number of roots, and of authorities, of a receiver.
pub const MAX_AUTHORITIES: usize = 256;

#[derive(Clone, Debug)]
pub(super) struct Trust {
    roots: BTreeMap<HashedId8, Arc<Certificate>>,
    authorities: BTreeMap<HashedId8, Arc<Certificate>>,
}

impl Trust {
    pub(super) fn new(
        roots: &[Arc<Certificate>],
        verifier: &mut impl SignatureVerifier,
    ) -> Result<Trust, Refusal> {
        Refusal::limit(roots.len(), MAX_AUTHORITIES)?;
        let mut trusted = BTreeMap::new();
        for root in roots {
            let job = root.self_signed_job().ok_or(Refusal::UnknownIssuer(root.id()))?;
            if !is_valid(&job, verifier) {
                return Err(Refusal::BadSignature { of: Signed::Root });
            }
            trusted.insert(root.id(), Arc::clone(root));
        }
        Ok(Trust { roots: trusted, authorities: BTreeMap::new() })
    }

    pub(super) fn add(
        &mut self,
        authority: Arc<Certificate>,
        verifier: &mut impl SignatureVerifier,
    ) -> Result<(), Refusal> {
        let root = match authority.issuer() {
            Issuer::Certificate(id) => self.root(&id)?,
            Issuer::Itself => return Err(Refusal::UnknownIssuer(authority.id())),
        };
        chain::check(&authority, root, Signed::Authority)?;
        if !is_valid(&authority.job(root), verifier) {
            return Err(Refusal::BadSignature { of: Signed::Authority });
        }
        Refusal::limit(self.authorities.len() + 1, MAX_AUTHORITIES)?;
        self.authorities.insert(authority.id(), authority);
        Ok(())
    }

    fn root(&self, id: &HashedId8) -> Result<&Arc<Certificate>, Refusal> {
        self.roots.get(id).ok_or(Refusal::UnknownIssuer(*id))
    }

    pub(super) fn authority(&self, id: &HashedId8) -> Result<&Arc<Certificate>, Refusal> {
        self.authorities.get(id).ok_or(Refusal::UnknownIssuer(*id))
    }

    pub(super) fn root_of(&self, authority: &Certificate) -> Option<&Certificate> {
        match authority.issuer() {
            Issuer::Certificate(id) => self.roots.get(&id).map(Arc::as_ref),
            Issuer::Itself => None,
        }
    }
}

fn is_valid(job: &crate::job::SignatureJob, verifier: &mut impl SignatureVerifier) -> bool {
    let mut verdicts = Vec::with_capacity(1);
    verifier.verify(std::slice::from_ref(job), &mut verdicts);
    verdicts == [true]
}
