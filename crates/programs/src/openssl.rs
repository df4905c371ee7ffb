//! OpenSSL's names of versions and ciphers.

use trackbed_connection::{CipherSuite, TlsVersion};

use crate::program::{Launch, Setup};

/// The version's name in nginx and in OpenSSL's configuration.
pub(crate) fn version(tls: TlsVersion) -> &'static str {
    match tls {
        TlsVersion::Tls12 => "TLSv1.2",
        TlsVersion::Tls13 => "TLSv1.3",
    }
}

/// The TLS 1.2 suite (openssl-ciphers(1)) for an ECDSA certificate.
fn suite_12(cipher: CipherSuite) -> &'static str {
    match cipher {
        CipherSuite::Aes128Gcm => "ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::Aes256Gcm => "ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::ChaCha20Poly1305 => "ECDHE-ECDSA-CHACHA20-POLY1305",
    }
}

/// The TLS 1.3 suite (RFC 8446 section B.4).
fn suite_13(cipher: CipherSuite) -> &'static str {
    match cipher {
        CipherSuite::Aes128Gcm => "TLS_AES_128_GCM_SHA256",
        CipherSuite::Aes256Gcm => "TLS_AES_256_GCM_SHA384",
        CipherSuite::ChaCha20Poly1305 => "TLS_CHACHA20_POLY1305_SHA256",
    }
}

/// The cipher that `setup` asks for: in TLS 1.2 with `setting_12` in front of it, otherwise with
/// `setting_13`.
pub(crate) fn cipher(setup: &Setup<'_>, setting_12: &str, setting_13: &str) -> Option<String> {
    let cipher = setup.cipher?;
    Some(match setup.tls {
        Some(TlsVersion::Tls12) => format!("{setting_12} {}", suite_12(cipher)),
        Some(TlsVersion::Tls13) | None => format!("{setting_13} {}", suite_13(cipher)),
    })
}

/// The program with OpenSSL's configuration (config(5), SSL_CONF_cmd(3)), which applies to every program that does
/// not set these values itself.
pub(crate) fn configured(mut launch: Launch, setup: &Setup<'_>) -> Launch {
    let mut text = "openssl_conf = main\n[main]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n\
                    [tls]\n"
        .to_owned();
    if let Some(version) = setup.tls.map(version) {
        text.push_str(&format!("MinProtocol = {version}\nMaxProtocol = {version}\n"));
    }
    if let Some(cipher) = setup.cipher {
        text.push_str(&format!("Ciphersuites = {}\n", suite_13(cipher)));
    }
    launch.environment.push(("OPENSSL_CONF".into(), setup.folder.join("openssl.cnf").into()));
    launch.files.push(("openssl.cnf", text));
    launch
}
