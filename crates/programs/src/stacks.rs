//! Other QUIC stacks, each behind a small server of `contrib/stacks`. All take the same command line.

use crate::program::{Abilities, About, Launch, Program, Setup, TlsVersion, Transport};

pub(crate) struct Stack(About);

pub(crate) const QUIC_GO: Stack = Stack(About {
    name: "quic-go",
    summary: "quic-go, with the frames of Trackbed's quic or HTTP/3; Go's TLS",
    package: None,
    executables: &["trackbed-quic-go"],
    speaks: &["quic", "http3"],
});

pub(crate) const AIOQUIC: Stack = Stack(About {
    name: "aioquic",
    summary: "aioquic, with the frames of Trackbed's quic or HTTP/3; Python",
    package: None,
    executables: &["trackbed-aioquic"],
    speaks: &["quic", "http3"],
});

impl Program for Stack {
    fn about(&self) -> &About {
        &self.0
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            tls: &[TlsVersion::Tls13],
            pins_tls: true,
            ciphers: &[],
            resumes: true,
            early_data: &["quic", "http3"],
            x25519: true,
        }
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        let mut arguments =
            vec!["-address".into(), format!("{}:{}", setup.address, setup.port).into()];
        for (name, path) in
            [("-certificate", &setup.certificate), ("-key", &setup.key), ("-site", &setup.site)]
        {
            arguments.extend([name.into(), path.clone().into()]);
        }
        arguments.extend(setup.early_data.then(|| "-early".into()));
        Launch::new(arguments, Some(Transport::Udp), setup.port)
    }
}
