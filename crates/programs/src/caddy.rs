//! Caddy: HTTP/3 over QUIC, HTTP/1.1 and HTTP/2 over TLS and TCP.

use trackbed_connection::{CipherSuite, TlsVersion};

use crate::program::{Abilities, About, Known, Launch, Setup, Transport};

pub(crate) const CADDY: Known = Known {
    about: About {
        name: "caddy",
        summary: "Caddy; Go's TLS and HTTP/2, quic-go",
        package: Some("caddy"),
        executables: &["caddy"],
        speaks: &["http1", "http2", "http3"],
    },
    // Go does not allow choosing among the suites of TLS 1.3 (crypto/tls, `Config.CipherSuites`).
    abilities: Abilities {
        ciphers: &[TlsVersion::Tls12],
        early_data: &["http3"],
        ..Abilities::FULL
    },
    port: 443,
    prepare: |setup| {
        // It stores its state in these directories.
        let home = ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];
        let arguments = "run --adapter caddyfile --config {folder}/Caddyfile";
        Launch {
            environment: home.map(|name| (name.into(), setup.scratch.clone().into())).into(),
            files: vec![("Caddyfile", configure(setup))],
            ..setup.launch(arguments, last_transport(setup))
        }
    },
};

/// A handler that responds immediately would do so before the body of a request has arrived: using
/// the body in a variable makes it read all of it.
fn configure(setup: &Setup<'_>) -> String {
    let Setup { address, port, name, .. } = setup;
    let (site, scratch) = (setup.site.display(), setup.scratch.display());
    let (certificate, key) = (setup.certificate.display(), setup.key.display());
    let mut tls = String::new();
    if let Some(version) = setup.tls {
        let version = match version {
            TlsVersion::Tls12 => "tls1.2",
            TlsVersion::Tls13 => "tls1.3",
        };
        tls.push_str(&format!("protocols {version} {version}\n"));
    }
    if let Some(cipher) = setup.cipher {
        tls.push_str(&format!("ciphers {}\n", suite_12(cipher)));
    }
    // Without TLS 1.3 there is no QUIC, and Caddy does not start if both are requested.
    let protocols = match setup.tls {
        Some(TlsVersion::Tls12) => "h1 h2",
        Some(TlsVersion::Tls13) | None => "h1 h2 h3",
    };
    format!(
        include_str!("Caddyfile"),
        name = name,
        address = address,
        scratch = scratch,
        protocols = protocols,
        port = port,
        tls = tls,
        certificate = certificate,
        key = key,
        site = site,
    )
}

/// Its UDP port opens after the TCP port; without TLS 1.3 there is none.
fn last_transport(setup: &Setup<'_>) -> Transport {
    match setup.tls {
        Some(TlsVersion::Tls12) => Transport::Tcp,
        Some(TlsVersion::Tls13) | None => Transport::Udp,
    }
}

/// The IANA names of TLS 1.2 suites.
fn suite_12(cipher: CipherSuite) -> &'static str {
    match cipher {
        CipherSuite::Aes128Gcm => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        CipherSuite::Aes256Gcm => "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        CipherSuite::ChaCha20Poly1305 => "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    }
}
