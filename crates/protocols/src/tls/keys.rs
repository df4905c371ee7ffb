//! Keys of certificates. All sign without randomness, so that a run repeats.

use std::fmt;
use std::sync::{Arc, LazyLock};

use ml_dsa::MlDsaParams;
use ml_dsa::signature::{Keypair as _, Verifier as _};
use p256::SecretKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{DerSignature, SigningKey as P256Key};
use p256::pkcs8::EncodePrivateKey as _;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring::default_provider};
use rustls::pki_types::SignatureVerificationAlgorithm as Verification;
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SubjectPublicKeyInfoDer, alg_id};
use rustls::sign::{Signer, SigningKey, public_key_to_spki};
use rustls::{SignatureAlgorithm, SignatureScheme};

use crate::config::KeyKind;
use KeyKind::{Ed25519, MlDsa44, MlDsa65, MlDsa87, P256};

/// A private key of any kind. ECDSA takes its nonce from key and message (RFC 6979).
#[derive(Clone)]
pub(super) struct Key {
    pub(super) kind: KeyKind,
    /// The public key as in certificates.
    pub(super) public: Vec<u8>,
    /// The private key in PKCS #8, for libraries that sign by themselves; P-256 only.
    pub(super) pkcs8: Vec<u8>,
    pub(super) sign: Sign,
}

type Sign = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

impl Key {
    /// A new key from the bytes that `fill` provides.
    pub(super) fn new(
        kind: KeyKind,
        mut fill: impl FnMut(&mut [u8]) -> Result<(), String>,
    ) -> Result<Key, String> {
        let mut seed = || {
            let mut seed = [0; 32];
            fill(&mut seed).map(|()| seed)
        };
        let (public, sign): (Vec<u8>, Sign) = match kind {
            P256 => return Key::of_p256(p256_secret(seed)?.into()),
            Ed25519 => {
                let pair =
                    Ed25519KeyPair::from_seed_unchecked(&seed()?).map_err(|e| e.to_string())?;
                let public = pair.public_key().as_ref().to_vec();
                (public, Arc::new(move |message| pair.sign(message).as_ref().to_vec()))
            }
            MlDsa44 => ml_dsa::<ml_dsa::MlDsa44>(seed()?),
            MlDsa65 => ml_dsa::<ml_dsa::MlDsa65>(seed()?),
            MlDsa87 => ml_dsa::<ml_dsa::MlDsa87>(seed()?),
        };
        Ok(Key { kind, public, pkcs8: Vec::new(), sign })
    }

    pub(super) fn of_p256(key: P256Key) -> Result<Key, String> {
        let public = key.verifying_key().to_sec1_point(false).as_bytes().to_vec();
        let pkcs8 = SecretKey::from(&key).to_pkcs8_der().map_err(|error| error.to_string())?;
        let sign = Arc::new(move |message: &[u8]| {
            let signature: DerSignature = key.sign(message);
            signature.as_bytes().to_vec()
        });
        Ok(Key { kind: P256, public, pkcs8: pkcs8.as_bytes().to_vec(), sign })
    }
}

/// Draws again for zero and numbers beyond the group's order: once in 2^32.
pub(super) fn p256_secret<E>(
    mut draw: impl FnMut() -> Result<[u8; 32], E>,
) -> Result<SecretKey, E> {
    loop {
        if let Ok(secret) = SecretKey::from_slice(&draw()?) {
            return Ok(secret);
        }
    }
}

fn ml_dsa<P: MlDsaParams + 'static>(seed: [u8; 32]) -> (Vec<u8>, Sign) {
    let key = ml_dsa::SigningKey::<P>::from_seed(&seed.into());
    let public = key.verifying_key().encode().to_vec();
    (public, Arc::new(move |message| key.sign(message).encode().to_vec()))
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.kind)
    }
}

impl SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered.contains(&self.scheme()).then(|| Box::new(self.clone()) as Box<dyn Signer>)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(public_key_to_spki(&self.kind.public_key_alg_id(), &self.public))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        algorithms(self.kind).2
    }
}

impl Signer for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        Ok((self.sign)(message))
    }

    fn scheme(&self) -> SignatureScheme {
        algorithms(self.kind).1
    }
}

/// The algorithm of the key, and its signatures in TLS 1.3 and 1.2; ML-DSA has no number in the latter.
fn algorithms(kind: KeyKind) -> (AlgorithmIdentifier, SignatureScheme, SignatureAlgorithm) {
    use SignatureAlgorithm as Old;
    use SignatureScheme as New;
    match kind {
        P256 => (alg_id::ECDSA_P256, New::ECDSA_NISTP256_SHA256, Old::ECDSA),
        Ed25519 => (alg_id::ED25519, New::ED25519, Old::ED25519),
        MlDsa44 => (alg_id::ML_DSA_44, New::ML_DSA_44, Old::Unknown(0)),
        MlDsa65 => (alg_id::ML_DSA_65, New::ML_DSA_65, Old::Unknown(0)),
        MlDsa87 => (alg_id::ML_DSA_87, New::ML_DSA_87, Old::Unknown(0)),
    }
}

/// The verification of ML-DSA (FIPS 204), which ring does not have.
impl Verification for KeyKind {
    fn verify_signature(&self, key: &[u8], text: &[u8], by: &[u8]) -> Result<(), InvalidSignature> {
        let verified = match self {
            P256 | Ed25519 => None,
            MlDsa44 => verified::<ml_dsa::MlDsa44>(key, text, by),
            MlDsa65 => verified::<ml_dsa::MlDsa65>(key, text, by),
            MlDsa87 => verified::<ml_dsa::MlDsa87>(key, text, by),
        };
        verified.ok_or(InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        algorithms(*self).0
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        if *self == P256 { alg_id::ECDSA_SHA256 } else { self.public_key_alg_id() }
    }
}

fn verified<P: MlDsaParams>(key: &[u8], text: &[u8], signature: &[u8]) -> Option<()> {
    let key = ml_dsa::VerifyingKey::<P>::decode(&key.try_into().ok()?);
    key.verify(text, &signature.try_into().ok()?).ok()
}

/// The signatures that ring verifies, and those of ML-DSA.
pub(super) fn with_ml_dsa() -> WebPkiSupportedAlgorithms {
    type Mapping = (SignatureScheme, &'static [&'static dyn Verification]);
    static ML_DSA: [&dyn Verification; 3] = [&MlDsa44, &MlDsa65, &MlDsa87];
    static BOTH: LazyLock<(Vec<&'static dyn Verification>, Vec<Mapping>)> = LazyLock::new(|| {
        let ring = default_provider().signature_verification_algorithms;
        let ours = [MlDsa44, MlDsa65, MlDsa87]
            .map(|kind| algorithms(kind).1)
            .into_iter()
            .zip(ML_DSA.chunks(1));
        ([ring.all, &ML_DSA].concat(), ring.mapping.iter().copied().chain(ours).collect())
    });
    WebPkiSupportedAlgorithms { all: &BOTH.0, mapping: &BOTH.1 }
}

#[cfg(test)]
mod tests {
    use trackbed_core::text::hex;

    use super::*;

    /// RFC 6979 appendix A.2.5: P-256, SHA-256, message "sample".
    #[test]
    fn signatures_are_those_of_rfc_6979() {
        let key = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721";
        let byte = |at| u8::from_str_radix(&key[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..64).step_by(2).map(byte).collect();
        let key = Key::of_p256(P256Key::from_slice(&bytes).unwrap()).unwrap();
        let r = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716";
        let s = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";
        // Both numbers have their top bit set, so DER puts a zero byte before each.
        assert_eq!(hex(&(key.sign)(b"sample")), format!("3046022100{r}022100{s}"));
    }
}
