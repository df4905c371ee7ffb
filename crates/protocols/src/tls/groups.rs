//! Groups of the key exchange: ring's, those with keys from a run's seed, and the hybrids with
//! ML-KEM-768 (draft-ietf-tls-ecdhe-mlkem).

use ml_kem::ml_kem_768::{Ciphertext, DecapsulationKey, EncapsulationKey};
use ml_kem::{B32, Decapsulate as _, KeyExport as _, Seed, TryKeyInit as _};
use p256::SecretKey;
use p256::ecdh::diffie_hellman;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::crypto::ring::kx_group;
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup,
};
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};
use trackbed_connection::KeyExchange;
use x25519_dalek::PublicKey;

use super::provider::{fill_seeded, seeded_key, shared_secret};

/// The group of `exchange`. In a simulated run its keys come from the seed; ring's own draw from the
/// operating system.
pub(super) fn group(exchange: KeyExchange, is_seeded: bool) -> &'static dyn SupportedKxGroup {
    match (exchange, is_seeded) {
        (KeyExchange::X25519, false) => kx_group::X25519,
        (KeyExchange::X25519, true) => &Seeded::X25519,
        (KeyExchange::P256, false) => kx_group::SECP256R1,
        (KeyExchange::P256, true) => &Seeded::P256,
        (KeyExchange::X25519MlKem768, false) => &Hybrid { kem_is_first: true, is_seeded: false },
        (KeyExchange::X25519MlKem768, true) => &Hybrid { kem_is_first: true, is_seeded: true },
        (KeyExchange::P256MlKem768, false) => &Hybrid { kem_is_first: false, is_seeded: false },
        (KeyExchange::P256MlKem768, true) => &Hybrid { kem_is_first: false, is_seeded: true },
    }
}

/// What a negotiated group stands for.
pub(super) fn meaning(negotiated: &dyn SupportedKxGroup) -> Option<KeyExchange> {
    let is_it = |exchange: &KeyExchange| group(*exchange, false).name() == negotiated.name();
    KeyExchange::ALL.iter().copied().find(is_it)
}

/// A curve with a key from the seed.
#[derive(Debug)]
enum Seeded {
    X25519,
    P256,
}

impl SupportedKxGroup for Seeded {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let (share, complete): (Vec<u8>, Complete) = match self {
            Seeded::X25519 => {
                let secret = seeded_key()?;
                let share = PublicKey::from(&secret).as_bytes().to_vec();
                (share, Box::new(move |peer| shared_secret(&secret, peer).map(Vec::from)))
            }
            Seeded::P256 => {
                let mut key = [0; 32];
                // Fails only for zero and numbers beyond the group's order: once in 2^32.
                let secret = loop {
                    fill_seeded(&mut key)?;
                    if let Ok(secret) = SecretKey::from_slice(&key) {
                        break secret;
                    }
                };
                let share = secret.public_key().to_sec1_point(false).as_bytes().to_vec();
                let complete = move |peer: &[u8]| {
                    let peer = p256::PublicKey::from_sec1_bytes(peer).ok()?;
                    let shared = diffie_hellman(secret.to_nonzero_scalar(), peer.as_affine());
                    Some(shared.raw_secret_bytes().to_vec())
                };
                (share, Box::new(complete))
            }
        };
        Ok(Box::new(Exchange { group: self.name(), share, complete }))
    }

    fn name(&self) -> NamedGroup {
        match self {
            Seeded::X25519 => NamedGroup::X25519,
            Seeded::P256 => NamedGroup::secp256r1,
        }
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
        let curve = if self.kem_is_first { KeyExchange::X25519 } else { KeyExchange::P256 };
        group(curve, self.is_seeded)
    }

    fn draw<const N: usize>(&self) -> Result<[u8; N], GetRandomFailed> {
        let mut bytes = [0; N];
        match self.is_seeded {
            true => fill_seeded(&mut bytes)?,
            false => SystemRandom::new().fill(&mut bytes).map_err(|_| GetRandomFailed)?,
        }
        Ok(bytes)
    }
}

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let curve = self.curve().start()?;
        let seed: [u8; 64] = self.draw()?;
        let key = DecapsulationKey::from_seed(Seed::from(seed));
        let kem_is_first = self.kem_is_first;
        let share = joined(kem_is_first, &key.encapsulation_key().to_bytes(), curve.pub_key());
        let complete = move |peer: &[u8]| {
            let (kem, rest) = split(kem_is_first, peer, CIPHERTEXT_LEN)?;
            let kem = key.decapsulate(&Ciphertext::try_from(kem).ok()?);
            let curve = curve.complete(rest).ok()?;
            Some(joined(kem_is_first, &kem, curve.secret_bytes()))
        };
        Ok(Box::new(Exchange { group: self.name(), share, complete: Box::new(complete) }))
    }

    /// A server's share depends on the client's.
    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let invalid = || PeerMisbehaved::InvalidKeyShare;
        let kem_is_first = self.kem_is_first;
        let (kem, rest) = split(kem_is_first, peer, ENCAPSULATION_KEY_LEN).ok_or_else(invalid)?;
        let kem = EncapsulationKey::new_from_slice(kem).map_err(|_| invalid())?;
        let curve = self.curve().start_and_complete(rest)?;
        let (ciphertext, shared) = kem.encapsulate_deterministic(&B32::from(self.draw()?));
        let secret = joined(kem_is_first, &shared, curve.secret.secret_bytes());
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: joined(kem_is_first, &ciphertext, &curve.pub_key),
            secret: SharedSecret::from(&secret[..]),
        })
    }

    fn name(&self) -> NamedGroup {
        match self.kem_is_first {
            true => NamedGroup::X25519MLKEM768,
            false => NamedGroup::secp256r1MLKEM768,
        }
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// An exchange that waits for the peer's share.
struct Exchange {
    group: NamedGroup,
    share: Vec<u8>,
    complete: Complete,
}

/// From the peer's share to the secret; `None` if the share is not valid.
type Complete = Box<dyn FnOnce(&[u8]) -> Option<Vec<u8>> + Send + Sync>;

impl ActiveKeyExchange for Exchange {
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

    /// draft-ietf-tls-ecdhe-mlkem section 4: the lengths of shares and secrets, here from the
    /// operating system's randomness. A damaged, short or long share is refused.
    #[test]
    fn shares_have_the_lengths_of_the_draft_and_both_ends_agree() {
        let lengths = [(32, 32, 32), (65, 65, 32), (1_216, 1_120, 64), (1_249, 1_153, 64)];
        for (&exchange, (client, server, secret)) in KeyExchange::ALL.iter().zip(lengths) {
            let group = group(exchange, false);
            assert_eq!(meaning(group), Some(exchange));
            let asked = group.start().unwrap();
            let share = asked.pub_key().to_vec();
            let answer = group.start_and_complete(&share).unwrap();
            assert_eq!((share.len(), answer.pub_key.len()), (client, server), "{exchange}");
            for broken in [&share[1..], &[], &[&share[..], &[0]].concat()] {
                assert!(group.start_and_complete(broken).is_err(), "{exchange}");
            }
            assert!(group.start().unwrap().complete(&answer.pub_key[1..]).is_err(), "{exchange}");
            let shared = asked.complete(&answer.pub_key).unwrap();
            assert_eq!(shared.secret_bytes(), answer.secret.secret_bytes(), "{exchange}");
            assert_eq!(shared.secret_bytes().len(), secret, "{exchange}");
        }
    }
}
