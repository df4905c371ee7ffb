//! libcoap's example server: CoAP over DTLS and UDP.

use crate::program::{Abilities, About, Launch, Program, Setup, TlsVersion, Transport};

pub(crate) struct CoapServer;

/// Maximum number of resources that clients may create, one for each path of a workload.
const RESOURCES_MAX: &str = "1000";

impl Program for CoapServer {
    fn about(&self) -> &About {
        &About {
            name: "coap-server",
            summary: "the example server of libcoap, over DTLS; OpenSSL",
            package: Some("libcoap3-bin"),
            executables: &["coap-server-openssl", "coap-server"],
            speaks: &["coap+dtls"],
        }
    }

    /// It supports DTLS 1.2 and uses its library's preferences.
    fn abilities(&self) -> Abilities {
        Abilities {
            tls: &[TlsVersion::Tls12],
            pins_tls: true,
            ciphers: &[],
            resumes: false,
            early_data: &[],
            x25519: true,
        }
    }

    /// CoAP over DTLS (RFC 7252 section 12.7).
    fn port(&self) -> u16 {
        5684
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        let arguments = vec![
            "-A".into(),
            setup.address.to_string().into(),
            "-p".into(),
            // DTLS is on the port after the given one.
            setup.port.saturating_sub(1).to_string().into(),
            "-c".into(),
            setup.certificate.clone().into(),
            "-j".into(),
            setup.key.clone().into(),
            // Clients need no certificate.
            "-n".into(),
            // A request to an unknown path creates a resource.
            "-d".into(),
            RESOURCES_MAX.into(),
            "-v".into(),
            "3".into(),
        ];
        Launch::new(arguments, Some(Transport::Udp), setup.port)
    }
}
