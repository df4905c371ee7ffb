//! A server's key and certificate.

use std::sync::Arc;

use p256::SecretKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{DerSignature, SigningKey as P256Key};
use p256::pkcs8::EncodePrivateKey as _;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{SignatureAlgorithm, SignatureScheme};

use super::provider::Randomness;
use crate::config::Trust;

/// A P-256 key with a certificate for [`SERVER_NAME`].
pub(crate) struct Identity {
    pub(super) key: Arc<CertifiedKey>,
    /// The private key in PKCS #8, for libraries that sign by themselves.
    pub(crate) pkcs8: Vec<u8>,
    pub(crate) trust: Trust,
}

impl Identity {
    /// A new identity from `randomness`.
    ///
    /// # Errors
    /// If the source of randomness fails.
    pub(crate) fn new(randomness: &Randomness) -> Result<Identity, String> {
        match randomness.seeded() {
            None => Identity::from_system(),
            Some(seeded) => {
                Identity::from_seeded(|bytes| seeded.fill(bytes).map_err(|error| error.to_string()))
            }
        }
    }

    fn from_system() -> Result<Identity, String> {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|e| e.to_string())?;
        let certificate = certify(&pair)?;
        let pkcs8 = pair.serialize_der();
        let der = PrivatePkcs8KeyDer::from(pkcs8.clone());
        let key = rustls::crypto::ring::sign::any_ecdsa_type(&der.into());
        Ok(Identity::of(certificate, key.map_err(|e| e.to_string())?, pkcs8))
    }

    fn from_seeded(
        mut fill: impl FnMut(&mut [u8]) -> Result<(), String>,
    ) -> Result<Identity, String> {
        let key = loop {
            let mut bytes = [0; 32];
            fill(&mut bytes)?;
            // Fails only for zero and numbers beyond the group's order: once in 2^32.
            if let Ok(key) = P256Key::from_slice(&bytes) {
                break Arc::new(DeterministicP256::new(key));
            }
        };
        let pkcs8 = SecretKey::from(&key.key).to_pkcs8_der().map_err(|error| error.to_string())?;
        Ok(Identity::of(certify(key.as_ref())?, key, pkcs8.as_bytes().to_vec()))
    }

    fn of(
        certificate: CertificateDer<'static>,
        key: Arc<dyn SigningKey>,
        pkcs8: Vec<u8>,
    ) -> Identity {
        let key = Arc::new(CertifiedKey::new(vec![certificate.clone()], key));
        Identity { key, pkcs8, trust: Trust(certificate) }
    }
}

/// The name in every server's certificate (RFC 6761: `.test` is never a real domain).
pub const SERVER_NAME: &str = "server.trackbed.test";

fn certify(key: &impl rcgen::SigningKey) -> Result<CertificateDer<'static>, String> {
    let mut params = CertificateParams::new([SERVER_NAME.to_owned()]).map_err(|e| e.to_string())?;
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2049, 12, 31);
    let certificate = params.self_signed(key).map_err(|e| e.to_string())?;
    Ok(certificate.der().clone())
}

/// ECDSA over P-256 with SHA-256 whose nonce follows from key and message (RFC 6979), so that
/// signing draws no randomness.
#[derive(Debug)]
struct DeterministicP256 {
    key: P256Key,
    /// Uncompressed (SEC 1 section 2.3.3).
    public: Vec<u8>,
}

impl DeterministicP256 {
    fn new(key: P256Key) -> DeterministicP256 {
        let public = key.verifying_key().to_sec1_point(false).as_bytes().to_vec();
        DeterministicP256 { key, public }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signature: DerSignature = self.key.sign(message);
        signature.as_bytes().to_vec()
    }
}

impl PublicKeyData for DeterministicP256 {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for DeterministicP256 {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        Ok(self.sign(message))
    }
}

impl SigningKey for DeterministicP256 {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&SignatureScheme::ECDSA_NISTP256_SHA256)
            .then(|| Box::new(DeterministicP256::new(self.key.clone())) as Box<dyn Signer>)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl Signer for DeterministicP256 {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        Ok(self.sign(message))
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ECDSA_NISTP256_SHA256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6979 appendix A.2.5: P-256, SHA-256, message "sample".
    #[test]
    fn signatures_are_those_of_rfc_6979() {
        let key = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
        let key = DeterministicP256::new(P256Key::from_slice(&key).unwrap());
        let r = hex("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716");
        let s = hex("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
        // Both numbers have their top bit set, so DER puts a zero byte before each.
        let der = [&[0x30, 70, 2, 33, 0], &r[..], &[2, 33, 0], &s[..]].concat();
        assert_eq!(key.sign(b"sample"), der);
    }

    #[test]
    fn a_certificate_follows_from_its_seed() {
        let from = |byte: u8| {
            let identity = Identity::from_seeded(|bytes| {
                bytes.fill(byte);
                Ok(())
            });
            identity.unwrap().trust
        };
        assert_eq!(from(1), from(1));
        assert_ne!(from(1), from(2));
        assert!(Identity::from_seeded(|_| Err("shut".to_owned())).is_err());
    }

    fn hex(digits: &str) -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        (0..digits.len()).step_by(2).map(byte).collect()
    }
}
