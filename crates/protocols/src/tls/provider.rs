//! Cryptography for TLS: ring's, with randomness from the operating system or from a run's seed.
//!
//! rustls requires its source of randomness as a `&'static` object without state. The seeded source
//! therefore reads a thread-local slot that is filled only while [`Randomness::scope`] runs a call
//! into the library. Outside such a call it fails, and a [`SeededEntropy`] comes only from a
//! simulated host: no connection of a real host can ever draw from it.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::SupportedCipherSuite;
use rustls::crypto::ring::{cipher_suite as suites, default_provider};
use rustls::crypto::{CryptoProvider, GetRandomFailed, SecureRandom};
use rustls::pki_types::UnixTime;
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};
use trackbed_connection::{CipherSuite, TlsVersion};
use trackbed_substrate::{Entropy, SeededEntropy, wall_clock};

use super::groups::group;
use super::keys::with_ml_dsa;
use crate::config::{Chain, TlsParameters};

/// Where the randomness of one host's TLS sessions comes from.
#[derive(Clone, Debug)]
pub(crate) struct Randomness {
    seeded: Option<SeededEntropy>,
}

impl Randomness {
    pub(crate) fn new(entropy: Entropy) -> Randomness {
        match entropy {
            Entropy::Seeded(seeded) => Randomness { seeded: Some(seeded) },
            _ => Randomness { seeded: None },
        }
    }

    /// The seeded source, on a simulated host.
    pub(crate) fn seeded(&self) -> Option<&SeededEntropy> {
        self.seeded.as_ref()
    }

    /// Fills `bytes` unpredictably, or from the seed.
    pub(crate) fn fill(&self, bytes: &mut [u8]) -> Result<(), String> {
        match &self.seeded {
            Some(seeded) => seeded.fill(bytes).map_err(|error| error.to_string()),
            None => SystemRandom::new()
                .fill(bytes)
                .map_err(|_| "the system has no random-number generator".to_owned()),
        }
    }

    /// Runs one call into the TLS library, which may draw randomness.
    pub(crate) fn scope<T>(&self, call: impl FnOnce() -> T) -> T {
        let Some(seeded) = &self.seeded else { return call() };
        let _restore = Restore(CURRENT.replace(Some(seeded.clone())));
        call()
    }

    /// The algorithms that `parameters` allow, in their order.
    pub(crate) fn provider(&self, parameters: &TlsParameters) -> Arc<CryptoProvider> {
        let mut provider = default_provider();
        provider.cipher_suites = parameters.suites();
        // By default one group on every substrate, so that the handshake's messages are of the same length.
        let is_seeded = self.seeded.is_some();
        let groups = parameters.key_exchanges.iter().map(|&exchange| group(exchange, is_seeded));
        provider.kx_groups = groups.collect();
        if parameters.chain.has_ml_dsa() {
            provider.signature_verification_algorithms = with_ml_dsa();
        }
        if is_seeded {
            provider.secure_random = &SeededRandom;
        }
        Arc::new(provider)
    }

    /// The clock for certificates and tickets. A simulated run begins when the user's own are valid.
    pub(crate) fn time_provider(&self, chain: &Chain) -> Arc<dyn TimeProvider> {
        let valid_from = chain.certificate.as_ref().map(|own| own.valid_from).unwrap_or_default();
        match self.seeded {
            Some(_) => Arc::new(RunTime(valid_from.saturating_sub(wall_clock()))),
            None => Arc::new(DefaultTimeProvider),
        }
    }
}

impl TlsParameters {
    fn suites(&self) -> Vec<SupportedCipherSuite> {
        let of = |version| self.ciphers.iter().map(move |&cipher| suite(version, cipher));
        self.versions.iter().flat_map(|&version| of(version)).collect()
    }
}

/// The suite for `cipher` in `version`. In TLS 1.2 the certificate is of type ECDSA.
fn suite(version: TlsVersion, cipher: CipherSuite) -> SupportedCipherSuite {
    match (version, cipher) {
        (TlsVersion::Tls13, CipherSuite::Aes128Gcm) => suites::TLS13_AES_128_GCM_SHA256,
        (TlsVersion::Tls13, CipherSuite::Aes256Gcm) => suites::TLS13_AES_256_GCM_SHA384,
        (TlsVersion::Tls13, CipherSuite::ChaCha20Poly1305) => {
            suites::TLS13_CHACHA20_POLY1305_SHA256
        }
        (TlsVersion::Tls12, CipherSuite::Aes128Gcm) => {
            suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        }
        (TlsVersion::Tls12, CipherSuite::Aes256Gcm) => {
            suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        }
        (TlsVersion::Tls12, CipherSuite::ChaCha20Poly1305) => {
            suites::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
        }
    }
}

/// The version and the cipher that a negotiated suite stands for.
pub(super) fn meaning(negotiated: SupportedCipherSuite) -> Option<(TlsVersion, CipherSuite)> {
    TlsVersion::ALL
        .iter()
        .flat_map(|&version| CipherSuite::ALL.iter().map(move |&cipher| (version, cipher)))
        .find(|&(version, cipher)| suite(version, cipher) == negotiated)
}

thread_local! {
    static CURRENT: RefCell<Option<SeededEntropy>> = const { RefCell::new(None) };
}

/// Restores the slot, even if the call panics.
struct Restore(Option<SeededEntropy>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.replace(self.0.take());
    }
}

/// Fills `bytes` from the seed of the run whose [`Randomness::scope`] this call is in.
///
/// # Errors
/// Outside of such a scope.
pub(crate) fn fill_seeded(bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
    CURRENT.with_borrow(|current| {
        current.as_ref().ok_or(GetRandomFailed)?.fill(bytes).map_err(|_| GetRandomFailed)
    })
}

#[derive(Debug)]
struct SeededRandom;

impl SecureRandom for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        fill_seeded(bytes)
    }
}

#[derive(Debug)]
struct RunTime(Duration);

impl TimeProvider for RunTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(wall_clock() + self.0))
    }
}

#[cfg(test)]
mod tests {
    use trackbed_connection::KeyExchange;

    use super::*;

    #[test]
    fn every_suite_differs_from_every_other() {
        for &version in TlsVersion::ALL {
            for &cipher in CipherSuite::ALL {
                assert_eq!(meaning(suite(version, cipher)), Some((version, cipher)));
            }
        }
    }

    #[test]
    fn the_seeded_source_is_shut_outside_a_scope() {
        assert!(SeededRandom.fill(&mut [0; 8]).is_err());
        assert!(KeyExchange::ALL.iter().all(|&exchange| group(exchange, true).start().is_err()));
        let system = Randomness::new(Entropy::System);
        assert!(system.scope(|| SeededRandom.fill(&mut [0; 8])).is_err());
    }
}
