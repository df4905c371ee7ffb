//! Cryptography for DTLS: RustCrypto's, with keys from a run's seed where there is one.

use std::fmt;

use dimpl::crypto::rust_crypto::default_provider;
use dimpl::crypto::{ActiveKeyExchange, Buf, CryptoProvider, SecureRandom, SupportedKxGroup};
use dimpl::{CryptoError, CryptoOperation, NamedGroup};
use x25519_dalek::{PublicKey, StaticSecret};

use crate::tls::{Randomness, fill_seeded, seeded_key, shared_secret};

/// The algorithms. In a simulated run they work only within [`Randomness::scope`].
pub(super) fn provider(randomness: &Randomness) -> CryptoProvider {
    let mut provider = default_provider();
    if randomness.seeded().is_some() {
        provider.kx_groups = &[&SeededX25519];
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

/// X25519 (RFC 7748) with a key from the seed.
#[derive(Debug)]
struct SeededX25519;

impl SupportedKxGroup for SeededX25519 {
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }

    fn start_exchange(&self, mut buf: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let secret = seeded_key().map_err(|_| NO_RANDOMNESS)?;
        buf.clear();
        buf.extend_from_slice(PublicKey::from(&secret).as_bytes());
        Ok(Box::new(SeededExchange { secret, public: buf }))
    }
}

struct SeededExchange {
    secret: StaticSecret,
    public: Buf,
}

impl fmt::Debug for SeededExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeededExchange")
    }
}

impl ActiveKeyExchange for SeededExchange {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let invalid = CryptoError::InvalidPublicKey(NamedGroup::X25519);
        let shared = shared_secret(&self.secret, peer).ok_or(invalid)?;
        out.clear();
        out.extend_from_slice(&shared);
        Ok(())
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}
