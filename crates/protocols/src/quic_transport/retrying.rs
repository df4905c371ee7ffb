//! Retry (RFC 9000 section 8.1.2): under load, unknown clients must first prove their address.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use noq::crypto::{CryptoError, HandshakeTokenKey};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use trackbed_substrate::now;

use crate::tls::Randomness;

/// Seals the tokens that clients must return. The secret is drawn at first use: most servers never
/// need it.
pub(super) struct RetryTokens {
    randomness: Randomness,
    key: OnceLock<LessSafeKey>,
}

impl RetryTokens {
    pub(super) fn new(randomness: &Randomness) -> RetryTokens {
        RetryTokens { randomness: randomness.clone(), key: OnceLock::new() }
    }

    fn draw(&self) -> Result<LessSafeKey, CryptoError> {
        let mut secret = [0; 32];
        self.randomness.fill(&mut secret).map_err(|_| CryptoError)?;
        let key = UnboundKey::new(&AES_256_GCM, &secret).map_err(|_| CryptoError)?;
        Ok(LessSafeKey::new(key))
    }
}

impl HandshakeTokenKey for RetryTokens {
    fn seal(&self, token_nonce: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        let key = match self.key.get() {
            Some(key) => key,
            None => {
                let drawn = self.draw()?;
                self.key.get_or_init(|| drawn)
            }
        };
        let sealed = key.seal_in_place_append_tag(nonce(token_nonce), Aad::empty(), data);
        sealed.map_err(|_| CryptoError)
    }

    fn open<'a>(&self, token_nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        // Without issued tokens, none is returned.
        let key = self.key.get().ok_or(CryptoError)?;
        let opened = key.open_in_place(nonce(token_nonce), Aad::empty(), data);
        opened.map(|content| &*content).map_err(|_| CryptoError)
    }
}

/// The engine draws 128 bits for each token; 96 of them suffice to distinguish tokens.
fn nonce(token_nonce: u128) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes.copy_from_slice(&token_nonce.to_le_bytes()[..NONCE_LEN]);
    Nonce::assume_unique_for_key(bytes)
}

/// Has tokens age by the substrate's clock, and none be given for later connections (NEW_TOKEN,
/// RFC 9000 section 8.1.3).
pub(super) fn set(server: &mut noq::ServerConfig) {
    let mut later = noq::ValidationTokenConfig::default();
    later.sent(0);
    server.validation_token_config(later).time_source(Arc::new(Clock));
}

struct Clock;

impl noq::TimeSource for Clock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(now().as_nanos())
    }
}
