//! TLS for both transports: converts a configuration into rustls's.

mod groups;
mod identity;
mod keys;
mod provider;

use std::fmt;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::sign::SingleCertAndKey;
use rustls::{KeyLog, RootCertStore, SupportedProtocolVersion};
use trackbed_connection::{Error, Result, Security, Step, TlsVersion};
use trackbed_core::text::hex;
use trackbed_substrate::Entropy;

use crate::config::{Chain, ClientConfig, EARLY_DATA_MAX, ServerConfig, TlsParameters, Trust};
use crate::observer::Observer;
pub(crate) use groups::group;
pub(crate) use identity::Identity;
pub use identity::{SERVER_NAME, client_trust};
use provider::meaning;
pub(crate) use provider::{Randomness, fill_seeded};

/// A protocol's settings for TLS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) protocol: &'static str,
    /// Its ALPN name (RFC 7301).
    pub(crate) alpn: &'static [u8],
    /// None if it is not encrypted.
    pub(crate) versions: &'static [TlsVersion],
    /// How much early data a server takes, in bytes.
    pub(crate) early_data_max: u32,
}

/// A client's TLS configuration. Its session tickets live in it.
#[derive(Clone)]
pub(crate) struct TlsClient {
    pub(crate) config: Arc<rustls::ClientConfig>,
    pub(crate) randomness: Randomness,
    /// The server's.
    pub(crate) name: ServerName<'static>,
}

/// A server's TLS configuration, and what its clients must trust.
#[derive(Clone)]
pub(crate) struct TlsServer {
    pub(crate) config: Arc<rustls::ServerConfig>,
    pub(crate) randomness: Randomness,
    pub(crate) trust: Trust,
}

impl TlsClient {
    /// Prepares the client side of `profile` for a host with this `entropy`.
    pub(crate) fn new(profile: Profile, entropy: Entropy, config: &ClientConfig) -> Result<Self> {
        let versions = profile.versions(&config.tls)?;
        let trust = config.required_trust(profile.protocol)?;
        if config.handshake.sends_early_data() && !config.tls.versions.contains(&TlsVersion::Tls13)
        {
            return Err(profile.unsupported("early data needs TLS 1.3: allow that version"));
        }
        let chain = &config.tls.chain;
        let randomness = Randomness::new(entropy);
        let builder = rustls::ClientConfig::builder_with_details(
            randomness.provider(&config.tls),
            randomness.time_provider(chain),
        )
        .with_protocol_versions(&versions)
        .map_err(|error| profile.unsupported(error.to_string()))?
        .with_root_certificates(trusting(&profile, trust.0.clone())?);
        let mut tls = match chain.client_auth {
            false => builder.with_no_client_auth(),
            true => {
                let identity = Identity::client(&randomness, chain)
                    .map_err(|reason| Error::lasting(profile.protocol, Step::Connect, reason))?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity.key)))
            }
        };
        if !chain.compressed {
            tls.cert_compressors.clear();
            tls.cert_decompressors.clear();
        }
        tls.alpn_protocols = vec![profile.alpn.to_vec()];
        tls.key_log = key_log(config.transport.observer.as_ref());
        tls.enable_early_data = config.handshake.sends_early_data();
        tls.resumption = match config.handshake.resumes() {
            false => Resumption::disabled(),
            true => Resumption::in_memory_sessions(SESSIONS_MAX),
        };
        let name = chain.certificate.as_ref().map_or(SERVER_NAME, |own| &own.name);
        let name = ServerName::try_from(name.to_owned())
            .map_err(|_| profile.unsupported(format!("\"{name}\" is not a server's name")))?;
        Ok(TlsClient { config: Arc::new(tls), randomness, name })
    }
}

impl TlsServer {
    /// Prepares the server side of `profile` for a host with this `entropy`, with a new identity.
    pub(crate) fn new(profile: Profile, entropy: Entropy, config: &ServerConfig) -> Result<Self> {
        let versions = profile.versions(&config.tls)?;
        let randomness = Randomness::new(entropy);
        let chain = &config.tls.chain;
        let failed = |reason| Error::lasting(profile.protocol, Step::Listen, reason);
        let identity = Identity::server(&randomness, chain)
            .map_err(|reason| failed(format!("the server's certificate: {reason}")))?;
        let provider = randomness.provider(&config.tls);
        let builder = rustls::ServerConfig::builder_with_details(
            Arc::clone(&provider),
            randomness.time_provider(chain),
        )
        .with_protocol_versions(&versions)
        .map_err(|error| profile.unsupported(error.to_string()))?;
        let builder = match chain.client_auth {
            false => builder.with_no_client_auth(),
            true => {
                builder.with_client_cert_verifier(trusted_clients(chain, provider).map_err(failed)?)
            }
        };
        let mut tls = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(identity.key)));
        if !chain.compressed {
            tls.cert_compressors.clear();
            tls.cert_decompressors.clear();
        }
        tls.alpn_protocols = vec![profile.alpn.to_vec()];
        tls.key_log = key_log(config.transport.observer.as_ref());
        // Sessions are stored here and not in the ticket: RFC 8446 section 8.1 requires that a
        // ticket works once for early data, and so no ticket key must be drawn.
        tls.session_storage = match config.sessions {
            true => ServerSessionMemoryCache::new(SESSIONS_MAX),
            false => Arc::new(NoServerSessionStorage {}),
        };
        tls.max_early_data_size = if config.sessions { profile.early_data_max } else { 0 };
        // Without it the answer to early data would wait for the client's Finished message.
        tls.send_half_rtt_data = true;
        Ok(TlsServer { config: Arc::new(tls), randomness, trust: identity.trust })
    }
}

/// Accepts the certificates of clients whose chain has the kinds of `chain`.
pub(crate) fn trusted_clients(
    chain: &Chain,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    roots.add(client_trust(chain)?.0).map_err(|why| why.to_string())?;
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    clients.map_err(|why| why.to_string())
}

fn trusting(profile: &Profile, certificate: CertificateDer<'static>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(|error| {
        profile.unsupported(format!("the trusted certificate is not valid: {error}"))
    })?;
    Ok(roots)
}

impl TlsParameters {
    /// The allowed versions among `known`, those of the protocol.
    pub(crate) fn usable_versions(
        &self,
        protocol: &'static str,
        known: &[TlsVersion],
    ) -> Result<Vec<TlsVersion>> {
        let unsupported = |advice: &str| Err(Error::unsupported(protocol, advice));
        if self.ciphers.is_empty() {
            return unsupported("no cipher is allowed: allow at least one");
        }
        if self.key_exchanges.is_empty() {
            return unsupported("no key exchange is allowed: allow x25519");
        }
        let usable = self.versions.iter().copied().filter(|version| known.contains(version));
        let mut usable: Vec<TlsVersion> = usable.collect();
        if usable.is_empty() {
            let names: Vec<_> = known.iter().map(|version| version.name()).collect();
            let advice = format!("it requires TLS {}: allow that version", names.join(" or "));
            return unsupported(&advice);
        }
        let only_hybrids = self.key_exchanges.iter().all(|exchange| exchange.is_hybrid());
        if only_hybrids || self.chain.has_ml_dsa() {
            usable.retain(|version| *version != TlsVersion::Tls12);
        }
        match usable.is_empty() {
            true => unsupported("ML-KEM and ML-DSA need TLS 1.3: allow that version"),
            false => Ok(usable),
        }
    }
}

impl Profile {
    /// That of a protocol without TLS.
    pub(crate) const fn bare(protocol: &'static str) -> Profile {
        Profile { protocol, alpn: b"", versions: &[], early_data_max: 0 }
    }

    pub(crate) const fn over_tcp(protocol: &'static str, alpn: &'static [u8]) -> Profile {
        Profile { protocol, alpn, versions: TlsVersion::ALL, early_data_max: EARLY_DATA_MAX }
    }

    pub(crate) fn is_bare(self) -> bool {
        self.versions.is_empty()
    }

    fn versions(&self, tls: &TlsParameters) -> Result<Vec<&'static SupportedProtocolVersion>> {
        let usable = tls.usable_versions(self.protocol, self.versions)?;
        Ok(usable.into_iter().map(protocol_version).collect())
    }

    fn unsupported(&self, advice: impl Into<String>) -> Error {
        Error::unsupported(self.protocol, advice)
    }
}

/// A failure of a handshake, with the keys of a scenario that change it.
pub(crate) fn explained(failure: &dyn fmt::Display) -> String {
    let text = failure.to_string();
    const KNOWN: [([&str; 2], &str); 4] = [
        (["CaUsed", "AsEndEntity"], "certificate: make it with basicConstraints=critical,CA:FALSE"),
        (["HandshakeFailure", "error 40"], "handshake_failure: compare key-exchange at both ends"),
        (["expired", "not valid yet"], "certificate: renew it; a virtual run begins in 2026"),
        (["UnknownIssuer", "UnknownCA"], "certificate: end its file with what clients trust"),
    ];
    let advice = KNOWN.iter().find(|(words, _)| words.iter().any(|word| text.contains(word)));
    advice.map_or(text.clone(), |(_, advice)| format!("{text} ({advice})"))
}

/// The negotiated parameters, once the handshake has progressed far enough.
pub(crate) fn security(tls: &rustls::CommonState, early_data: bool) -> Option<Security> {
    let (version, cipher) = meaning(tls.negotiated_cipher_suite()?)?;
    let resumed = tls.handshake_kind()? == rustls::HandshakeKind::Resumed;
    Some(Security { version, cipher, resumed, early_data })
}

fn protocol_version(version: TlsVersion) -> &'static SupportedProtocolVersion {
    match version {
        TlsVersion::Tls12 => &rustls::version::TLS12,
        TlsVersion::Tls13 => &rustls::version::TLS13,
    }
}

fn key_log(observer: Option<&Arc<dyn Observer>>) -> Arc<dyn KeyLog> {
    match observer {
        Some(observer) => Arc::new(ObservedKeys(Arc::clone(observer))),
        None => Arc::new(rustls::NoKeyLog),
    }
}

/// Formats rustls's secrets as lines of the NSS key log format.
#[derive(Debug)]
struct ObservedKeys(Arc<dyn Observer>);

impl KeyLog for ObservedKeys {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        self.0.tls_key(&format!("{label} {} {}", hex(client_random), hex(secret)));
    }
}

/// How many sessions a side remembers; the oldest are forgotten first.
const SESSIONS_MAX: usize = 1_024;
