//! Canonical octet encoding rules (ITU-T X.696), one part at a time: so that the signed bytes are
//! the received ones, not a re-encoding.
//!
//! Extension additions that a type does not know are skipped; an alternative that it does not know
//! is refused. So is what is not canonical: a number or length with more octets than it needs, a
//! default that is written out. There are no bounds with an extension marker.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub(crate) use encode::length;

use serde_json::Value as Json;

use super::{Type, Value};
use crate::refusal::Refusal;

/// Takes a value of type `kind` from the front of `bytes`: the value, its bytes, and what is left.
pub(crate) fn take<'a>(
    what: &'static str,
    kind: &Type,
    bytes: &'a [u8],
) -> Result<(Value, &'a [u8], &'a [u8]), Refusal> {
    let (value, rest) = decode::decode(kind, bytes).map_err(|it| Refusal::malformed(what, &it))?;
    Ok((value, &bytes[..bytes.len() - rest.len()], rest))
}

pub(crate) fn take_bytes<'a, const N: usize>(
    what: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8; N], &'a [u8]), Refusal> {
    bytes.split_first_chunk().ok_or_else(|| Refusal::malformed(what, &"it ends too early"))
}

/// Takes octets that follow their number.
pub(crate) fn take_octets<'a>(
    what: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8], &'a [u8]), Refusal> {
    decode::octets(bytes).map_err(|fault| Refusal::malformed(what, &fault))
}

pub(crate) fn finish(what: &'static str, rest: &[u8]) -> Result<(), Refusal> {
    match rest.len() {
        0 => Ok(()),
        len => Err(Refusal::TrailingBytes { what, len }),
    }
}

/// The encoding of a value of type `kind`, given in the form of JSON encoding rules (X.697).
pub(crate) fn encode(what: &'static str, kind: &Type, value: &Json) -> Result<Vec<u8>, Refusal> {
    encode::encode(kind, value).map_err(|fault| Refusal::malformed(what, &fault))
}

/// The encoding of `value` after `change`; `bytes` is its encoding before.
///
/// # Errors
/// If it cannot be encoded without a loss, because it has extensions that `kind` does not know.
pub(crate) fn changed(
    what: &'static str,
    kind: &Type,
    value: &Value,
    bytes: &[u8],
    change: impl FnOnce(&mut Json),
) -> Result<Vec<u8>, Refusal> {
    let mut value = value.to_json();
    if encode(what, kind, &value)? != bytes {
        return Err(Refusal::malformed(what, &"its canonical form would lose unknown extensions"));
    }
    change(&mut value);
    encode(what, kind, &value)
}
