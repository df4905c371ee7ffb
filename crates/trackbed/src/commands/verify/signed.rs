//! The signatures to verify: one in twenty is forged.

use anyhow::Context as _;
use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use trackbed_verifier::{Digest, PublicKey, Signature};

/// The number of signatures, which repeat; at least one of each key.
const SIGNATURES: usize = 4_096;
/// One in this number is forged.
const FORGED: usize = 20;

/// A signature, and whether it is forged.
pub struct Signed {
    /// The index of the key in [`Workload::keys`].
    pub key: usize,
    pub digest: Digest,
    pub signature: Signature,
    /// The same in DER.
    pub der: Vec<u8>,
    /// Whether the digest was changed afterwards.
    pub is_forged: bool,
}

/// Keys, and signatures by each of them in turn.
pub struct Workload {
    pub keys: Vec<PublicKey>,
    pub signed: Vec<Signed>,
}

impl Workload {
    /// Signs with `keys` keys. Keys and digests are consecutive numbers; their values do not matter.
    pub fn new(keys: usize) -> anyhow::Result<Workload> {
        let secrets: Vec<SigningKey> =
            (1..=keys as u64).map(secret).collect::<anyhow::Result<_>>()?;
        let public = |secret: &SigningKey| {
            let point = secret.verifying_key().to_sec1_point(false);
            Ok(PublicKey::from_sec1(point.as_bytes())?)
        };
        let signed = (0..SIGNATURES.max(keys)).map(|number| sign(&secrets, number));
        Ok(Workload {
            keys: secrets.iter().map(public).collect::<anyhow::Result<_>>()?,
            signed: signed.collect::<anyhow::Result<_>>()?,
        })
    }
}

fn secret(number: u64) -> anyhow::Result<SigningKey> {
    let mut secret = [0x5a; 32];
    secret[24..].copy_from_slice(&number.to_be_bytes());
    SigningKey::from_slice(&secret).context("invalid P-256 key")
}

fn sign(secrets: &[SigningKey], number: usize) -> anyhow::Result<Signed> {
    let key = number % secrets.len();
    let mut digest = [0xa5; 32];
    digest[..8].copy_from_slice(&(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    let made: p256::ecdsa::Signature = secrets[key].sign_prehash(&digest)?;
    let (r, s) = made.split_bytes();
    let signature = Signature { r: r.into(), s: s.into() };
    let is_forged = number.is_multiple_of(FORGED);
    digest[31] ^= u8::from(is_forged);
    Ok(Signed { key, digest: Digest(digest), der: signature.to_der(), signature, is_forged })
}
