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

named! {
    /// A key exchange group, by its name in TLS.
    #[derive(Default)]
    pub enum KeyExchange {
        /// X25519 (RFC 7748).
        #[default]
        X25519 = "x25519",
        /// P-256 (RFC 8422). Some servers require it for the exchange, and OpenSSL in TLS 1.2 for a
        /// certificate with that curve.
        P256 = "secp256r1",
        /// X25519 with ML-KEM-768, against quantum computers (draft-ietf-tls-ecdhe-mlkem).
        X25519MlKem768 = "X25519MLKEM768",
        /// P-256 with ML-KEM-768.
        P256MlKem768 = "SecP256r1MLKEM768",
    }
}

impl KeyExchange {
    /// Whether it combines a curve with ML-KEM, which needs TLS 1.3.
    pub fn is_hybrid(self) -> bool {
        matches!(self, KeyExchange::X25519MlKem768 | KeyExchange::P256MlKem768)
    }
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
