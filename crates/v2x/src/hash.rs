//! Digests: the identifiers of certificates, and the input of signatures.

use std::fmt;

use ring::digest::{SHA256, digest};

/// SHA-256 of `bytes`.
///
/// By ring: the `sha2` crate in its latest version is a hundred times slower in some builds.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

/// The signed digest: `SHA256(SHA256(data) || SHA256(signer identifier input))` (IEEE 1609.2
/// section 5.3.1.2.2). `signer` is the second of the two: the hash of the signer's certificate, or
/// the hash of nothing ([`SELF_SIGNED`]) for self-signed data.
pub fn signed_digest(data: &[u8], signer: &CertificateHash) -> [u8; 32] {
    let mut input = [0; 64];
    input[..32].copy_from_slice(&sha256(data));
    input[32..].copy_from_slice(&signer.0);
    sha256(&input)
}

/// SHA-256 of nothing, the signer identifier input of self-signed data.
pub const SELF_SIGNED: CertificateHash = CertificateHash([
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
]);

/// The hash of a certificate in its canonical form (IEEE 1609.2 section 6.4.3), which is both its
/// name and the hash of the signer identifier input for what it signs. So it is computed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertificateHash(pub [u8; 32]);

impl CertificateHash {
    /// The last eight bytes (`HashedId8`), by which signers and issuers are named.
    pub fn id8(&self) -> HashedId8 {
        let mut id = [0; 8];
        id.copy_from_slice(&self.0[24..]);
        HashedId8(id)
    }
}

/// The short name of a certificate: the last eight bytes of its hash (IEEE 1609.2 section 6.3.26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashedId8(pub [u8; 8]);

impl fmt::Display for HashedId8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_the_last_bytes() {
        // IEEE 1609.2 section 6.3.26 gives this example with SHA-256 of nothing.
        assert_eq!(sha256(b""), SELF_SIGNED.0);
        assert_eq!(SELF_SIGNED.id8().to_string(), "A495991B7852B855");
    }
}
