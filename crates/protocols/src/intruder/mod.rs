//! Peers that complete the handshake of a protocol and then say anything, so that tests reach what its
//! other end does with it.

mod datagrams;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
use noq::VarInt;
use trackbed_connection::{Result, TlsVersion};
use trackbed_substrate::{Host, sleep};

use self::datagrams::{AFTERWARDS, PAUSE};
use crate::config::{ClientConfig, ListenAt, ServerConfig};
use crate::protocol::Served;
use crate::quic_transport::{self, QuicDialer};
use crate::tcp_transport::{self, Stream, TcpDialer};
use crate::tls::Profile;

/// An end of a protocol's connections that does not follow the protocol.
#[derive(Clone, Copy)]
pub struct Intruder {
    profile: Profile,
    over: Over,
}

#[derive(Clone, Copy)]
enum Over {
    Tcp,
    Quic,
    Dtls,
}

impl Intruder {
    /// One that the other end of `protocol` lets in; `None` if it has none of TLS over TCP, QUIC and DTLS.
    pub fn of(protocol: &str) -> Option<Intruder> {
        let &(protocol, alpn, over, versions) = LET_IN.iter().find(|known| known.0 == protocol)?;
        Some(Intruder { profile: Profile { protocol, alpn, versions, early_data_max: 0 }, over })
    }

    /// One that says it over TCP, in place of a handshake.
    pub fn bare() -> Intruder {
        Intruder { profile: Profile::bare("tcp"), over: Over::Tcp }
    }

    /// Connects to a server, and says `pieces`.
    ///
    /// # Errors
    /// If the handshake fails.
    pub async fn connect(
        self,
        (host, remote): (Arc<dyn Host>, SocketAddr),
        config: &ClientConfig,
        pieces: &[Vec<u8>],
    ) -> Result<()> {
        match self.over {
            Over::Dtls => {
                datagrams::connect(self.profile, (host, remote), config, pieces).await?;
            }
            Over::Quic => {
                let dialer = QuicDialer::new(self.profile, host, config, None)?;
                say_by_streams(&dialer.connect(remote).await?.connection, pieces).await;
            }
            Over::Tcp => {
                let dialer = TcpDialer::new(self.profile, host, config)?;
                say(dialer.connect(remote).await?, pieces).await;
            }
        }
        Ok(())
    }

    /// Says `pieces` to each client.
    ///
    /// # Errors
    /// As those of [`Protocol::serve`](crate::Protocol::serve).
    pub fn serve(self, at: ListenAt, config: &ServerConfig, pieces: Rc<[Vec<u8>]>) -> Served {
        match self.over {
            Over::Dtls => datagrams::serve(self.profile, &at, config, pieces),
            Over::Quic => {
                quic_transport::serve(self.profile, &at, config, None, move |connection, _| {
                    let pieces = Rc::clone(&pieces);
                    async move { say_by_streams(&connection, &pieces).await }
                })
            }
            Over::Tcp => tcp_transport::serve(self.profile, &at, config, move |mut stream, _| {
                let pieces = Rc::clone(&pieces);
                async move {
                    // The handshake of TLS happens while it reads.
                    let _request = stream.read(&mut [0; 1_024]).await;
                    say(stream, &pieces).await;
                }
            }),
        }
    }
}

/// The pieces one after the other.
async fn say(mut stream: Stream, pieces: &[Vec<u8>]) {
    for piece in pieces {
        // The other end may have hung up.
        let _gone = stream.write_all(piece).await;
        let _gone = stream.flush().await;
        sleep(PAUSE).await;
    }
    sleep(AFTERWARDS).await;
}

/// The first byte of a piece says where the rest goes. A one: to a new stream, with a two in both directions,
/// with a sixteen the next one of the other end; else to the one before. A four: the stream ends then; with an
/// eight it is reset.
async fn say_by_streams(connection: &noq::Connection, pieces: &[Vec<u8>]) {
    let (mut stream, mut answers) = (None, Vec::new());
    for (how, words) in pieces.iter().filter_map(|piece| piece.split_first()) {
        if how & 1 != 0 || stream.is_none() {
            let both = match how & 18 {
                2 => connection.open_bi().await.ok(),
                18 => connection.accept_bi().await.ok(),
                _ => None,
            };
            stream = match both {
                Some((sending, receiving)) => {
                    answers.push(receiving);
                    Some(sending)
                }
                None => connection.open_uni().await.ok(),
            };
        }
        let Some(stream) = &mut stream else { return };
        let _gone = stream.write_all(words).await;
        let _ended = match how & 12 {
            4 => stream.finish(),
            12 => stream.reset(VarInt::from_u32((*how).into())),
            _ => Ok(()),
        };
        sleep(PAUSE).await;
    }
    sleep(AFTERWARDS).await;
}

/// Their names in ALPN, what they run over, and its versions.
const LET_IN: &[(&str, &[u8], Over, &[TlsVersion])] = &[
    ("coap+dtls", b"", Over::Dtls, TlsVersion::ALL),
    ("http1", b"http/1.1", Over::Tcp, TlsVersion::ALL),
    ("http2", b"h2", Over::Tcp, TlsVersion::ALL),
    ("http3", b"h3", Over::Quic, &[TlsVersion::Tls13]),
    ("mpquic", b"trackbed-streams/1", Over::Quic, &[TlsVersion::Tls13]),
    ("mqtt", b"mqtt", Over::Tcp, TlsVersion::ALL),
    ("quic", b"trackbed-streams/1", Over::Quic, &[TlsVersion::Tls13]),
    ("sctp+dtls", b"", Over::Dtls, &[TlsVersion::Tls13]),
    ("tcp+tls", b"trackbed-frames/1", Over::Tcp, TlsVersion::ALL),
];
