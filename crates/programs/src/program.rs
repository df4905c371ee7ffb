//! What a server program offers, and what is asked of it.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::command::CustomCommand;

/// A server that is not ours: an entry of [`registry`](crate::registry).
///
/// Where it speaks HTTP it answers a POST to any path with a status of 200 to 299 once it has the
/// whole body, and a GET with the file of that path below [`Setup::site`].
pub trait Program: Sync {
    /// What it is.
    fn about(&self) -> &About;

    /// Its name.
    fn name(&self) -> &str {
        self.about().name
    }

    /// The names under which it is installed, the preferred one first.
    fn executables(&self) -> Vec<&str> {
        self.about().executables.to_vec()
    }

    /// What it can be held to.
    fn abilities(&self) -> Abilities;

    /// Where it listens unless something else is wanted.
    fn port(&self) -> u16 {
        443
    }

    /// How to start it as `setup` asks. It touches nothing.
    fn prepare(&self, setup: &Setup<'_>) -> Launch;
}

/// What is known of a server or a client by its name.
#[derive(Debug)]
pub struct About {
    /// The name that scenarios use, for example `nginx`.
    pub name: &'static str,
    /// One line for lists: what it is, and what it does.
    pub summary: &'static str,
    /// The Debian package that holds it, where that is known.
    pub package: Option<&'static str>,
    /// The names under which it is installed, the preferred one first.
    pub executables: &'static [&'static str],
    /// The protocols that it speaks, by the names that scenarios use; empty if that is not known.
    pub speaks: &'static [&'static str],
}

impl About {
    /// A command of the user's own, whose name and program only the command says.
    pub(crate) const CUSTOM: About = About {
        name: "",
        summary: "a command of the user's own",
        package: None,
        executables: &[],
        speaks: &[],
    };
}

/// What a program can be held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The TLS or DTLS versions that it has.
    pub tls: &'static [TlsVersion],
    /// Whether it can be told to take one version alone.
    pub pins_tls: bool,
    /// The versions for which it can be told to take one cipher alone.
    pub ciphers: &'static [TlsVersion],
    /// Whether it resumes sessions.
    pub resumes: bool,
    /// The protocols over which it takes early data (0-RTT).
    pub early_data: &'static [&'static str],
    /// Whether it agrees on keys by X25519; otherwise by P-256.
    pub x25519: bool,
}

impl Abilities {
    /// Those of a program that nothing is known of: whatever is asked for may be there, early data
    /// too.
    pub const UNKNOWN: Abilities = Abilities {
        tls: TlsVersion::ALL,
        pins_tls: false,
        ciphers: &[],
        resumes: true,
        early_data: &["http1", "http2", "http3"],
        x25519: true,
    };
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246), or DTLS 1.2 (RFC 6347).
    Tls12,
    /// TLS 1.3 (RFC 8446).
    Tls13,
}

impl TlsVersion {
    /// Both, the older one first.
    pub const ALL: &'static [TlsVersion] = &[TlsVersion::Tls12, TlsVersion::Tls13];
}

/// A cipher; key exchange and signature are ECDHE and ECDSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES-128-GCM with SHA-256.
    Aes128Gcm,
    /// AES-256-GCM with SHA-384.
    Aes256Gcm,
    /// ChaCha20-Poly1305 with SHA-256.
    ChaCha20Poly1305,
}

/// What a server is to be.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The folder with its files, which it reads.
    pub folder: &'a Path,
    /// A folder that it may fill as it likes. Trackbed neither reads nor writes there.
    pub scratch: PathBuf,
    /// Its certificate chain in PEM.
    pub certificate: PathBuf,
    /// The key of it in PEM (PKCS #8).
    pub key: PathBuf,
    /// The root of what it serves.
    pub site: PathBuf,
    /// Where it listens.
    pub address: IpAddr,
    /// Where it listens.
    pub port: u16,
    /// The DNS name that its certificate is for.
    pub name: &'a str,
    /// The only version that it takes; without it those that it has.
    pub tls: Option<TlsVersion>,
    /// The only cipher that it takes, in that version.
    pub cipher: Option<Cipher>,
    /// Whether it takes early data.
    pub early_data: bool,
}

impl<'a> Setup<'a> {
    /// A server whose files lie in `folder`, under the names that [`crate::Folder`] gives them; the
    /// address, port and name are still to be set.
    pub fn within(folder: &'a Path) -> Setup<'a> {
        Setup {
            folder,
            scratch: folder.join("scratch"),
            certificate: folder.join("certificate.pem"),
            key: folder.join("key.pem"),
            site: folder.join("site"),
            address: IpAddr::from([0, 0, 0, 0]),
            port: 0,
            name: "",
            tls: None,
            cipher: None,
            early_data: false,
        }
    }
}

/// How to start a program.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its command line, without its own name.
    pub arguments: Vec<OsString>,
    /// What is added to its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The files that it needs, by their name in its folder.
    pub files: Vec<(&'static str, String)>,
    /// What shows that it is ready.
    pub listens: Listens,
}

/// A socket that waits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listens {
    /// Its transport; `None` if that is not known, and either will do.
    pub transport: Option<Transport>,
    /// Its port.
    pub port: u16,
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl fmt::Display for Listens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transport = match self.transport {
            Some(Transport::Tcp) => "TCP port",
            Some(Transport::Udp) => "UDP port",
            None => "TCP or UDP port",
        };
        write!(f, "{transport} {}", self.port)
    }
}

/// The server that a scenario names.
#[derive(Clone)]
pub enum Server {
    /// One of the registry.
    Registered(&'static dyn Program),
    /// A user's own.
    Custom(Arc<CustomCommand>),
}

impl Deref for Server {
    type Target = dyn Program;

    fn deref(&self) -> &Self::Target {
        match self {
            Server::Registered(program) => *program,
            Server::Custom(command) => &**command,
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.name()).finish()
    }
}
