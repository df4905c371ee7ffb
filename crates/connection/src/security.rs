//! TLS options, and what was negotiated.

use trackbed_core::named;

named! {
    /// A version of TLS.
    #[derive(PartialOrd, Ord)]
    pub enum TlsVersion {
        /// TLS 1.2 (RFC 5246), with ECDHE key exchange and an AEAD only.
        Tls12 = "1.2",
        /// TLS 1.3 (RFC 8446).
        Tls13 = "1.3",
    }
}

named! {
    /// An authenticated cipher, with the hash that TLS pairs it with.
    #[derive(PartialOrd, Ord)]
    pub enum CipherSuite {
        /// AES-128-GCM with SHA-256.
        Aes128Gcm = "aes128gcm",
        /// AES-256-GCM with SHA-384.
        Aes256Gcm = "aes256gcm",
        /// ChaCha20-Poly1305 with SHA-256 (RFC 8439).
        ChaCha20Poly1305 = "chacha20poly1305",
    }
}

/// A key exchange group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyExchange {
    /// X25519 (RFC 7748).
    #[default]
    X25519,
    /// P-256, also called secp256r1 (RFC 8422). Some servers require it for the exchange, and
    /// OpenSSL in TLS 1.2 for a certificate with that curve. Not in virtual time.
    P256,
}

named! {
    /// How a client starts a connection.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Handshake {
        /// A full handshake every time, even with a session ticket.
        #[default]
        New = "new",
        /// Resume an earlier session of the same dialer, if it has a ticket.
        Resumed = "resumed",
        /// Like `Resumed`, and send the first request with the handshake (0-RTT, RFC 8446 section
        /// 2.3), if the ticket allows it. An attacker can replay such a request.
        Early = "early",
        /// Like `Early`, for a phone's first visit: its first connection is a full handshake.
        NewThenEarly = "new-then-early",
    }
}

impl Handshake {
    /// The kinds that a protocol has to support to support all of them.
    pub const OF_PROTOCOLS: &'static [Handshake] =
        &[Handshake::New, Handshake::Resumed, Handshake::Early];

    /// Whether later connections resume the session of an earlier one.
    pub fn resumes(self) -> bool {
        self != Handshake::New
    }

    /// Whether it sends early data if a ticket allows it.
    pub fn sends_early_data(self) -> bool {
        matches!(self, Handshake::Early | Handshake::NewThenEarly)
    }

    /// Whether there is a session before the first connection.
    pub fn begins_warm(self) -> bool {
        matches!(self, Handshake::Resumed | Handshake::Early)
    }

    /// The handshake of the first connection.
    pub fn first(self) -> Handshake {
        if self.begins_warm() { self } else { Handshake::New }
    }

    /// The handshake of later connections.
    pub fn later(self) -> Handshake {
        if self.sends_early_data() { Handshake::Early } else { self }
    }
}

/// What a handshake actually negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Security {
    /// The TLS version.
    pub version: TlsVersion,
    /// The cipher that protects the data.
    pub cipher: CipherSuite,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
    /// Whether the server accepted early data.
    pub early_data: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_value() {
        assert!(TlsVersion::ALL.iter().all(|v| TlsVersion::from_name(v.name()) == Some(*v)));
        assert!(CipherSuite::ALL.iter().all(|c| CipherSuite::from_name(c.name()) == Some(*c)));
        assert!(Handshake::ALL.iter().all(|h| Handshake::from_name(h.name()) == Some(*h)));
        assert_eq!(CipherSuite::from_name("rc4"), None);
    }
}
