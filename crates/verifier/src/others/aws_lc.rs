//! AWS-LC, which is built in by a feature.

use aws_lc_rs::digest::{Digest, SHA256};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};

use crate::Signature;

/// A parsed key.
pub struct AwsLcKey(ParsedPublicKey);

impl AwsLcKey {
    /// Reads a key of P-256 in SEC 1's form; none if AWS-LC refuses it.
    #[must_use]
    pub fn new(sec1: &[u8]) -> Option<Self> {
        ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, sec1).ok().map(Self)
    }

    /// Whether AWS-LC accepts the signature of the digest.
    #[must_use]
    pub fn verify(&self, digest: &crate::Digest, signature: &Signature) -> bool {
        let mut fixed = [0; 64];
        fixed[..32].copy_from_slice(&signature.r);
        fixed[32..].copy_from_slice(&signature.s);
        Digest::import_less_safe(&digest.0, &SHA256)
            .is_ok_and(|digest| self.0.verify_digest_sig(&digest, &fixed).is_ok())
    }
}
