//! Signatures of messages, verified by `trackbed-verifier`.

use trackbed_core::event::Judgement;
use trackbed_v2x::Refusal;
use trackbed_v2x::job::{SignatureJob, SignatureVerifier};
use trackbed_verifier::cache::{KeyCache, Policy};
use trackbed_verifier::{Digest, Item, Path, PublicKey, Signature, Verifier};

/// Verifies on the calling thread, one message at a time.
pub struct OnThisThread {
    keys: KeyCache,
    verifier: Verifier,
}

/// The uses after which a key gets its table: a forged message with a new key is not worth one.
pub(crate) const TABLE_AFTER: u32 = 3;

impl OnThisThread {
    /// With tables of keys as the policy has it.
    pub fn new(policy: Policy) -> OnThisThread {
        OnThisThread { keys: KeyCache::new(policy, Path::fastest()), verifier: Verifier::new() }
    }

    fn is_valid(&mut self, job: &SignatureJob) -> bool {
        let Some((key, digest, signature)) = parts(job) else { return false };
        let key = self.keys.get(&key);
        let item = Item { key: key.as_key(), digest: &digest, signature: &signature };
        self.verifier.verify_one(item).is_valid()
    }
}

impl SignatureVerifier for OnThisThread {
    fn verify(&mut self, jobs: &[SignatureJob], verdicts: &mut Vec<bool>) {
        verdicts.extend(jobs.iter().map(|job| self.is_valid(job)));
    }
}

/// A job in the verifier's types; `None` if its key is not a point, which a receiver has ruled out.
pub(crate) fn parts(job: &SignatureJob) -> Option<(PublicKey, Digest, Signature)> {
    let key = PublicKey::from_coordinates(job.key.x(), job.key.y()).ok()?;
    Some((key, Digest(job.digest), Signature { r: job.r, s: job.s }))
}

pub(crate) fn judgement(refusal: &Refusal) -> Judgement {
    match refusal {
        Refusal::BadSignature { .. } => Judgement::BadSignature,
        Refusal::UnknownSigner(_) => Judgement::UnknownSigner,
        _ => Judgement::Refused,
    }
}
