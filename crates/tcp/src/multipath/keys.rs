//! Keys, and what is derived from them (RFC 8684 sections 3.1, 3.2 and 3.4.1).

use std::net::IpAddr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The key of one side of a connection. It should be drawn at random, and so that no other
/// connection of the host has the same [`Key::token`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key(pub u64);

impl Key {
    /// The token of the connection in an MP_JOIN: the first 32 bits of the hash of the key.
    pub fn token(self) -> u32 {
        let hash = self.hash();
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }

    /// The initial data sequence number: the last 64 bits of the hash of the key.
    pub fn initial_data_number(self) -> u64 {
        last_64_bits(&self.hash())
    }

    fn hash(self) -> [u8; 32] {
        Sha256::digest(self.0.to_be_bytes()).into()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    pub local: Key,
    pub remote: Key,
}

impl Keys {
    /// The same, seen from the peer.
    pub fn mirrored(self) -> Keys {
        Keys { local: self.remote, remote: self.local }
    }

    /// Our side's proof of a join, to a peer that drew `remote_nonce`. Section 3.2: the key is the
    /// sender's key and the receiver's key, the message is both nonces in the same order.
    pub fn join(self, local_nonce: u32, remote_nonce: u32) -> [u8; 32] {
        let message = [local_nonce.to_be_bytes(), remote_nonce.to_be_bytes()].concat();
        self.authenticate(&message)
    }

    /// The HMAC of an address that our side announces. Section 3.4.1: over number, address and port,
    /// which is zero if there is none.
    pub fn address(self, id: u8, address: IpAddr, port: Option<u16>) -> u64 {
        let mut message = vec![id];
        match address {
            IpAddr::V4(address) => message.extend(address.octets()),
            IpAddr::V6(address) => message.extend(address.octets()),
        }
        message.extend(port.unwrap_or(0).to_be_bytes());
        last_64_bits(&self.authenticate(&message))
    }

    fn authenticate(self, message: &[u8]) -> [u8; 32] {
        let mut key = [0; 64];
        key[..8].copy_from_slice(&self.local.0.to_be_bytes());
        key[8..16].copy_from_slice(&self.remote.0.to_be_bytes());
        // A key shorter than the block is filled up with zeros anyway (RFC 2104 section 2).
        let mut hmac = Hmac::<Sha256>::new(&key.into());
        hmac.update(message);
        hmac.finalize().into_bytes().into()
    }
}

pub(super) fn first_64_bits(hmac: &[u8; 32]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *hmac;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

pub(super) fn first_160_bits(hmac: &[u8; 32]) -> [u8; 20] {
    let mut bits = [0; 20];
    bits.copy_from_slice(&hmac[..20]);
    bits
}

fn last_64_bits(hash: &[u8; 32]) -> u64 {
    let [.., a, b, c, d, e, f, g, h] = *hash;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's hashlib and hmac.
    #[test]
    fn tokens_numbers_and_proofs_are_those_of_another_implementation() {
        let keys = Keys { local: Key(0x0123_4567_89ab_cdef), remote: Key(0xfedc_ba98_7654_3210) };
        assert_eq!(keys.local.token(), 0x55c5_3f5d);
        assert_eq!(keys.local.initial_data_number(), 0x5707_62cd_38be_9818);
        let proof = keys.join(0x1111_1111, 0x2222_2222);
        assert_eq!(first_64_bits(&proof), 0x47ea_314b_6243_dcfb);
        assert_ne!(keys.mirrored().join(0x1111_1111, 0x2222_2222), proof);
        let address = [192, 0, 2, 7].into();
        assert_eq!(keys.address(3, address, None), 0xde8a_4e12_c464_07fe);
        assert_ne!(keys.address(3, address, Some(80)), keys.address(3, address, None));
    }
}
