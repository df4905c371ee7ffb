//! Groups of the key exchange: ring's, those with keys from a run's seed, and the hybrids with
//! ML-KEM-768 (draft-ietf-tls-ecdhe-mlkem).

use ml_kem::ml_kem_768::{Ciphertext, DecapsulationKey, EncapsulationKey};
use ml_kem::{B32, Decapsulate as _, KeyExport as _, Seed, TryKeyInit as _};
use p256::ecdh::diffie_hellman;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::crypto::ring::kx_group;
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup,
};
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};
use trackbed_connection::KeyExchange;
use x25519_dalek::{PublicKey, StaticSecret};

use super::keys::p256_secret;
use super::provider::fill_seeded;
use KeyExchange::{P256, P256MlKem768, X25519, X25519MlKem768};

/// The group of `exchange`. In a simulated run its keys come from the seed; ring's own draw from the
/// operating system.
pub(crate) fn group(exchange: KeyExchange, is_seeded: bool) -> &'static dyn SupportedKxGroup {
    match (exchange, is_seeded) {
        (X25519, false) => kx_group::X25519,
        (P256, false) => kx_group::SECP256R1,
        (X25519, true) => &Seeded(X25519),
        (P256, true) => &Seeded(P256),
        (X25519MlKem768, false) => &Hybrid { kem_is_first: true, is_seeded: false },
        (X25519MlKem768, true) => &Hybrid { kem_is_first: true, is_seeded: true },
        (P256MlKem768, false) => &Hybrid { kem_is_first: false, is_seeded: false },
        (P256MlKem768, true) => &Hybrid { kem_is_first: false, is_seeded: true },
    }
}

/// A curve with a key from the seed.
#[derive(Debug)]
struct Seeded(KeyExchange);

impl SupportedKxGroup for Seeded {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        if self.0 == X25519 {
            let secret = StaticSecret::from(draw(true)?);
            let share = PublicKey::from(&secret).as_bytes().to_vec();
            return Exchange::start(self.name(), share, move |peer| {
                let peer: [u8; 32] = peer.try_into().ok()?;
                let shared = secret.diffie_hellman(&peer.into());
                // RFC 8446 section 7.4.2 refuses an all-zero secret.
                shared.was_contributory().then(|| shared.to_bytes().to_vec())
            });
        }
        let secret = p256_secret(|| draw(true))?;
        let share = secret.public_key().to_sec1_point(false).as_bytes().to_vec();
        Exchange::start(self.name(), share, move |peer| {
            let peer = p256::PublicKey::from_sec1_bytes(peer).ok()?;
            let shared = diffie_hellman(secret.to_nonzero_scalar(), peer.as_affine());
            Some(shared.raw_secret_bytes().to_vec())
        })
    }

    fn name(&self) -> NamedGroup {
        if self.0 == X25519 { NamedGroup::X25519 } else { NamedGroup::secp256r1 }
    }
}

/// A curve and ML-KEM-768 (FIPS 203): shares and secrets are those of both, one after the other.
#[derive(Debug)]
struct Hybrid {
    /// True of X25519MLKEM768, whose name has the other order for historical reasons.
    kem_is_first: bool,
    is_seeded: bool,
}

impl Hybrid {
    fn curve(&self) -> &'static dyn SupportedKxGroup {
        group(if self.kem_is_first { X25519 } else { P256 }, self.is_seeded)
    }
}

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let (curve, kem_is_first) = (self.curve().start()?, self.kem_is_first);
        let key = DecapsulationKey::from_seed(Seed::from(draw(self.is_seeded)?));
        let share = joined(kem_is_first, &key.encapsulation_key().to_bytes(), curve.pub_key());
        Exchange::start(self.name(), share, move |peer| {
            let (kem, rest) = split(kem_is_first, peer, CIPHERTEXT_LEN)?;
            let kem = key.decapsulate(&Ciphertext::try_from(kem).ok()?);
            Some(joined(kem_is_first, &kem, curve.complete(rest).ok()?.secret_bytes()))
        })
    }

    /// A server's share depends on the client's.
    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let invalid = || PeerMisbehaved::InvalidKeyShare;
        let first = self.kem_is_first;
        let (kem, rest) = split(first, peer, ENCAPSULATION_KEY_LEN).ok_or_else(invalid)?;
        let kem = EncapsulationKey::new_from_slice(kem).map_err(|_| invalid())?;
        let curve = self.curve().start_and_complete(rest)?;
        let (ciphertext, shared) = kem.encapsulate_deterministic(&B32::from(draw(self.is_seeded)?));
        let secret = joined(first, &shared, curve.secret.secret_bytes());
        let (pub_key, secret) = (joined(first, &ciphertext, &curve.pub_key), (&secret[..]).into());
        Ok(CompletedKeyExchange { group: self.name(), pub_key, secret })
    }

    fn name(&self) -> NamedGroup {
        if self.kem_is_first { NamedGroup::X25519MLKEM768 } else { NamedGroup::secp256r1MLKEM768 }
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// An exchange that waits for the peer's share, and from it makes the secret.
struct Exchange<F> {
    group: NamedGroup,
    share: Vec<u8>,
    complete: F,
}

impl<F: FnOnce(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static> Exchange<F> {
    fn start(
        group: NamedGroup,
        share: Vec<u8>,
        complete: F,
    ) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Exchange { group, share, complete }))
    }
}

impl<F: FnOnce(&[u8]) -> Option<Vec<u8>> + Send + Sync> ActiveKeyExchange for Exchange<F> {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let shared = (self.complete)(peer).ok_or(PeerMisbehaved::InvalidKeyShare)?;
        Ok(SharedSecret::from(&shared[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        self.group
    }
}

fn draw<const N: usize>(is_seeded: bool) -> Result<[u8; N], GetRandomFailed> {
    let mut bytes = [0; N];
    match is_seeded {
        true => fill_seeded(&mut bytes)?,
        false => SystemRandom::new().fill(&mut bytes).map_err(|_| GetRandomFailed)?,
    }
    Ok(bytes)
}

fn joined(kem_is_first: bool, kem: &[u8], curve: &[u8]) -> Vec<u8> {
    if kem_is_first { [kem, curve].concat() } else { [curve, kem].concat() }
}

/// The part of ML-KEM, which is `len` bytes, and the curve's.
fn split(kem_is_first: bool, share: &[u8], len: usize) -> Option<(&[u8], &[u8])> {
    let first_len = if kem_is_first { len } else { share.len().checked_sub(len)? };
    let (first, second) = share.split_at_checked(first_len)?;
    Some(if kem_is_first { (first, second) } else { (second, first) })
}

/// FIPS 203 table 3.
const ENCAPSULATION_KEY_LEN: usize = 1_184;
const CIPHERTEXT_LEN: usize = 1_088;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_another_length_is_refused() {
        for group in KeyExchange::ALL.iter().map(|&exchange| group(exchange, false)) {
            let exchange = group.start().unwrap();
            let (short, long) = (&exchange.pub_key()[1..], [exchange.pub_key(), &[0]].concat());
            assert!(
                [short, &[], &long].iter().all(|share| group.start_and_complete(share).is_err())
            );
            assert!(group.start().unwrap().complete(short).is_err(), "{group:?}");
        }
    }
}
