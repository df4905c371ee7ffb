//! Hello messages, read beside the engine: a client's before there is one, a server's for what it chose.

/// Whether a datagram begins as that of a client does (RFC 9147 sections 4 and 5.2).
fn is_client_hello(datagram: &[u8]) -> bool {
    matches!(datagram, [HANDSHAKE, 0xfe, ..])
        && datagram.get(RECORD_HEADER_LEN) == Some(&CLIENT_HELLO)
}

/// A ClientHello in one piece (RFC 6347 section 4.2.1, RFC 9147 section 5.3).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hello<'a> {
    datagram: &'a [u8],
    pub(super) random: &'a [u8],
    /// Whether the client offers DTLS 1.3 (RFC 8446 section 4.2.1).
    pub(super) offers_13: bool,
    pub(super) cookie: Option<&'a [u8]>,
    /// Its position, as the range to cut out of the message.
    cut: Option<Cut>,
    /// Where padding (RFC 7685) begins and ends.
    padding: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    from: usize,
    to: usize,
    /// Where the number of bytes of the list stands that gets shorter, and how wide that number is.
    length_at: usize,
    length_width: usize,
}

impl<'a> Hello<'a> {
    /// Reads a datagram; `None` if there is anything else in it, or not all of it.
    pub(super) fn parse(datagram: &'a [u8]) -> Option<Hello<'a>> {
        if !is_client_hello(datagram) {
            return None;
        }
        let record_len = usize::from(u16_at(datagram, RECORD_LENGTH_AT)?);
        let message_len = u24_at(datagram, MESSAGE_LENGTH_AT)?;
        let is_whole = u24_at(datagram, FRAGMENT_OFFSET_AT)? == 0
            && u24_at(datagram, FRAGMENT_OFFSET_AT + 3)? == message_len
            && record_len == MESSAGE_HEADER_LEN + message_len
            && datagram.len() == RECORD_HEADER_LEN + record_len;
        if !is_whole || u16_at(datagram, EPOCH_AT)? != 0 {
            return None;
        }
        let random = datagram.get(BODY_AT + 2..BODY_AT + 34)?;
        let session_at = BODY_AT + 34;
        let cookie_at = session_at + 1 + usize::from(*datagram.get(session_at)?);
        let cookie_len = usize::from(*datagram.get(cookie_at)?);
        let suites_at = cookie_at + 1 + cookie_len;
        let legacy_cookie = datagram.get(cookie_at + 1..suites_at)?;
        let methods_at = suites_at + 2 + usize::from(u16_at(datagram, suites_at)?);
        let extensions_at = methods_at + 1 + usize::from(*datagram.get(methods_at)?);
        let mut hello =
            Hello { datagram, random, offers_13: false, cookie: None, cut: None, padding: None };
        if !legacy_cookie.is_empty() {
            hello.cookie = Some(legacy_cookie);
            let (from, to) = (cookie_at + 1, suites_at);
            hello.cut = Some(Cut { from, to, length_at: cookie_at, length_width: 1 });
        }
        let mut at = extensions_at + 2;
        while at < datagram.len() {
            let kind = u16_at(datagram, at)?;
            let to = at + 4 + usize::from(u16_at(datagram, at + 2)?);
            let data = datagram.get(at + 4..to)?;
            match kind {
                SUPPORTED_VERSIONS => {
                    hello.offers_13 = data.get(1..)?.chunks(2).any(|version| version == DTLS_13);
                }
                COOKIE => {
                    hello.cookie = Some(data.get(2..)?);
                    let length_at = extensions_at;
                    hello.cut = Some(Cut { from: at, to, length_at, length_width: 2 });
                }
                PADDING => hello.padding = Some((at, to)),
                _ => {}
            }
            at = to;
        }
        Some(hello)
    }

    /// The datagram that this client must have sent before, without the cookie: all else is the
    /// same (RFC 8446 section 4.1.2). A client that pads its hello is assumed to pad to the same
    /// length both times. `None` if there is no cookie, or this is the first record of all.
    pub(super) fn before(&self) -> Option<Vec<u8>> {
        let Cut { from, to, length_at, length_width } = self.cut?;
        let mut datagram = self.datagram.to_vec();
        let gone = to - from;
        // The message before, in a record before.
        shorten(&mut datagram, SEQUENCE_AT, 6, 1)?;
        shorten(&mut datagram, MESSAGE_SEQUENCE_AT, 2, 1)?;
        if let Some((padding, end)) = self.padding {
            let len = u16_at(&datagram, padding + 2)?.checked_add(u16::try_from(gone).ok()?)?;
            datagram[padding + 2..padding + 4].copy_from_slice(&len.to_be_bytes());
            let zeros = std::iter::repeat_n(0, gone);
            if end > from {
                datagram.splice(end..end, zeros);
                datagram.drain(from..to);
            } else {
                datagram.drain(from..to);
                datagram.splice(end..end, zeros);
            }
            return Some(datagram);
        }
        shorten(&mut datagram, length_at, length_width, gone)?;
        shorten(&mut datagram, RECORD_LENGTH_AT, 2, gone)?;
        shorten(&mut datagram, MESSAGE_LENGTH_AT, 3, gone)?;
        shorten(&mut datagram, FRAGMENT_OFFSET_AT + 3, 3, gone)?;
        datagram.drain(from..to);
        Some(datagram)
    }
}

/// The number of the cipher suite that a server chose, if its ServerHello is in this datagram. The
/// message looks the same in DTLS 1.2 and 1.3 (RFC 5246 section 7.4.1.3, RFC 8446 section 4.1.3), and
/// is never encrypted.
pub(super) fn chosen_suite(mut datagram: &[u8]) -> Option<u16> {
    while let Some(&content) = datagram.first() {
        let end = RECORD_HEADER_LEN + usize::from(u16_at(datagram, RECORD_LENGTH_AT)?);
        let record = datagram.get(..end)?;
        let is_readable = content == HANDSHAKE && u16_at(record, EPOCH_AT)? == 0;
        if is_readable && let Some(suite) = suite_in(&record[RECORD_HEADER_LEN..]) {
            return Some(suite);
        }
        datagram = &datagram[end..];
    }
    None
}

/// The same in the messages of one record. What matters stands in a message's first 69 bytes, so a
/// first fragment is enough.
fn suite_in(mut messages: &[u8]) -> Option<u16> {
    const FRAGMENT_AT: usize = FRAGMENT_OFFSET_AT - RECORD_HEADER_LEN;
    while let Some(&kind) = messages.first() {
        let end = MESSAGE_HEADER_LEN + u24_at(messages, FRAGMENT_AT + 3)?;
        let body = messages.get(MESSAGE_HEADER_LEN..end)?;
        if kind == SERVER_HELLO && u24_at(messages, FRAGMENT_AT)? == 0 {
            let session_len = usize::from(*body.get(34)?);
            return u16_at(body, 35 + session_len);
        }
        messages = &messages[end..];
    }
    None
}

/// Takes `less` from a big-endian number; `None` if it is smaller.
fn shorten(bytes: &mut [u8], at: usize, width: usize, less: usize) -> Option<()> {
    let field = bytes.get_mut(at..at + width)?;
    let value = field.iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    let value = value.checked_sub(less as u64)?.to_be_bytes();
    field.copy_from_slice(&value[8 - width..]);
    Some(())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u24_at(bytes: &[u8], at: usize) -> Option<usize> {
    let &[high, middle, low] = bytes.get(at..at + 3)? else { return None };
    Some(usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low))
}

/// The headers of an unencrypted record (RFC 9147 section 4) and of a message (section 5.2), and
/// where the fields of both stand.
const RECORD_HEADER_LEN: usize = 13;
const EPOCH_AT: usize = 3;
const SEQUENCE_AT: usize = 5;
const RECORD_LENGTH_AT: usize = 11;
const MESSAGE_HEADER_LEN: usize = 12;
const MESSAGE_LENGTH_AT: usize = RECORD_HEADER_LEN + 1;
const MESSAGE_SEQUENCE_AT: usize = RECORD_HEADER_LEN + 4;
const FRAGMENT_OFFSET_AT: usize = RECORD_HEADER_LEN + 6;
const BODY_AT: usize = RECORD_HEADER_LEN + MESSAGE_HEADER_LEN;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
/// Extensions (RFC 8446 section 4.2).
const PADDING: u16 = 21;
const SUPPORTED_VERSIONS: u16 = 43;
const COOKIE: u16 = 44;
const DTLS_13: [u8; 2] = [0xfe, 0xfc];

#[cfg(test)]
mod tests {
    use super::*;

    /// A hello with a legacy cookie and extensions, as message 1 in record 1.
    fn hello(cookie: &[u8], extensions: &[u8], sequence: u8) -> Vec<u8> {
        let mut body = vec![0xfe, 0xfd];
        body.extend([7; 32]);
        body.push(0);
        body.push(cookie.len() as u8);
        body.extend(cookie);
        body.extend([0, 2, 0xc0, 0x2b, 1, 0]);
        body.extend((extensions.len() as u16).to_be_bytes());
        body.extend(extensions);
        let len = body.len() as u8;
        let record = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, sequence, 0, len + 12];
        let message = [1, 0, 0, len, 0, sequence, 0, 0, 0, 0, 0, len];
        [&record[..], &message, &body].concat()
    }

    const VERSIONS: [u8; 9] = [0, 43, 0, 5, 4, 0xfe, 0xfc, 0xfe, 0xfd];
    const COOKIE_AND_MORE: [u8; 13] = [0, 44, 0, 5, 0, 3, 1, 2, 3, 0, 23, 0, 0];

    #[test]
    fn what_was_said_before_is_the_same_without_the_cookie() {
        let again = hello(&[9; 32], &VERSIONS, 1);
        let parsed = Hello::parse(&again).unwrap();
        assert_eq!((parsed.cookie, parsed.random), (Some(&[9; 32][..]), &[7; 32][..]));
        assert_eq!(parsed.before().unwrap(), hello(&[], &VERSIONS, 0));

        let extensions = [&VERSIONS[..], &COOKIE_AND_MORE].concat();
        let again = hello(&[], &extensions, 1);
        let parsed = Hello::parse(&again).unwrap();
        assert_eq!((parsed.cookie, parsed.offers_13), (Some(&[1, 2, 3][..]), true));
        let before = [&VERSIONS[..], &COOKIE_AND_MORE[9..]].concat();
        assert_eq!(parsed.before().unwrap(), hello(&[], &before, 0));
    }

    #[test]
    fn padding_makes_up_for_the_cookie() {
        let padding = |len: u8| [&[0, 21, 0, len][..], &vec![0; len.into()]].concat();
        let cookie = &COOKIE_AND_MORE[..9];
        for padding_first in [false, true] {
            let parts = |cookie: &[u8], padding: Vec<u8>| match padding_first {
                true => [padding, cookie.to_vec()].concat(),
                false => [cookie.to_vec(), padding].concat(),
            };
            let again = hello(&[], &parts(cookie, padding(3)), 1);
            let before = Hello::parse(&again).unwrap().before().unwrap();
            assert_eq!(before, hello(&[], &parts(&[], padding(12)), 0));
        }
    }

    #[test]
    fn first_words_have_nothing_before_them_and_broken_ones_are_none() {
        let first = hello(&[], &VERSIONS, 0);
        let parsed = Hello::parse(&first).unwrap();
        assert_eq!((parsed.cookie, parsed.before()), (None, None));
        assert_eq!(Hello::parse(&hello(&[1], &[], 0)).unwrap().before(), None);
        for len in 0..first.len() {
            assert_eq!(Hello::parse(&first[..len]), None, "{len}");
        }
        let mut longer = first.clone();
        longer.push(0);
        assert_eq!(Hello::parse(&longer), None);
    }

    /// A record with one message or fragment.
    fn record(epoch: u8, kind: u8, offset: u8, body: &[u8]) -> Vec<u8> {
        let len = body.len() as u8;
        let record = [22, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 0, 0, len + 12];
        let message = [kind, 0, 0, 90, 0, 0, 0, 0, offset, 0, 0, len];
        [&record[..], &message, body].concat()
    }

    #[test]
    fn a_servers_choice_is_read_from_its_hello_alone() {
        let body = |session: &[u8]| {
            let length = [session.len() as u8];
            [&[0xfe, 0xfd][..], &[7; 32], &length, session, &[0xc0, 0x2b, 0]].concat()
        };
        assert_eq!(chosen_suite(&record(0, 2, 0, &body(&[]))), Some(0xc02b));
        let after_another = [record(0, 3, 0, &[0; 9]), record(0, 2, 0, &body(&[9; 32]))].concat();
        assert_eq!(chosen_suite(&after_another), Some(0xc02b));
        for other in [record(0, 1, 0, &body(&[])), record(1, 2, 0, &body(&[])), Vec::new()] {
            assert_eq!(chosen_suite(&other), None);
        }
        assert_eq!(chosen_suite(&record(0, 2, 40, &body(&[]))), None);
        for len in 0..after_another.len() {
            assert_eq!(chosen_suite(&after_another[..len]), None, "{len}");
        }
    }
}
