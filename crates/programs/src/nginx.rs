//! nginx: HTTP/1.1 and HTTP/2 over TLS and TCP.

use crate::openssl;
use crate::program::{Abilities, About, Launch, Program, Setup, TlsVersion, Transport};

pub(crate) struct Nginx;

impl Program for Nginx {
    fn about(&self) -> &About {
        &About {
            name: "nginx",
            summary: "nginx with one worker; OpenSSL",
            package: Some("nginx"),
            executables: &["nginx"],
            speaks: &["http1", "http2"],
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            tls: TlsVersion::ALL,
            pins_tls: true,
            ciphers: TlsVersion::ALL,
            resumes: true,
            early_data: &["http1", "http2"],
            x25519: true,
        }
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        let configuration = setup.folder.join(CONFIGURATION);
        let arguments = vec![
            // Before it reads the configuration it writes to another log, possibly a system file.
            "-e".into(),
            "stderr".into(),
            "-p".into(),
            setup.scratch.clone().into(),
            "-c".into(),
            configuration.into(),
        ];
        let files = vec![(CONFIGURATION, configure(setup))];
        Launch { files, ..Launch::new(arguments, Some(Transport::Tcp), setup.port) }
    }
}

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
        "daemon off;\n\
         user root;\n\
         worker_processes 1;\n\
         pid \"{scratch}/nginx.pid\";\n\
         error_log stderr warn;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n\
         access_log off;\n\
         log_not_found off;\n\
         {temporary}\
         types {{ text/html html; text/css css; text/javascript js; image/gif gif; }}\n\
         default_type application/octet-stream;\n\
         sendfile on;\n\
         client_max_body_size 0;\n\
         keepalive_requests 100000000;\n\
         keepalive_timeout 1h;\n\
         server {{\n\
         listen {address}:{port} ssl http2;\n\
         server_name {name};\n\
         ssl_certificate \"{certificate}\";\n\
         ssl_certificate_key \"{key}\";\n\
         {tls}\
         ssl_session_cache shared:sessions:10m;\n\
         ssl_session_timeout 1h;\n\
         ssl_early_data {early_data};\n\
         root \"{site}\";\n\
         mirror /thrown-away;\n\
         error_page 404 405 =200 @taken;\n\
         location @taken {{ default_type text/plain; return 200 \"taken\"; }}\n\
         location = /thrown-away {{ internal; return 204; }}\n\
         }}\n\
         }}\n"
    )
}

const CONFIGURATION: &str = "nginx.conf";
