//! Servers that their command line configures: nghttpd, libcoap's example server, and other QUIC stacks.

use crate::openssl;
use trackbed_connection::TlsVersion;

use crate::program::{Abilities, About, Known, Transport};

/// The HTTP/2 server of nghttp2.
pub(crate) const NGHTTPD: Known = Known {
    about: About {
        name: "nghttpd",
        summary: "the server of nghttp2, one thread; it echoes messages; OpenSSL",
        package: Some("nghttp2-server"),
        executables: &["nghttpd"],
        speaks: &["http2"],
    },
    // It sets its versions, groups and the suites of TLS 1.2 itself, regardless of OpenSSL's configuration; only the
    // suites of TLS 1.3 come from there.
    abilities: Abilities {
        pins_tls: false,
        ciphers: &[TlsVersion::Tls13],
        x25519: false,
        ..Abilities::FULL
    },
    port: 443,
    prepare: |setup| {
        // It responds when the whole message has arrived.
        let arguments =
            "--address {address} --htdocs {site} --echo-upload {port} {key} {certificate}";
        openssl::configured(setup.launch(arguments, Transport::Tcp), setup)
    },
};

/// CoAP over DTLS and UDP.
pub(crate) const COAP_SERVER: Known = Known {
    about: About {
        name: "coap-server",
        summary: "the example server of libcoap, over DTLS; OpenSSL",
        package: Some("libcoap3-bin"),
        executables: &["coap-server-openssl", "coap-server"],
        speaks: &["coap+dtls"],
    },
    // It supports DTLS 1.2 and uses its library's preferences.
    abilities: Abilities {
        tls: &[TlsVersion::Tls12],
        ciphers: &[],
        resumes: false,
        ..Abilities::FULL
    },
    // CoAP over DTLS (RFC 7252 section 12.7).
    port: 5684,
    prepare: |setup| {
        // DTLS is on the port after the given one. Clients need no certificate (-n). A request to an unknown path
        // creates a resource, one for each path of a workload (-d).
        let port = setup.port.saturating_sub(1);
        let arguments =
            format!("-A {{address}} -p {port} -c {{certificate}} -j {{key}} -n -d 1000 -v 3");
        setup.launch(&arguments, Transport::Udp)
    },
};

pub(crate) const QUIC_GO: Known = Known {
    about: About {
        name: "quic-go",
        summary: "quic-go, with the frames of Trackbed's quic or HTTP/3; Go's TLS",
        executables: &["trackbed-quic-go"],
        ..STACK.about
    },
    ..STACK
};

pub(crate) const AIOQUIC: Known = Known {
    about: About {
        name: "aioquic",
        summary: "aioquic, with the frames of Trackbed's quic or HTTP/3; Python",
        executables: &["trackbed-aioquic"],
        ..STACK.about
    },
    ..STACK
};

pub(crate) const S2N_QUIC: Known = Known {
    about: About {
        name: "s2n-quic",
        summary: "s2n-quic, with the frames of Trackbed's quic; rustls",
        executables: &["trackbed-s2n-quic"],
        speaks: &["quic"],
        ..STACK.about
    },
    abilities: Abilities { resumes: false, early_data: &[], ..STACK.abilities },
    ..STACK
};

pub(crate) const QUICHE: Known = Known {
    about: About {
        name: "quiche",
        summary: "quiche, with the frames of Trackbed's quic or HTTP/3; BoringSSL",
        executables: &["trackbed-quiche"],
        ..STACK.about
    },
    ..STACK
};

/// A QUIC stack behind a small server of `contrib/stacks`. All take the same command line.
const STACK: Known = Known {
    about: About { package: None, speaks: &["quic", "http3"], ..About::CUSTOM },
    abilities: Abilities {
        tls: &[TlsVersion::Tls13],
        ciphers: &[],
        early_data: &["quic", "http3"],
        ..Abilities::FULL
    },
    port: 443,
    prepare: |setup| {
        let arguments =
            "-address {address}:{port} -certificate {certificate} -key {key} -site {site}";
        let mut launch = setup.launch(arguments, Transport::Udp);
        launch.arguments.extend(setup.early_data.then(|| "-early".into()));
        launch
    },
};
