//! Points of the curve as IEEE 1609.2 writes them (section 6.3.23): five forms of which a public key
//! may have three, and the point R of a signature four.

use serde_json::{Value as Json, json};

use crate::asn1::{Value, hex};
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
    signature: &Value,
    of: Signed,
) -> Result<([u8; 32], [u8; 32]), Refusal> {
    let ("ecdsaNistP256Signature", signature) = signature.chosen() else {
        return Err(Refusal::SignatureCurve { of, kind: signature.chosen().0 });
    };
    let r = signature.at("rSig").and_then(x).ok_or(Refusal::FillPoint { of })?;
    let s = coordinate(signature.octets("sSig")).ok_or(Refusal::FillPoint { of })?;
    Ok((r, s))
}

/// The x of a point; `None` if it has none (`fill`).
fn x(point: &Value) -> Option<[u8; 32]> {
    match point.chosen() {
        ("uncompressedP256", both) => coordinate(both.octets("x")),
        (_, Value::Octets(x)) => coordinate(Some(x)),
        _ => None,
    }
}

fn coordinate(octets: Option<&[u8]>) -> Option<[u8; 32]> {
    octets?.try_into().ok()
}

/// The key that a certificate holds, checked to be on the curve. `x-only` and `fill` are no keys
/// (section 6.3.37).
pub(crate) fn public_key(key: &Value) -> Result<PublicKey, Refusal> {
    let ("ecdsaNistP256", point) = key.chosen() else {
        return Err(Refusal::KeyCurve(key.chosen().0));
    };
    let key = x(point).and_then(|x| match point.chosen() {
        ("compressed-y-0", _) => PublicKey::decompress(&x, false),
        ("compressed-y-1", _) => PublicKey::decompress(&x, true),
        (_, both) => PublicKey::from_coordinates(&x, &coordinate(both.octets("y"))?),
    });
    key.ok_or(Refusal::KeyNotOnCurve)
}

/// The compressed form of an uncompressed point, as canonical encodings have it; `None` if it is
/// compressed already.
pub(crate) fn compressed(point: &Value) -> Option<Json> {
    let ("uncompressedP256", both) = point.chosen() else { return None };
    let is_odd = both.octets("y")?.last()? & 1 == 1;
    Some(compress(both.octets("x")?, is_odd))
}

pub(crate) fn compressed_key(key: &PublicKey) -> Json {
    compress(key.x(), key.y()[31] & 1 == 1)
}

fn compress(x: &[u8], y_is_odd: bool) -> Json {
    json!({ (if y_is_odd { "compressed-y-1" } else { "compressed-y-0" }): hex(x) })
}

/// The encoding of a signature on P-256, its R in the requested form.
pub(crate) fn signature(r: &[u8; 32], s: &[u8; 32], y_is_odd: bool, form: PointForm) -> Vec<u8> {
    // Alternatives: ecdsaNistP256Signature, and those of a point in their order.
    let x_only = (0x80, None);
    let (point, y) = match form {
        PointForm::XOnly => x_only,
        PointForm::Compressed => (0x82 | u8::from(y_is_odd), None),
        // A signature whose r was reduced by n has no point of that x: one in 2^128.
        PointForm::Uncompressed => match PublicKey::decompress(r, y_is_odd) {
            Some(point) => (0x84, Some(*point.y())),
            None => x_only,
        },
    };
    [&[0x80, point][..], r, y.as_ref().map_or(&[], <[u8; 32]>::as_slice), s].concat()
}
