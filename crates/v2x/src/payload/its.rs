//! CAM and DENM, and the data dictionary that both use.

use crate::asn1::{Type, Value, uper};
use crate::refusal::Refusal;

module!("its.asn1": CAM, DENM);

/// A CAM or DENM at the front of `bytes`, at most `max` of them: the message that its header calls
/// `id`, of version 1 or 2.
pub(super) fn decode_its(
    name: &'static str,
    of: &Type,
    id: i64,
    max: usize,
    bytes: &[u8],
) -> Result<Value, Refusal> {
    Refusal::limit(bytes.len(), max)?;
    let message = uper::decode(of, bytes).map_err(|error| Refusal::malformed(name, &error))?;
    let number = |path| message.integer(path).unwrap_or_default();
    let (is, version) = (number("header.messageID"), number("header.protocolVersion"));
    if is != id || !matches!(version, 1 | 2) {
        let text = format!("message {is} of version {version}, not a {name} ({id} of version 2)");
        return Err(Refusal::malformed(name, &text));
    }
    Ok(message)
}
