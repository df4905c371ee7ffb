//! Caddy: HTTP/3 over QUIC, HTTP/1.1 and HTTP/2 over TLS and TCP.

use crate::program::{
    Abilities, About, Cipher, Launch, Listens, Program, Setup, TlsVersion, Transport,
};

pub(crate) struct Caddy;

impl Program for Caddy {
    fn about(&self) -> &About {
        &About {
            name: "caddy",
            summary: "Caddy; Go's TLS and HTTP/2, quic-go",
            package: Some("caddy"),
            executables: &["caddy"],
            speaks: &["http1", "http2", "http3"],
        }
    }

    /// Go does not allow choosing among the suites of TLS 1.3 (crypto/tls, `Config.CipherSuites`).
    fn abilities(&self) -> Abilities {
        Abilities {
            tls: TlsVersion::ALL,
            pins_tls: true,
            ciphers: &[TlsVersion::Tls12],
            resumes: true,
            early_data: &["http3"],
            x25519: true,
        }
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        let configuration = setup.folder.join(CONFIGURATION);
        // It stores its state in these directories.
        let home = ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];
        Launch {
            arguments: vec![
                "run".into(),
                "--adapter".into(),
                "caddyfile".into(),
                "--config".into(),
                configuration.into(),
            ],
            environment: home.map(|name| (name.into(), setup.scratch.clone().into())).into(),
            files: vec![(CONFIGURATION, configure(setup))],
            listens: Listens { transport: Some(last_transport(setup)), port: setup.port },
        }
    }
}

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
        "{{\n\
         admin off\n\
         auto_https off\n\
         default_sni {name}\n\
         default_bind {address}\n\
         storage file_system \"{scratch}/storage\"\n\
         log {{\nlevel WARN\n}}\n\
         servers {{\nprotocols {protocols}\n}}\n\
         }}\n\
         https://:{port} {{\n\
         tls \"{certificate}\" \"{key}\" {{\n{tls}}}\n\
         @post method POST\n\
         handle @post {{\n\
         vars body {{http.request.body}}\n\
         respond \"taken\" 200\n\
         }}\n\
         handle {{\n\
         root * \"{site}\"\n\
         file_server\n\
         }}\n\
         }}\n"
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
fn suite_12(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Aes128Gcm => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        Cipher::Aes256Gcm => "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        Cipher::ChaCha20Poly1305 => "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    }
}

const CONFIGURATION: &str = "Caddyfile";
