//! Points of the curve as IEEE 1609.2 writes them (section 6.3.23): five forms of which a public key
//! may have three, and the point R of a signature four.

use rasn_its::ieee1609dot2::base_types as asn1;

use crate::job::PublicKey;
use crate::refusal::{Refusal, Signed};

/// The form of the point R of a signature. The standard leaves it to the sender (section 6.3.29);
/// only its x is verified, whatever the form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointForm {
    /// The x coordinate alone: what certificates have in their canonical form.
    #[default]
    XOnly,
    /// The x coordinate, and one bit of y.
    Compressed,
    /// Both coordinates.
    Uncompressed,
}

/// The r and s of a signature on P-256, whichever form its point R has.
pub(crate) fn signature_scalars(
    signature: &asn1::Signature,
    of: Signed,
) -> Result<([u8; 32], [u8; 32]), Refusal> {
    let asn1::Signature::EcdsaNistP256(signature) = signature else {
        return Err(Refusal::SignatureCurve { of });
    };
    let r = match &signature.r_sig {
        asn1::EccP256CurvePoint::XOnly(x)
        | asn1::EccP256CurvePoint::CompressedY0(x)
        | asn1::EccP256CurvePoint::CompressedY1(x) => **x,
        asn1::EccP256CurvePoint::Uncompressed(point) => *point.x,
        asn1::EccP256CurvePoint::Fill(()) => return Err(Refusal::FillPoint { of }),
    };
    Ok((r, *signature.s_sig))
}

/// The key that a certificate holds, checked to be on the curve. `x-only` and `fill` are no keys
/// (section 6.3.37).
pub(crate) fn public_key(key: &asn1::PublicVerificationKey) -> Result<PublicKey, Refusal> {
    let asn1::PublicVerificationKey::EcdsaNistP256(point) = key else {
        return Err(Refusal::KeyCurve);
    };
    let key = match point {
        asn1::EccP256CurvePoint::CompressedY0(x) => PublicKey::decompress(x, false),
        asn1::EccP256CurvePoint::CompressedY1(x) => PublicKey::decompress(x, true),
        asn1::EccP256CurvePoint::Uncompressed(point) => {
            PublicKey::from_coordinates(&point.x, &point.y)
        }
        asn1::EccP256CurvePoint::XOnly(_) | asn1::EccP256CurvePoint::Fill(()) => None,
    };
    key.ok_or(Refusal::KeyNotOnCurve)
}

/// The compressed form of an uncompressed point, as canonical encodings have it; `None` if it is
/// compressed already.
pub(crate) fn compressed(point: &asn1::EccP256CurvePoint) -> Option<asn1::EccP256CurvePoint> {
    let asn1::EccP256CurvePoint::Uncompressed(point) = point else { return None };
    let is_odd = point.y.last().is_some_and(|byte| byte & 1 == 1);
    Some(compress(&point.x, is_odd))
}

pub(crate) fn compressed_key(key: &PublicKey) -> asn1::EccP256CurvePoint {
    compress(key.x(), key.y()[31] & 1 == 1)
}

/// The point with this x as a signature's R, in the requested form.
pub(crate) fn signature_point(
    x: [u8; 32],
    y_is_odd: bool,
    form: PointForm,
) -> asn1::EccP256CurvePoint {
    match (form, PublicKey::decompress(&x, y_is_odd)) {
        (PointForm::Uncompressed, Some(point)) => {
            asn1::EccP256CurvePoint::Uncompressed(asn1::EccP256CurvePointUncompressedP256 {
                x: x.into(),
                y: (*point.y()).into(),
            })
        }
        // A signature whose r was reduced by n has no point of that x: one in 2^128.
        (PointForm::XOnly, _) | (PointForm::Uncompressed, None) => {
            asn1::EccP256CurvePoint::XOnly(x.into())
        }
        (PointForm::Compressed, _) => compress(&x, y_is_odd),
    }
}

fn compress(x: &[u8; 32], y_is_odd: bool) -> asn1::EccP256CurvePoint {
    match y_is_odd {
        false => asn1::EccP256CurvePoint::CompressedY0((*x).into()),
        true => asn1::EccP256CurvePoint::CompressedY1((*x).into()),
    }
}
