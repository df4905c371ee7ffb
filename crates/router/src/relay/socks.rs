//! The server side of SOCKS5 (RFC 1928), without sockets: bytes in, bytes out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The destination that a client requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// An address.
    Address(IpAddr, u16),
    /// A name, to be resolved here.
    Name(String, u16),
}

/// The next step of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait for more bytes.
    More,
    /// Send this, and continue.
    Send(Vec<u8>),
    /// Connect to this destination, and answer with [`reply`].
    Connect(Destination),
    /// Send this, and close.
    Refuse(Vec<u8>),
}

/// One client's side of the conversation, up to its request.
#[derive(Debug, Default)]
pub struct Conversation {
    heard: Vec<u8>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Greeting,
    Request,
}

/// Answers to a request (RFC 1928 section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The connection is open.
    Succeeded = 0,
    /// Any other failure.
    Failure = 1,
    /// The relay refuses this destination.
    NotAllowed = 2,
    /// The network cannot be reached.
    NetworkUnreachable = 3,
    /// The host cannot be reached, or has no such name.
    HostUnreachable = 4,
    /// The destination refused the connection.
    Refused = 5,
    /// The connection timed out.
    Expired = 6,
    /// Only CONNECT is supported.
    CommandNotSupported = 7,
    /// The type of address is unknown.
    AddressNotSupported = 8,
}

impl Conversation {
    /// Takes bytes from the client. Call it again, without new bytes, after each [`Step::Send`].
    pub fn hear(&mut self, bytes: &[u8]) -> Step {
        self.heard.extend_from_slice(bytes);
        match self.stage {
            Stage::Greeting => self.greeting(),
            Stage::Request => self.request(),
        }
    }

    /// The bytes after the client's request, which are for the destination.
    pub fn into_rest(self) -> Vec<u8> {
        self.heard
    }

    /// Section 3: the version, and the client's authentication methods.
    fn greeting(&mut self) -> Step {
        let [version, count, methods @ ..] = &self.heard[..] else { return self.short() };
        if *version != VERSION {
            return Step::Refuse(Vec::new());
        }
        let count = usize::from(*count);
        let Some(methods) = methods.get(..count) else { return Step::More };
        // Accepting a password without checking it would suggest security that does not exist (RFC 1929).
        if !methods.contains(&NO_AUTHENTICATION) {
            return Step::Refuse(vec![VERSION, NO_METHOD]);
        }
        self.heard.drain(..2 + count);
        self.stage = Stage::Request;
        Step::Send(vec![VERSION, NO_AUTHENTICATION])
    }

    /// Section 4: the command, and the address in one of three forms.
    fn request(&mut self) -> Step {
        let [version, command, _, kind, rest @ ..] = &self.heard[..] else { return Step::More };
        if *version != VERSION {
            return Step::Refuse(reply(Reply::Failure));
        }
        if *command != CONNECT {
            return Step::Refuse(reply(Reply::CommandNotSupported));
        }
        let (length, skip) = match (*kind, rest.first()) {
            (V4, _) => (4, 0),
            (V6, _) => (16, 0),
            (NAME, Some(length)) => (usize::from(*length), 1),
            (NAME, None) => return Step::More,
            _ => return Step::Refuse(reply(Reply::AddressNotSupported)),
        };
        let Some(address) = rest.get(skip..skip + length) else { return Step::More };
        let Some([high, low]) = rest.get(skip + length..skip + length + 2) else {
            return Step::More;
        };
        let port = u16::from_be_bytes([*high, *low]);
        let Some(destination) = destination(*kind, address, port) else {
            return Step::Refuse(reply(Reply::AddressNotSupported));
        };
        self.heard.drain(..4 + skip + length + 2);
        Step::Connect(destination)
    }

    /// Fewer than two bytes so far; the first one may already be wrong.
    fn short(&self) -> Step {
        match self.heard.first() {
            Some(version) if *version != VERSION => Step::Refuse(Vec::new()),
            _ => Step::More,
        }
    }
}

fn destination(kind: u8, address: &[u8], port: u16) -> Option<Destination> {
    if port == 0 {
        return None;
    }
    Some(match kind {
        V4 => Destination::Address(Ipv4Addr::from(<[u8; 4]>::try_from(address).ok()?).into(), port),
        V6 => {
            Destination::Address(Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?).into(), port)
        }
        _ => {
            let name = std::str::from_utf8(address).ok()?;
            let plain = !name.is_empty() && !name.contains(['\0', ' ', '\n']);
            // Some clients send addresses as names.
            match name.parse() {
                Ok(address) => Destination::Address(address, port),
                Err(_) if plain => Destination::Name(name.to_owned(), port),
                Err(_) => return None,
            }
        }
    })
}

/// The answer to a request. It omits the connection's source address, because there may be several.
pub fn reply(reply: Reply) -> Vec<u8> {
    vec![VERSION, reply as u8, 0, V4, 0, 0, 0, 0, 0, 0]
}

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const V4: u8 = 1;
const NAME: u8 = 3;
const V6: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `said` in pieces of `size` bytes; returns what was sent to the client, and how it ended.
    fn talk(said: &[u8], size: usize) -> (Vec<u8>, Step, Vec<u8>) {
        let mut conversation = Conversation::default();
        let (mut sent, mut pieces) = (Vec::new(), said.chunks(size));
        let mut step = Step::More;
        loop {
            step = match step {
                Step::More => match pieces.next() {
                    Some(piece) => conversation.hear(piece),
                    None => break,
                },
                Step::Send(bytes) => {
                    sent.extend(bytes);
                    conversation.hear(&[])
                }
                _ => break,
            };
        }
        let rest = pieces.flatten().copied();
        (sent, step, conversation.into_rest().into_iter().chain(rest).collect())
    }

    #[test]
    fn a_request_is_understood_however_it_comes() {
        let address = Destination::Address([192, 0, 2, 7].into(), 443);
        let name = Destination::Name("example.org".to_owned(), 80);
        let six = Destination::Address("2001:db8::1".parse().unwrap(), 1);
        let mut long = b"\x05\x01\x00\x05\x01\x00\x03\x0bexample.org\x00\x50".to_vec();
        long.extend(b"GET /");
        let mut v6 = b"\x05\x02\x02\x00\x05\x01\x00\x04".to_vec();
        v6.extend("2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        v6.extend([0, 1]);
        let v4 = b"\x05\x01\x00\x05\x01\x00\x01\xc0\x00\x02\x07\x01\xbb".to_vec();
        let written = b"\x05\x01\x00\x05\x01\x00\x03\x09192.0.2.7\x01\xbb".to_vec();
        for (said, expected, rest) in [
            (v4, address.clone(), ""),
            (long, name, "GET /"),
            (v6, six, ""),
            (written, address, ""),
        ] {
            for size in 1..=said.len() {
                let (sent, step, left) = talk(&said, size);
                assert_eq!(sent, [5, 0]);
                assert_eq!(step, Step::Connect(expected.clone()));
                assert_eq!(left, rest.as_bytes());
            }
        }
    }

    #[test]
    fn what_is_no_socks_or_not_possible_is_refused_as_the_rfc_says() {
        let refused = |said: &[u8]| match talk(said, 1).1 {
            Step::Refuse(bytes) => bytes,
            step => panic!("{step:?}"),
        };
        assert!(refused(b"GET / HTTP/1.1").is_empty());
        assert!(refused(b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00").is_empty());
        // GSSAPI, and a name with a password.
        assert_eq!(refused(b"\x05\x02\x01\x02"), [5, 0xff]);
        // BIND and UDP ASSOCIATE, an unknown kind of address, port 0, an empty name.
        for (request, code) in [
            (&b"\x05\x02\x00\x01"[..], 7),
            (b"\x05\x03\x00\x01", 7),
            (b"\x05\x01\x00\x09", 8),
            (b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x00", 8),
            (b"\x05\x01\x00\x03\x00\x00\x50", 8),
        ] {
            let said = [b"\x05\x01\x00", request].concat();
            assert_eq!(refused(&said), [5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
        }
        assert_eq!(talk(b"\x05\x03\x00", 1).1, Step::More);
    }
}
