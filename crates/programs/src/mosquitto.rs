//! Mosquitto: MQTT over TLS and TCP.

use crate::openssl;
use crate::program::{Abilities, About, Known, Setup, Transport};

pub(crate) const MOSQUITTO: Known = Known {
    about: About {
        name: "mosquitto",
        summary: "the Mosquitto broker without authentication or persistence; OpenSSL",
        package: Some("mosquitto"),
        executables: &["mosquitto"],
        speaks: &["mqtt"],
    },
    // mosquitto.conf(5) has no setting for early data.
    abilities: Abilities::FULL,
    // MQTT over TLS (IANA: secure-mqtt).
    port: 8883,
    prepare: |setup| {
        let launch = setup.launch("-c {folder}/mosquitto.conf", Transport::Tcp);
        let mut launch = openssl::configured(launch, setup);
        launch.files.push(("mosquitto.conf", configure(setup)));
        launch
    },
};

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
