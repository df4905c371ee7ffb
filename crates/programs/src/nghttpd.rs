//! nghttpd: the HTTP/2 server of nghttp2.

use crate::openssl;
use crate::program::{Abilities, About, Launch, Listens, Program, Setup, TlsVersion, Transport};

pub(crate) struct Nghttpd;

impl Program for Nghttpd {
    fn about(&self) -> &About {
        &About {
            name: "nghttpd",
            summary: "the server of nghttp2, one thread; it echoes messages; OpenSSL",
            package: Some("nghttp2-server"),
            executables: &["nghttpd"],
            speaks: &["http2"],
        }
    }

    /// It sets its versions, groups and the suites of TLS 1.2 itself, regardless of OpenSSL's
    /// configuration; only the suites of TLS 1.3 come from there.
    fn abilities(&self) -> Abilities {
        Abilities {
            tls: TlsVersion::ALL,
            pins_tls: false,
            ciphers: &[TlsVersion::Tls13],
            resumes: true,
            early_data: &[],
            x25519: false,
        }
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        let configuration = setup.folder.join(CONFIGURATION);
        Launch {
            arguments: vec![
                "--address".into(),
                setup.address.to_string().into(),
                "--htdocs".into(),
                setup.site.clone().into(),
                // It responds when the whole message has arrived.
                "--echo-upload".into(),
                setup.port.to_string().into(),
                setup.key.clone().into(),
                setup.certificate.clone().into(),
            ],
            environment: vec![("OPENSSL_CONF".into(), configuration.into())],
            files: vec![(CONFIGURATION, openssl::configuration(setup))],
            listens: Listens { transport: Some(Transport::Tcp), port: setup.port },
        }
    }
}

const CONFIGURATION: &str = "openssl.cnf";
