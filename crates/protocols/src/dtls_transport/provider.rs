//! Cryptography for DTLS: RustCrypto's, with keys from a run's seed where there is one.

use std::fmt;
use std::panic::AssertUnwindSafe;

use dimpl::crypto::rust_crypto::default_provider;
use dimpl::crypto::{ActiveKeyExchange, Buf, CryptoProvider, SecureRandom, SupportedKxGroup};
use dimpl::{CryptoError, CryptoOperation, NamedGroup};
use trackbed_connection::KeyExchange;

use crate::tls::{Randomness, fill_seeded, group};

/// The algorithms. In a simulated run they work only within [`Randomness::scope`].
pub(super) fn provider(randomness: &Randomness) -> CryptoProvider {
    let mut provider = default_provider();
    if randomness.seeded().is_some() {
        provider.kx_groups = &[
            &Seeded(KeyExchange::X25519, NamedGroup::X25519),
            &Seeded(KeyExchange::P256, NamedGroup::Secp256r1),
        ];
        provider.secure_random = &SeededRandom;
    }
    provider
}

#[derive(Debug)]
struct SeededRandom;

impl SecureRandom for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), CryptoError> {
        fill_seeded(bytes).map_err(|_| NO_RANDOMNESS)
    }
}

const NO_RANDOMNESS: CryptoError = CryptoError::OperationFailed(CryptoOperation::FillRandom);

/// The groups of TLS with a key from the seed.
#[derive(Debug)]
struct Seeded(KeyExchange, NamedGroup);

impl SupportedKxGroup for Seeded {
    fn name(&self) -> NamedGroup {
        self.1
    }

    fn start_exchange(&self, mut buf: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let exchange = group(self.0, true).start().map_err(|_| NO_RANDOMNESS)?;
        buf.clear();
        buf.extend_from_slice(exchange.pub_key());
        Ok(Box::new(Exchange { exchange: AssertUnwindSafe(exchange), public: buf, group: self.1 }))
    }
}

struct Exchange {
    /// It is used once, and not after a panic.
    exchange: AssertUnwindSafe<Box<dyn rustls::crypto::ActiveKeyExchange>>,
    public: Buf,
    group: NamedGroup,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange({:?})", self.group)
    }
}

impl ActiveKeyExchange for Exchange {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let invalid = |_| CryptoError::InvalidPublicKey(self.group);
        let shared = self.exchange.0.complete(peer).map_err(invalid)?;
        out.clear();
        out.extend_from_slice(shared.secret_bytes());
        Ok(())
    }

    fn group(&self) -> NamedGroup {
        self.group
    }
}
