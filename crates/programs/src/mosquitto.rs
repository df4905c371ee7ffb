//! Mosquitto: MQTT over TLS and TCP.

use crate::openssl;
use crate::program::{Abilities, About, Launch, Listens, Program, Setup, TlsVersion, Transport};

pub(crate) struct Mosquitto;

impl Program for Mosquitto {
    fn about(&self) -> &About {
        &About {
            name: "mosquitto",
            summary: "the Mosquitto broker without authentication or persistence; OpenSSL",
            package: Some("mosquitto"),
            executables: &["mosquitto"],
            speaks: &["mqtt"],
        }
    }

    /// mosquitto.conf(5) has no setting for early data.
    fn abilities(&self) -> Abilities {
        Abilities {
            tls: TlsVersion::ALL,
            pins_tls: true,
            ciphers: TlsVersion::ALL,
            resumes: true,
            early_data: &[],
            x25519: true,
        }
    }

    /// MQTT over TLS (IANA: secure-mqtt).
    fn port(&self) -> u16 {
        8883
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        let configuration = setup.folder.join(CONFIGURATION);
        Launch {
            arguments: vec!["-c".into(), configuration.into()],
            environment: vec![("OPENSSL_CONF".into(), setup.folder.join(OPENSSL).into())],
            files: vec![
                (CONFIGURATION, configure(setup)),
                (OPENSSL, openssl::configuration(setup)),
            ],
            listens: Listens { transport: Some(Transport::Tcp), port: setup.port },
        }
    }
}

fn configure(setup: &Setup<'_>) -> String {
    let Setup { address, port, .. } = setup;
    let mut text = format!(
        "user root\n\
         allow_anonymous true\n\
         persistence false\n\
         log_dest stderr\n\
         log_type error\n\
         log_type warning\n\
         set_tcp_nodelay true\n\
         listener {port} {address}\n\
         certfile {}\n\
         keyfile {}\n",
        setup.certificate.display(),
        setup.key.display()
    );
    // This is the minimum version; OpenSSL's configuration sets the maximum.
    if let Some(version) = setup.tls {
        text.push_str(&format!("tls_version {}\n", openssl::version(version).to_lowercase()));
    }
    let cipher = openssl::cipher(setup, "ciphers", "ciphers_tls1.3");
    text.extend(cipher.map(|cipher| format!("{cipher}\n")));
    text
}

const CONFIGURATION: &str = "mosquitto.conf";
const OPENSSL: &str = "openssl.cnf";
