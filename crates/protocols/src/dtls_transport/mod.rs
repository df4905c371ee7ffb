//! DTLS 1.3 (RFC 9147) over datagrams: a channel inside a channel.
//!
//! The handshake takes one round trip: a server does not ask for a cookie (RFC 9147 section 5.1),
//! as the QUIC servers here send no Retry. Sessions are not resumed, which the engine cannot.

mod channel;
mod provider;

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dimpl::crypto::Dtls13CipherSuite;
use dimpl::{Config, Dtls, DtlsCertificate, NamedGroup};
use trackbed_substrate::{Entropy, now, to_std_instant};

use crate::config::{ClientConfig, ServerConfig, TlsParameters};
use crate::datagrams::Channel;
use crate::error::{Error, Result, Step};
use crate::security::{CipherSuite, Handshake, KeyExchange, TlsVersion};
use crate::tls::{Identity, Randomness, Trust};
pub(crate) use channel::{DtlsChannel, is_client_hello};
use provider::provider;

/// The versions that a protocol over DTLS can run over.
pub(crate) const VERSIONS: &[TlsVersion] = &[TlsVersion::Tls13];

/// One end's settings.
#[derive(Clone)]
pub(crate) struct DtlsEnd {
    protocol: &'static str,
    certificate: DtlsCertificate,
    ciphers: Vec<Dtls13CipherSuite>,
    randomness: Randomness,
    patience: Duration,
}

impl DtlsEnd {
    fn new(
        protocol: &'static str,
        entropy: Entropy,
        tls: &TlsParameters,
        patience: Duration,
    ) -> Result<(Self, Trust)> {
        let unsupported = |advice: &str| Error::Unsupported { protocol, advice: advice.to_owned() };
        if !tls.versions.contains(&TlsVersion::Tls13) {
            return Err(unsupported("it runs over TLS 1.3: allow that version"));
        }
        if tls.ciphers.is_empty() {
            return Err(unsupported("no cipher is allowed: allow at least one"));
        }
        if tls.key_exchanges != [KeyExchange::X25519] {
            return Err(unsupported("its key exchange is X25519: allow that alone"));
        }
        let randomness = Randomness::new(entropy);
        let identity = Identity::new(&randomness)
            .map_err(|reason| Error::lasting(protocol, Step::Handshake, reason))?;
        let certificate = DtlsCertificate {
            certificate: identity.trust.as_der().to_vec(),
            private_key: identity.pkcs8,
        };
        let ciphers = tls.ciphers.iter().map(|&cipher| suite(cipher)).collect();
        let end = DtlsEnd { protocol, certificate, ciphers, randomness, patience };
        Ok((end, identity.trust))
    }

    /// The client's end, and the server that it trusts.
    ///
    /// # Errors
    /// If `config` asks for what this cannot do.
    pub(crate) fn client(
        protocol: &'static str,
        entropy: Entropy,
        config: &ClientConfig,
    ) -> Result<(DtlsEnd, Trust)> {
        let unsupported = |advice: &str| Error::Unsupported { protocol, advice: advice.to_owned() };
        if config.handshake != Handshake::New {
            return Err(unsupported("it has no sessions to resume: use the handshake `new`"));
        }
        let trust = config.trust.clone().ok_or_else(|| {
            unsupported("it is encrypted: set `trust` to what the server's handle returns")
        })?;
        let (end, _nobody_asks) =
            DtlsEnd::new(protocol, entropy, &config.tls, config.transport.idle_timeout)?;
        Ok((end, trust))
    }

    /// The server's end, and what its clients need to authenticate it.
    ///
    /// # Errors
    /// If `config` asks for what this cannot do.
    pub(crate) fn server(
        protocol: &'static str,
        entropy: Entropy,
        config: &ServerConfig,
    ) -> Result<(DtlsEnd, Trust)> {
        DtlsEnd::new(protocol, entropy, &config.tls, config.transport.idle_timeout)
    }

    /// Connects over `below` to a server that must have the certificate of `trust`.
    ///
    /// # Errors
    /// If the handshake fails, or takes longer than the idle timeout.
    pub(crate) async fn connect(
        &self,
        below: Rc<dyn Channel>,
        trust: &Trust,
    ) -> Result<Rc<DtlsChannel>> {
        let mut dtls = self.engine(&*below)?;
        dtls.set_active(true);
        let trust = Some(trust.clone());
        self.shake_hands(DtlsChannel::new(self.protocol, dtls, below, trust, &self.randomness))
            .await
    }

    /// Waits for a client that speaks over `below`.
    ///
    /// # Errors
    /// If the handshake fails.
    pub(crate) async fn accept(&self, below: Rc<dyn Channel>) -> Result<Rc<DtlsChannel>> {
        let dtls = self.engine(&*below)?;
        self.shake_hands(DtlsChannel::new(self.protocol, dtls, below, None, &self.randomness)).await
    }

    async fn shake_hands(&self, channel: DtlsChannel) -> Result<Rc<DtlsChannel>> {
        poll_fn(|cx| channel.poll_connected(cx)).await?;
        Ok(Rc::new(channel))
    }

    fn engine(&self, below: &dyn Channel) -> Result<Dtls> {
        let failed = |reason: String| Error::lasting(self.protocol, Step::Handshake, reason);
        let mut config = Config::builder()
            .mtu(below.room())
            .require_client_certificate(false)
            .use_server_cookie(false)
            .dtls12_cipher_suites(&[])
            .dtls13_cipher_suites(&self.ciphers)
            .kx_groups(&[NamedGroup::X25519])
            .handshake_timeout(self.patience)
            .max_queue_rx(QUEUE_MAX)
            .max_queue_tx(QUEUE_MAX)
            .with_crypto_provider(provider(&self.randomness));
        if let Some(seeded) = self.randomness.seeded() {
            let mut seed = [0; 8];
            seeded.fill(&mut seed).map_err(|error| failed(error.to_string()))?;
            config = config.dangerously_set_rng_seed(u64::from_le_bytes(seed));
        }
        self.randomness.scope(|| {
            let config = config.build().map_err(|error| failed(error.to_string()))?;
            Ok(Dtls::new_13(Arc::new(config), self.certificate.clone(), to_std_instant(now())))
        })
    }
}

fn suite(cipher: CipherSuite) -> Dtls13CipherSuite {
    match cipher {
        CipherSuite::Aes128Gcm => Dtls13CipherSuite::AES_128_GCM_SHA256,
        CipherSuite::Aes256Gcm => Dtls13CipherSuite::AES_256_GCM_SHA384,
        CipherSuite::ChaCha20Poly1305 => Dtls13CipherSuite::CHACHA20_POLY1305_SHA256,
    }
}

/// The cipher that a negotiated suite stands for (RFC 8446 appendix B.4).
fn meaning(number: u16) -> Option<CipherSuite> {
    CipherSuite::ALL.iter().copied().find(|&cipher| suite(cipher).as_u16() == number)
}

/// How many records wait in the engine at most, in either direction.
const QUEUE_MAX: usize = 64;
