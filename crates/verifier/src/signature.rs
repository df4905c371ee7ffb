//! Signatures and digests from their octets.

/// A signature: two integers of 32 octets each, the most significant first. The verdict checks
/// their range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The x-coordinate of the signature's point, modulo n. IEEE 1609.2 sends a point of the curve;
    /// it is its x-coordinate that counts.
    pub r: [u8; 32],
    /// The other part.
    pub s: [u8; 32],
}

/// Why octets are not a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum SignatureError {
    #[error("a signature must be 64 octets: r and s of 32 each")]
    Length,
    #[error("a DER signature must be a SEQUENCE of two INTEGERs")]
    Der,
    #[error("r and s must not be negative, and must have at most 256 bits")]
    Range,
}

impl Signature {
    /// Reads r and s of 32 octets each (IEEE P1363).
    ///
    /// # Errors
    /// [`SignatureError::Length`].
    pub fn from_p1363(octets: &[u8]) -> Result<Self, SignatureError> {
        match octets.as_chunks::<32>() {
            ([r, s], []) => Ok(Self { r: *r, s: *s }),
            _ => Err(SignatureError::Length),
        }
    }

    /// Reads an `Ecdsa-Sig-Value` (RFC 3279 section 2.2.3) in DER (ITU-T X.690).
    ///
    /// # Errors
    /// [`SignatureError::Der`] for another encoding, BER's freedoms included,
    /// [`SignatureError::Range`] for integers that no signature has.
    pub fn from_der(octets: &[u8]) -> Result<Self, SignatureError> {
        // Below 128 octets in all, a length is one octet.
        let [0x30, length, rest @ ..] = octets else { return Err(SignatureError::Der) };
        if *length >= 0x80 || usize::from(*length) != rest.len() {
            return Err(SignatureError::Der);
        }
        let (r, rest) = integer(rest)?;
        let (s, rest) = integer(rest)?;
        if rest.is_empty() { Ok(Self { r, s }) } else { Err(SignatureError::Der) }
    }

    /// The signature as an `Ecdsa-Sig-Value` in DER, from 8 to 72 octets.
    #[must_use]
    pub fn to_der(&self) -> Vec<u8> {
        let mut der = vec![0x30, 0];
        for integer in [&self.r, &self.s] {
            let zeros = integer.iter().take(31).take_while(|octet| **octet == 0).count();
            let magnitude = &integer[zeros..];
            let sign = usize::from(magnitude[0] >= 0x80);
            // At most 33 octets each, so that every length is one octet.
            der.extend([0x02, (magnitude.len() + sign) as u8]);
            der.extend(std::iter::repeat_n(0, sign));
            der.extend(magnitude);
        }
        der[1] = (der.len() - 2) as u8;
        der
    }
}

/// The hash of a message, as the 256 bits that ECDSA on P-256 looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(
    /// The integer e, the most significant octet first. It may be n or more.
    pub [u8; 32],
);

impl Digest {
    /// The leftmost 256 bits of a hash, or all of a shorter one (FIPS 186-5 section 6.4.2 step 2).
    #[must_use]
    pub fn from_hash(hash: &[u8]) -> Self {
        let taken = &hash[..hash.len().min(32)];
        let mut octets = [0; 32];
        octets[32 - taken.len()..].copy_from_slice(taken);
        Self(octets)
    }
}

impl From<[u8; 32]> for Digest {
    fn from(octets: [u8; 32]) -> Self {
        Self(octets)
    }
}

/// An INTEGER of at most 256 bits, and the bytes after it.
fn integer(octets: &[u8]) -> Result<([u8; 32], &[u8]), SignatureError> {
    let [0x02, length, rest @ ..] = octets else { return Err(SignatureError::Der) };
    let length = usize::from(*length);
    if length == 0 || length >= 0x80 || length > rest.len() {
        return Err(SignatureError::Der);
    }
    let (octets, rest) = rest.split_at(length);
    let magnitude = match octets {
        [0, second, ..] if second & 0x80 == 0 => return Err(SignatureError::Der),
        [0xff, second, ..] if second & 0x80 != 0 => return Err(SignatureError::Der),
        [first, ..] if first & 0x80 != 0 => return Err(SignatureError::Range),
        [0, magnitude @ ..] => magnitude,
        _ => octets,
    };
    let mut integer = [0; 32];
    let place = 32usize.checked_sub(magnitude.len()).ok_or(SignatureError::Range)?;
    integer[place..].copy_from_slice(magnitude);
    Ok((integer, rest))
}
