//! nginx: HTTP/1.1 and HTTP/2 over TLS and TCP.

use crate::openssl;
use crate::program::{Abilities, About, Known, Launch, Setup, Transport};

pub(crate) const NGINX: Known = Known {
    about: About {
        name: "nginx",
        summary: "nginx with one worker; OpenSSL",
        package: Some("nginx"),
        executables: &["nginx"],
        speaks: &["http1", "http2"],
    },
    abilities: Abilities { early_data: &["http1", "http2"], ..Abilities::FULL },
    port: 443,
    prepare: |setup| {
        // Before it reads the configuration it writes to another log, possibly a system file.
        let arguments = "-e stderr -p {directory} -c {folder}/nginx.conf";
        let files = vec![("nginx.conf", configure(setup))];
        Launch { files, ..setup.launch(arguments, Transport::Tcp) }
    },
};

/// `return` alone would respond before the body of a request has arrived, and the file handler
/// refuses a POST. So the body is read for a mirror that discards it, and the refusal is turned
/// into a success.
fn configure(setup: &Setup<'_>) -> String {
    let Setup { address, port, name, .. } = setup;
    let (scratch, site) = (setup.scratch.display(), setup.site.display());
    let (certificate, key) = (setup.certificate.display(), setup.key.display());
    let early_data = if setup.early_data { "on" } else { "off" };
    let mut tls = String::new();
    if let Some(version) = setup.tls {
        tls.push_str(&format!("ssl_protocols {};\n", openssl::version(version)));
    }
    let cipher = openssl::cipher(setup, "ssl_ciphers", "ssl_conf_command Ciphersuites");
    tls.extend(cipher.map(|cipher| format!("{cipher};\n")));
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|what| format!("{what}_temp_path \"{scratch}/{what}\";\n"))
        .collect();
    format!(
        include_str!("nginx.conf"),
        scratch = scratch,
        temporary = temporary,
        address = address,
        port = port,
        name = name,
        certificate = certificate,
        key = key,
        tls = tls,
        early_data = early_data,
        site = site,
    )
}
