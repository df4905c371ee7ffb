//! The arithmetic part of the security decision: signatures to verify.
//!
//! A [`SignatureJob`] is three plain values, so that a verifier needs no knowledge of messages, and
//! can take many at a time in any order.

use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::elliptic_curve::sec1::{FromSec1Point as _, ToSec1Point as _};
use p256::{AffinePoint, Sec1Point};

/// A point of P-256 that is a public key: affine coordinates, big-endian, on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey {
    x: [u8; 32],
    y: [u8; 32],
}

impl PublicKey {
    /// The point with this x, and a y that is odd or not; `None` if the curve has no such point.
    pub fn decompress(x: &[u8; 32], y_is_odd: bool) -> Option<PublicKey> {
        let mut bytes = [0; 33];
        bytes[0] = 2 + u8::from(y_is_odd);
        bytes[1..].copy_from_slice(x);
        PublicKey::from_encoded(Sec1Point::from_bytes(bytes).ok()?)
    }

    /// The point with these coordinates; `None` if it is not on the curve.
    pub fn from_coordinates(x: &[u8; 32], y: &[u8; 32]) -> Option<PublicKey> {
        PublicKey::from_encoded(Sec1Point::from_affine_coordinates(x.into(), y.into(), false))
    }

    /// The first coordinate, big-endian.
    pub fn x(&self) -> &[u8; 32] {
        &self.x
    }

    /// The second coordinate, big-endian.
    pub fn y(&self) -> &[u8; 32] {
        &self.y
    }

    /// Uncompressed as in SEC 1 section 2.3.3: 4, x, y.
    pub fn to_sec1(&self) -> [u8; 65] {
        let mut bytes = [4; 65];
        bytes[1..33].copy_from_slice(&self.x);
        bytes[33..].copy_from_slice(&self.y);
        bytes
    }

    fn from_encoded(encoded: Sec1Point) -> Option<PublicKey> {
        let point = Option::<AffinePoint>::from(AffinePoint::from_sec1_point(&encoded))?;
        let point = point.to_sec1_point(false);
        Some(PublicKey { x: (*point.x()?).into(), y: (*point.y()?).into() })
    }
}

/// One signature to verify: whether `key` has signed `digest` with (`r`, `s`), by ECDSA on P-256.
///
/// `r` and `s` are as received, big-endian; the verifier must check that they lie in 1..n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureJob {
    /// The signer's key.
    pub key: PublicKey,
    /// The signed SHA-256 digest.
    pub digest: [u8; 32],
    /// The signature's first half: the x of its point R.
    pub r: [u8; 32],
    /// The signature's second half.
    pub s: [u8; 32],
}

/// A verifier of signatures, one or many at a time.
pub trait SignatureVerifier {
    /// Appends to `verdicts` one for each of `jobs`, in their order: true if the signature is valid.
    fn verify(&mut self, jobs: &[SignatureJob], verdicts: &mut Vec<bool>);
}

/// Verifies one after the other with the `p256` crate: slow (about 250 us each), portable, and
/// independent of the fast implementations.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortableVerifier;

impl SignatureVerifier for PortableVerifier {
    fn verify(&mut self, jobs: &[SignatureJob], verdicts: &mut Vec<bool>) {
        verdicts.extend(jobs.iter().map(is_valid));
    }
}

/// Decides each signature by itself.
impl<F: FnMut(&SignatureJob) -> bool> SignatureVerifier for F {
    fn verify(&mut self, jobs: &[SignatureJob], verdicts: &mut Vec<bool>) {
        verdicts.extend(jobs.iter().map(self));
    }
}

fn is_valid(job: &SignatureJob) -> bool {
    let Ok(key) = VerifyingKey::from_sec1_bytes(&job.key.to_sec1()) else { return false };
    let Ok(signature) = Signature::from_scalars(job.r, job.s) else { return false };
    key.verify_prehash(&job.digest, &signature).is_ok()
}
