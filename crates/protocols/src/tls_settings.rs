//! The keys of TLS besides version and cipher, and what their values set.

use trackbed_connection::KeyExchange;
use trackbed_core::parameter::{Arguments, Kind, Parameter};

use crate::config::{Chain, KeyKind, TlsSettings};
use crate::parameters::{ParameterError, bytes_in, refuse, security};

/// Everything of TLS over TCP and QUIC.
pub fn tls() -> Vec<Parameter> {
    const GROUPS: &str = "TLS 1.3: the groups of the key exchange that the client offers, as \"X25519MLKEM768:x25519\": x25519, \
         secp256r1, X25519MLKEM768, SecP256r1MLKEM768; its hello has a share of the first; default: x25519";
    let groups = vec![Parameter::optional("key-exchange", Kind::Text, GROUPS)];
    [security(), groups, tls_of_server()].concat()
}

/// What the server decides in TLS.
pub fn tls_of_server() -> Vec<Parameter> {
    const GROUPS: &str = "TLS 1.3: the groups that the server accepts; without the client's first one it sends a \
         HelloRetryRequest, a round trip more; default: those of key-exchange";
    const CHAIN: &str = "TLS: the kinds of the server's key and of its intermediates', as \"p256:p256\": p256, ed25519, ml-dsa-44, \
         ml-dsa-65, ml-dsa-87; the root has the last and is not sent; default: one P-256 certificate, trusted directly";
    const OWN: &str = "TLS: a PEM file with the server's own chain and private key, instead of chain; clients trust its last certificate";
    const STAPLE: &str = "TLS: the length of a stapled OCSP response of random bytes";
    const SCT: &str = "TLS: the length of the signed certificate timestamps in the server's certificate, random bytes; two take 240 B";
    const ZLIB: &str = "TLS 1.3: compress certificates by zlib (RFC 8879); default: false";
    vec![
        Parameter::optional("server-key-exchange", Kind::Text, GROUPS),
        Parameter::optional("chain", Kind::Text, CHAIN),
        Parameter::optional("certificate", Kind::File, OWN),
        Parameter::optional("staple", Kind::Size, STAPLE),
        Parameter::optional("sct", Kind::Size, SCT),
        Parameter::optional("certificate-compression", Kind::Flag, ZLIB),
        client_auth(),
    ]
}

/// TLS and DTLS.
pub(crate) fn client_auth() -> Parameter {
    const CLIENT: &str =
        "TLS: the client has a chain of the same kinds, and the server demands it; default: false";
    Parameter::optional("client-auth", Kind::Flag, CLIENT)
}

impl TlsSettings {
    /// The settings from the values of a protocol's [`parameters`](crate::Protocol::parameters).
    ///
    /// # Errors
    /// If a value is beyond what TLS allows.
    pub fn read(arguments: &Arguments) -> Result<TlsSettings, ParameterError> {
        let filler = |name| Ok(bytes_in(arguments, name, 0..=FILLER_MAX)?.unwrap_or(0) as usize);
        let is_set = |name| arguments.get(name).unwrap_or(false);
        let groups = |name| listed(arguments, name, KeyExchange::from_name, KeyExchange::NAMES);
        let kinds = listed(arguments, "chain", KeyKind::from_name, KeyKind::NAMES)?;
        if kinds.iter().flatten().count() > CHAIN_LEN_MAX {
            return refuse("chain", format!("write at most {CHAIN_LEN_MAX} kinds"));
        }
        let chain = Chain {
            kinds: kinds.unwrap_or_default(),
            certificate: None,
            staple: filler("staple")?,
            sct: filler("sct")?,
            compressed: is_set("certificate-compression"),
            client_auth: is_set("client-auth"),
        };
        Ok(TlsSettings {
            key_exchange: groups("key-exchange")?,
            server_key_exchange: groups("server-key-exchange")?,
            chain,
            certificate: arguments.get("certificate"),
        })
    }
}

/// `X25519MLKEM768:x25519`
fn listed<T>(
    arguments: &Arguments,
    parameter: &'static str,
    from_name: impl Fn(&str) -> Option<T>,
    known: &[&str],
) -> Result<Option<Vec<T>>, ParameterError> {
    let Some(text) = arguments.get::<String>(parameter) else { return Ok(None) };
    let of = |name: &str| {
        from_name(name).ok_or_else(|| {
            let known = known.join(", ");
            let why = format!("\"{name}\" is unknown; write some of {known}, separated by ':'");
            ParameterError { parameter, why }
        })
    };
    text.split(':').map(str::trim).map(of).collect::<Result<_, _>>().map(Some)
}

/// The staple, the timestamps and eight certificates of ML-DSA-87 are less than TLS ends take: 64 KiB.
const FILLER_MAX: u32 = 2_000;
const CHAIN_LEN_MAX: usize = 8;
