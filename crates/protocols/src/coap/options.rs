//! Options (RFC 7252 section 5.10), and the path of a request in them.

use coap_lite::{CoapOption, Packet};
use trackbed_connection::{Error, MAX_PATH_LEN, Priority, Result};

pub(super) const URI_PATH: u16 = 11;
pub(super) const URI_QUERY: u16 = 15;
pub(super) const BLOCK2: u16 = 23;
pub(super) const BLOCK1: u16 = 27;
const URI_HOST: u16 = 3;
const URI_PORT: u16 = 7;
const ACCEPT: u16 = 17;
pub(super) const ETAG: u16 = 4;
const PROXY_URI: u16 = 35;
const PROXY_SCHEME: u16 = 39;
/// Distinguishes bodies in blocks of the same path (RFC 9175 section 3).
pub(super) const REQUEST_TAG: u16 = 292;

/// Ours, elective and of the experimental range (RFC 7252 section 12.2): the exact HTTP status,
/// where its code maps to another.
pub(super) const EXACT_STATUS: u16 = 65_000;
/// The priority that the client gives its request.
pub(super) const PRIORITY: u16 = 65_004;

pub(super) fn first(packet: &Packet, number: u16) -> Option<&[u8]> {
    packet.get_first_option(CoapOption::from(number)).map(Vec::as_slice)
}

pub(super) fn all(packet: &Packet, number: u16) -> impl Iterator<Item = &[u8]> {
    packet.get_option(CoapOption::from(number)).into_iter().flatten().map(Vec::as_slice)
}

pub(super) fn add(packet: &mut Packet, number: u16, value: Vec<u8>) {
    packet.add_option(CoapOption::from(number), value);
}

/// A number in as few bytes as it needs (RFC 7252 section 3.2).
pub(super) fn uint(value: u32) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    bytes[value.leading_zeros() as usize / 8..].to_vec()
}

/// The first critical option of a request that is not understood here (RFC 7252 section 5.4.1), and
/// whether it asks for a proxy (section 5.7.2).
pub(super) fn not_understood(packet: &Packet) -> Option<(u16, bool)> {
    let known = [URI_HOST, URI_PORT, URI_PATH, URI_QUERY, ACCEPT, BLOCK1, BLOCK2];
    let is_critical = |number: u16| number % 2 == 1;
    let mut numbers = packet.options().map(|(&number, _)| number);
    let unknown = numbers.find(|number| is_critical(*number) && !known.contains(number))?;
    Some((unknown, [PROXY_URI, PROXY_SCHEME].contains(&unknown)))
}

/// Whether a response has a critical option that is not understood here.
pub(super) fn response_is_understood(packet: &Packet) -> bool {
    packet.options().all(|(&number, _)| number % 2 == 0 || [BLOCK1, BLOCK2].contains(&number))
}

/// The options of a request that are the same in every block.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Values of Uri-Path and Uri-Query.
    options: Vec<(u16, Vec<u8>)>,
    pub(super) priority: Option<Priority>,
    pub(super) tag: Option<u32>,
}

impl Target {
    /// Splits a path into options (RFC 7252 section 6.4); `path` is one that every protocol can
    /// carry.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a part of it is longer than an option may be.
    pub(super) fn of(
        protocol: &'static str,
        path: &str,
        priority: Option<Priority>,
    ) -> Result<Target> {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let mut options = Vec::new();
        if path != "/" {
            let segments = path.split('/').skip(1);
            options.extend(segments.map(|segment| (URI_PATH, decoded(segment))));
        }
        let parameters = query.into_iter().flat_map(|query| query.split('&'));
        options.extend(parameters.map(|parameter| (URI_QUERY, decoded(parameter))));
        if options.iter().any(|(_, value)| value.len() > VALUE_MAX) {
            let advice = "a segment of a path has at most 255 bytes (RFC 7252 section 5.10)";
            return Err(Error::unsupported(protocol, advice));
        }
        Ok(Target { options, priority, tag: None })
    }

    pub(super) fn add_to(&self, packet: &mut Packet) {
        for (number, value) in &self.options {
            add(packet, *number, value.clone());
        }
        if let Some(tag) = self.tag {
            add(packet, REQUEST_TAG, tag.to_be_bytes().to_vec());
        }
        if let Some(priority) = self.priority {
            add(packet, PRIORITY, uint(priority.to_byte().into()));
        }
    }

    /// The maximum size of these options.
    pub(super) fn len_max(&self) -> usize {
        let options: usize = self.options.iter().map(|(_, value)| value.len() + 5).sum();
        options + self.tag.map_or(0, |_| 9) + self.priority.map_or(0, |_| 6)
    }
}

/// The path of a request (RFC 7252 section 6.5), and the client's priority; `None` if it is longer
/// than any path may be.
pub(super) fn path(packet: &Packet) -> Option<(String, Option<Priority>)> {
    let mut path = String::new();
    for segment in all(packet, URI_PATH) {
        path.push('/');
        encode(segment, PATH_CHARACTERS, &mut path);
    }
    if path.is_empty() {
        path.push('/');
    }
    for (number, parameter) in all(packet, URI_QUERY).enumerate() {
        path.push(if number == 0 { '?' } else { '&' });
        encode(parameter, QUERY_CHARACTERS, &mut path);
    }
    let priority = first(packet, PRIORITY).and_then(|value| match value {
        [] => Priority::from_byte(0),
        &[byte] => Priority::from_byte(byte),
        _ => None,
    });
    (path.len() <= MAX_PATH_LEN).then_some((path, priority))
}

/// Decodes percent-encoding (RFC 3986 section 2.1); other text stays unchanged.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| (*byte? as char).to_digit(16);
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high << 4 | low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

fn encode(value: &[u8], plain: &[u8], text: &mut String) {
    for &byte in value {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            text.push(byte as char);
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// Characters that a path segment may contain unencoded: unreserved, sub-delims, `:` and `@`.
const PATH_CHARACTERS: &[u8] = b"-._~!$&'()*+,;=:@";
/// In a parameter of a query, `/` and `?` too, but not the `&` between parameters.
const QUERY_CHARACTERS: &[u8] = b"-._~!$'()*+,;=:@/?";

/// The most bytes of a Uri-Path or Uri-Query option.
const VALUE_MAX: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    fn round(path_text: &str) -> String {
        let mut packet = Packet::new();
        Target::of("coap", path_text, None).unwrap().add_to(&mut packet);
        path(&packet).unwrap().0
    }

    #[test]
    fn a_path_comes_back_from_its_options() {
        let all =
            ["/", "/a", "/a/", "/a//b", "//", "/rpc?n=1", "/?", "/?a&b=/c?d", "/a%2Fb", "/x?y%26z"];
        for text in all {
            assert_eq!(round(text), text);
        }
        // Needless encoding is removed, and a bare percent sign is encoded.
        assert_eq!(round("/%41%c3%a9"), "/A%C3%A9");
        assert_eq!(round("/50%"), "/50%25");
    }

    /// RFC 7252 section 6.3: `coap://example.net/.well-known/core` has two segments.
    #[test]
    fn segments_and_parameters_are_options_of_their_own() {
        let target = Target::of("coap", "/.well-known/core?rt=a&if=b", None).unwrap();
        let values: Vec<(u16, &[u8])> =
            target.options.iter().map(|(number, value)| (*number, &value[..])).collect();
        let expected: [(u16, &[u8]); 4] =
            [(11, b".well-known"), (11, b"core"), (15, b"rt=a"), (15, b"if=b")];
        assert_eq!(values, expected);
        assert!(Target::of("coap", &format!("/{}", "a".repeat(256)), None).is_err());
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        assert_eq!([uint(0), uint(255), uint(256)], [vec![], vec![255], vec![1, 0]]);
    }

    #[test]
    fn critical_options_are_odd() {
        let with = |number| {
            let mut packet = Packet::new();
            add(&mut packet, number, vec![]);
            not_understood(&packet)
        };
        assert_eq!(with(URI_PATH), None);
        assert_eq!(with(EXACT_STATUS), None);
        assert_eq!(with(9), Some((9, false)));
        assert_eq!(with(PROXY_URI), Some((PROXY_URI, true)));
    }
}
