//! DTLS 1.2 (RFC 6347) and 1.3 (RFC 9147) over datagrams: a channel inside a channel.
//!
//! A server replies to [unknown clients](Gate) without keeping state until a cookie has proved
//! their address. Sessions are not resumed: the engine does not support it.

mod channel;
mod gate;
mod hello;
mod provider;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dimpl::crypto::{Dtls12CipherSuite, Dtls13CipherSuite};
use dimpl::{Config, Dtls, DtlsCertificate, NamedGroup};
use rustls::server::danger::ClientCertVerifier;
use rustls::time_provider::TimeProvider;
use trackbed_connection::{CipherSuite, Error, KeyExchange, Result, Step, TlsVersion};
use trackbed_substrate::{Entropy, now, to_std_instant};

use crate::config::{Chain, ClientConfig, ServerConfig, TlsParameters, Trust};
use crate::datagrams::Channel;
use crate::tls::{Identity, Randomness, trusted_clients};
pub(crate) use channel::DtlsChannel;
pub(crate) use gate::{Admission, Gate, Greeting};
use provider::provider;

#[derive(Clone)]
pub(crate) struct DtlsEnd {
    protocol: &'static str,
    certificate: DtlsCertificate,
    versions: Vec<TlsVersion>,
    ciphers: Vec<CipherSuite>,
    groups: Vec<NamedGroup>,
    randomness: Randomness,
    patience: Option<Duration>,
    /// Who a server's clients must be.
    clients: Peer,
    /// The engine's configurations: creating one makes it test all of its cryptography.
    ready: Rc<RefCell<Configs>>,
}

/// By the longest datagram, and whether they ask for a cookie.
type Configs = BTreeMap<(usize, bool), Arc<Config>>;

/// Who the other end must be.
#[derive(Clone)]
enum Peer {
    /// The server with this certificate.
    Server(Trust),
    /// A client whose certificate this accepts.
    Client(Arc<dyn ClientCertVerifier>, Arc<dyn TimeProvider>),
    AnyClient,
}

impl Peer {
    fn is(&self, certificate: &[u8]) -> bool {
        match self {
            Peer::Server(trust) => trust.as_der() == certificate,
            Peer::Client(trusted, clock) => clock.current_time().is_some_and(|now| {
                trusted.verify_client_cert(&certificate.into(), &[], now).is_ok()
            }),
            Peer::AnyClient => true,
        }
    }

    fn role(&self) -> &'static str {
        if matches!(self, Peer::Server(_)) { "server" } else { "client" }
    }
}

impl DtlsEnd {
    fn new(
        protocol: &'static str,
        entropy: Entropy,
        tls: &TlsParameters,
        known: &[TlsVersion],
        (patience, is_client): (Option<Duration>, bool),
    ) -> Result<(Self, Trust)> {
        let versions = tls.usable_versions(protocol, known)?;
        let groups = tls.key_exchanges.iter().map(|&group| named(group));
        let advice = "its DTLS library has no ML-KEM: allow only x25519 and secp256r1";
        let groups = groups.collect::<Option<_>>();
        let groups = groups.ok_or_else(|| Error::unsupported(protocol, advice))?;
        let randomness = Randomness::new(entropy);
        let failed = |reason| Error::lasting(protocol, Step::Handshake, reason);
        let identity = match is_client && tls.chain.client_auth {
            true => Identity::client(&randomness, &Chain::default()),
            false => Identity::server(&randomness, &Chain::default()),
        };
        let identity = identity.map_err(failed)?;
        let clients = match !is_client && tls.chain.client_auth {
            true => Peer::Client(
                trusted_clients(&tls.chain, randomness.provider(tls)).map_err(failed)?,
                randomness.time_provider(&Chain::default()),
            ),
            false => Peer::AnyClient,
        };
        // The engine's own form.
        let leaf = identity.key.end_entity_cert().map_err(|why| failed(why.to_string()))?;
        let certificate =
            DtlsCertificate { certificate: leaf.to_vec(), private_key: identity.pkcs8 };
        let ciphers = tls.ciphers.clone();
        let ready = Rc::default();
        let end = DtlsEnd {
            protocol,
            certificate,
            versions,
            ciphers,
            groups,
            randomness,
            patience,
            clients,
            ready,
        };
        Ok((end, identity.trust))
    }

    /// The client's end of a protocol that runs over the versions `known`, and the server that it
    /// trusts. Sessions are not resumed.
    pub(crate) fn client(
        protocol: &'static str,
        entropy: Entropy,
        config: &ClientConfig,
        known: &[TlsVersion],
    ) -> Result<(DtlsEnd, Trust)> {
        let trust = config.required_trust(protocol)?.clone();
        let as_client = (config.transport.idle_timeout, true);
        let (end, _own) = DtlsEnd::new(protocol, entropy, &config.tls, known, as_client)?;
        Ok((end, trust))
    }

    /// The server's end of a protocol that runs over the versions `known`, and what its clients need
    /// to authenticate it.
    pub(crate) fn server(
        protocol: &'static str,
        entropy: Entropy,
        config: &ServerConfig,
        known: &[TlsVersion],
    ) -> Result<(DtlsEnd, Trust)> {
        let as_server = (config.transport.idle_timeout, false);
        DtlsEnd::new(protocol, entropy, &config.tls, known, as_server)
    }

    /// Connects over `below` to a server that must have the certificate of `trust`.
    pub(crate) async fn connect(
        &self,
        below: Rc<dyn Channel>,
        trust: &Trust,
    ) -> Result<Rc<DtlsChannel>> {
        let mut dtls = self.engine(below.room(), false)?;
        // The engine draws randomness for its hello.
        self.randomness.scope(|| dtls.set_active(true));
        let peer = Peer::Server(trust.clone());
        shake_hands(DtlsChannel::new(self.protocol, dtls, below, peer, &self.randomness)).await
    }

    /// Waits for a client over `below`, without requesting a cookie, or continues with one that has
    /// returned it in the first datagram of `below`: `cookie` is its secret, and the client's datagram
    /// that it was the reply to.
    async fn accept(
        &self,
        below: Rc<dyn Channel>,
        cookie: Option<([u8; 32], Bytes)>,
    ) -> Result<Rc<DtlsChannel>> {
        let mut dtls = self.engine(below.room(), cookie.is_some())?;
        let before = cookie.map(|(secret, before)| {
            dtls.set_cookie_secret(secret);
            before
        });
        let peer = self.clients.clone();
        let channel = DtlsChannel::new(self.protocol, dtls, below, peer, &self.randomness);
        if let Some(before) = before {
            channel.recall(&before);
        }
        shake_hands(channel).await
    }

    /// An engine, by default a server's, for datagrams of at most `room` bytes.
    fn engine(&self, room: usize, asks_for_cookie: bool) -> Result<Dtls> {
        let config = self.config(room, asks_for_cookie)?;
        let certificate = self.certificate.clone();
        Ok(self.randomness.scope(|| {
            let now = to_std_instant(now());
            match &self.versions[..] {
                [TlsVersion::Tls12] => Dtls::new_12(config, certificate, now),
                [TlsVersion::Tls13] => Dtls::new_13(config, certificate, now),
                _ => Dtls::new_auto(config, certificate, now),
            }
        }))
    }

    fn config(&self, room: usize, asks_for_cookie: bool) -> Result<Arc<Config>> {
        let failed = |reason: String| Error::lasting(self.protocol, Step::Handshake, reason);
        if let Some(config) = self.ready.borrow().get(&(room, asks_for_cookie)) {
            return Ok(Arc::clone(config));
        }
        let allows = |version| self.versions.contains(&version);
        let of_12 = self.ciphers.iter().filter(|_| allows(TlsVersion::Tls12));
        let of_13 = self.ciphers.iter().filter(|_| allows(TlsVersion::Tls13));
        let mut config = Config::builder()
            .mtu(room)
            .require_client_certificate(matches!(self.clients, Peer::Client(..)))
            .use_server_cookie(asks_for_cookie)
            .dtls12_cipher_suites(&of_12.map(|&cipher| suite_12(cipher)).collect::<Vec<_>>())
            .dtls13_cipher_suites(&of_13.map(|&cipher| suite_13(cipher)).collect::<Vec<_>>())
            .kx_groups(&self.groups)
            .max_queue_rx(QUEUE_MAX)
            .max_queue_tx(QUEUE_MAX)
            .with_crypto_provider(provider(&self.randomness));
        if let Some(patience) = self.patience {
            config = config.handshake_timeout(patience);
        }
        let seeded = self.randomness.seeded();
        if let Some(seeded) = seeded {
            let mut seed = [0; 8];
            seeded.fill(&mut seed).map_err(|error| failed(error.to_string()))?;
            config = config.dangerously_set_rng_seed(u64::from_le_bytes(seed));
        }
        let config = self.randomness.scope(|| config.build());
        let config = Arc::new(config.map_err(|error| failed(error.to_string()))?);
        // A seed is for one engine.
        if seeded.is_none() {
            self.ready.borrow_mut().insert((room, asks_for_cookie), Arc::clone(&config));
        }
        Ok(config)
    }
}

async fn shake_hands(channel: DtlsChannel) -> Result<Rc<DtlsChannel>> {
    poll_fn(|cx| channel.poll_connected(cx)).await?;
    Ok(Rc::new(channel))
}

fn named(group: KeyExchange) -> Option<NamedGroup> {
    match group {
        KeyExchange::X25519 => Some(NamedGroup::X25519),
        KeyExchange::P256 => Some(NamedGroup::Secp256r1),
        KeyExchange::X25519MlKem768 | KeyExchange::P256MlKem768 => None,
    }
}

fn suite_12(cipher: CipherSuite) -> Dtls12CipherSuite {
    match cipher {
        CipherSuite::Aes128Gcm => Dtls12CipherSuite::ECDHE_ECDSA_AES128_GCM_SHA256,
        CipherSuite::Aes256Gcm => Dtls12CipherSuite::ECDHE_ECDSA_AES256_GCM_SHA384,
        CipherSuite::ChaCha20Poly1305 => Dtls12CipherSuite::ECDHE_ECDSA_CHACHA20_POLY1305_SHA256,
    }
}

fn suite_13(cipher: CipherSuite) -> Dtls13CipherSuite {
    match cipher {
        CipherSuite::Aes128Gcm => Dtls13CipherSuite::AES_128_GCM_SHA256,
        CipherSuite::Aes256Gcm => Dtls13CipherSuite::AES_256_GCM_SHA384,
        CipherSuite::ChaCha20Poly1305 => Dtls13CipherSuite::CHACHA20_POLY1305_SHA256,
    }
}

/// The version and cipher that the number of a suite stands for (RFC 8446 appendix B.4, RFC 5289,
/// RFC 7905).
fn meaning(number: u16) -> Option<(TlsVersion, CipherSuite)> {
    CipherSuite::ALL.iter().find_map(|&cipher| match number {
        number if number == suite_12(cipher).as_u16() => Some((TlsVersion::Tls12, cipher)),
        number if number == suite_13(cipher).as_u16() => Some((TlsVersion::Tls13, cipher)),
        _ => None,
    })
}

/// The maximum number of records queued in the engine, in either direction.
const QUEUE_MAX: usize = 64;
