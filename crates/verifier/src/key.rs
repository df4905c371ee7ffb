//! Public keys from their octets (SEC 1 version 2, section 2.3.4).

use crate::arithmetic::{FieldElement, from_be_bytes, to_be_bytes};
use crate::curve::Affine;

/// A point of P-256 that is not the one at infinity.
///
/// The group has prime order, so that every point of the curve is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey {
    point: Affine,
}

/// Why octets are not a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum KeyError {
    #[error(
        "a key must be 33 octets that start with 2 or 3, or 65 octets that start with 4 (SEC 1)"
    )]
    Format,
    #[error("a coordinate of the key is not below the prime of P-256")]
    Coordinate,
    #[error("the key is not a point of P-256")]
    NotOnCurve,
}

impl PublicKey {
    /// Reads a key of 33 octets (compressed: 2 or 3, and x) or of 65 (4, x and y).
    ///
    /// # Errors
    /// [`KeyError`]. The point at infinity (one octet, 0) and the hybrid form (6 or 7) are
    /// [`KeyError::Format`].
    pub fn from_sec1(octets: &[u8]) -> Result<Self, KeyError> {
        match octets {
            [4, coordinates @ ..] => {
                let ([x, y], []) = coordinates.as_chunks::<32>() else {
                    return Err(KeyError::Format);
                };
                Self::from_coordinates(x, y)
            }
            [tag @ (2 | 3), x @ ..] => {
                let x = x.try_into().map_err(|_| KeyError::Format)?;
                Self::from_x(x, *tag == 3)
            }
            _ => Err(KeyError::Format),
        }
    }

    /// The key with these coordinates, the most significant octet first.
    ///
    /// # Errors
    /// [`KeyError::Coordinate`] or [`KeyError::NotOnCurve`].
    pub fn from_coordinates(x: &[u8; 32], y: &[u8; 32]) -> Result<Self, KeyError> {
        let point = Affine { x: coordinate(x)?, y: coordinate(y)? };
        if point.is_on_curve() { Ok(Self { point }) } else { Err(KeyError::NotOnCurve) }
    }

    /// The key with this x-coordinate, and a y-coordinate that is odd, or even. Costs a square root,
    /// about a twentieth of a verification.
    ///
    /// # Errors
    /// [`KeyError::Coordinate`] or [`KeyError::NotOnCurve`].
    pub fn from_x(x: &[u8; 32], y_is_odd: bool) -> Result<Self, KeyError> {
        let point = Affine::from_x(coordinate(x)?, y_is_odd).ok_or(KeyError::NotOnCurve)?;
        Ok(Self { point })
    }

    /// The key as 65 octets: 4, x and y.
    #[must_use]
    pub fn to_sec1(&self) -> [u8; 65] {
        let mut octets = [4; 65];
        octets[1..33].copy_from_slice(&to_be_bytes(&self.point.x.to_integer()));
        octets[33..].copy_from_slice(&to_be_bytes(&self.point.y.to_integer()));
        octets
    }

    #[cfg(test)]
    pub(crate) const fn of_point(point: Affine) -> Self {
        Self { point }
    }

    pub(crate) const fn point(&self) -> &Affine {
        &self.point
    }
}

fn coordinate(octets: &[u8; 32]) -> Result<FieldElement, KeyError> {
    FieldElement::from_integer(&from_be_bytes(octets)).ok_or(KeyError::Coordinate)
}
