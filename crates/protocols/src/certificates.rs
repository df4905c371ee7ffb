//! What kinds of certificates an end has, or the user's own.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use trackbed_core::named;
use webpki::EndEntityCert;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

named! {
    /// The kind of a certificate's key.
    #[derive(Default)]
    pub enum KeyKind {
        /// ECDSA on P-256.
        #[default]
        P256 = "p256",
        /// Ed25519 (RFC 8032).
        Ed25519 = "ed25519",
        /// ML-DSA (FIPS 204) of category 2, against quantum computers.
        MlDsa44 = "ml-dsa-44",
        /// ML-DSA of category 3.
        MlDsa65 = "ml-dsa-65",
        /// ML-DSA of category 5.
        MlDsa87 = "ml-dsa-87",
    }
}

/// A server's certificates. By default it has one of P-256, which its clients trust directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The kinds of the server's key and of each intermediate's. The root, which is not sent, has
    /// that of the last.
    pub kinds: Vec<KeyKind>,
    /// The user's own chain and key, instead.
    pub certificate: Option<Arc<OwnCertificate>>,
    /// The length of the stapled OCSP response, whose bytes are random.
    pub staple: usize,
    /// The length of the signed certificate timestamps in the certificate, random too.
    pub sct: usize,
    /// Whether it is compressed by zlib (RFC 8879).
    pub compressed: bool,
    /// Whether the client has a chain of the same kinds, which the server demands.
    pub client_auth: bool,
}

impl Chain {
    /// Whether signatures may be of ML-DSA, which needs TLS 1.3.
    pub fn has_ml_dsa(&self) -> bool {
        let is_new = |kind| !matches!(kind, &KeyKind::P256 | &KeyKind::Ed25519);
        self.kinds.iter().any(is_new)
    }
}

/// A chain of the user's, from the server's certificate up, and its key.
#[derive(Debug, PartialEq, Eq)]
pub struct OwnCertificate {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) name: String,
    /// Since 1970; the latest beginning of the chain.
    pub(crate) valid_from: Duration,
}

impl OwnCertificate {
    /// From PEM (RFC 7468): certificates, and the private key of the first.
    ///
    /// # Errors
    /// If something is missing, damaged or too long for TLS; the text has the remedy.
    pub fn from_pem(text: &str) -> Result<OwnCertificate, String> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        let chain = chain.map_err(|why| format!("its PEM is damaged: {why}"))?;
        let leaf = chain.first().ok_or("it has no certificate: put the server's first, in PEM")?;
        let len: usize = chain.iter().map(|certificate| certificate.len()).sum();
        if len > CHAIN_MAX {
            return Err(format!("its chain has {len} B, TLS ends take {CHAIN_MAX} B: shorten it"));
        }
        let parsed = EndEntityCert::try_from(leaf)
            .map_err(|why| format!("its first certificate is not valid X.509: {why}"))?;
        let name = parsed.valid_dns_names().next().map(|name| name.replace('*', "any"));
        let name = name.ok_or("its first certificate has no DNS name: add a subjectAltName")?;
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|why| {
            format!("it has no private key without a password: append it in PEM ({why})")
        })?;
        let signing = any_supported_type(&key).map_err(|why| format!("its private key: {why}"))?;
        let fits = CertifiedKey::new(chain.clone(), signing).keys_match();
        if matches!(fits, Err(rustls::Error::InconsistentKeys(_))) {
            return Err("its private key is not that of its first certificate".to_owned());
        }
        let parsed = chain.iter().filter_map(|one| Certificate::from_der(one).ok());
        let beginnings = parsed.map(|one| one.tbs_certificate().validity().not_before);
        let valid_from = beginnings.map(|time| time.to_unix_duration()).max().unwrap_or_default();
        Ok(OwnCertificate { name, key, valid_from, chain: chain.clone() })
    }
}

/// What TLS libraries take is 64 KiB, the message's own fields included.
const CHAIN_MAX: usize = 65_000;
