//! Server programs, and their setups.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trackbed_connection::{CipherSuite, TlsVersion};

use crate::command::{CustomCommand, filled};

/// A third-party server: an entry of [`registry`](crate::registry).
///
/// Over HTTP it responds to a POST to any path with a status of 200 to 299 once it has the whole
/// body, and to a GET with the file of that path below [`Setup::site`].
pub trait Program: Sync {
    /// Its description.
    fn about(&self) -> &About;

    /// Its name.
    fn name(&self) -> &str {
        self.about().name
    }

    /// The names under which it is installed, the preferred one first.
    fn executables(&self) -> Vec<&str> {
        self.about().executables.to_vec()
    }

    /// Its abilities.
    fn abilities(&self) -> Abilities;

    /// Its default port.
    fn port(&self) -> u16 {
        443
    }

    /// How to start it for `setup`. Has no side effects.
    fn prepare(&self, setup: &Setup<'_>) -> Launch;
}

/// The description of a server or a client.
#[derive(Debug)]
pub struct About {
    /// The name in scenarios, for example `nginx`.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The Debian package that contains it, if known.
    pub package: Option<&'static str>,
    /// The names under which it is installed, the preferred one first.
    pub executables: &'static [&'static str],
    /// The protocols that it supports, by their names in scenarios; empty if unknown.
    pub speaks: &'static [&'static str],
}

impl About {
    /// A user's command, which determines its name and program.
    pub(crate) const CUSTOM: About = About {
        name: "",
        summary: "a user's command",
        package: None,
        executables: &[],
        speaks: &[],
    };
}

/// A server that is known by its name.
pub(crate) struct Known {
    pub(crate) about: About,
    pub(crate) abilities: Abilities,
    pub(crate) port: u16,
    pub(crate) prepare: fn(&Setup<'_>) -> Launch,
}

impl Program for Known {
    fn about(&self) -> &About {
        &self.about
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        (self.prepare)(setup)
    }
}

/// The abilities of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The TLS or DTLS versions that it supports.
    pub tls: &'static [TlsVersion],
    /// Whether it can be limited to one version.
    pub pins_tls: bool,
    /// The versions for which it can be limited to one cipher.
    pub ciphers: &'static [TlsVersion],
    /// Whether it resumes sessions.
    pub resumes: bool,
    /// The protocols over which it accepts early data (0-RTT).
    pub early_data: &'static [&'static str],
    /// Whether its key exchange is X25519; otherwise P-256.
    pub x25519: bool,
}

impl Abilities {
    /// Those of a server with OpenSSL that is configured in full, without early data.
    pub(crate) const FULL: Abilities = Abilities {
        tls: TlsVersion::ALL,
        pins_tls: true,
        ciphers: TlsVersion::ALL,
        resumes: true,
        early_data: &[],
        x25519: true,
    };

    /// The abilities of an unknown program: everything may be supported, including early data.
    pub const UNKNOWN: Abilities = Abilities {
        pins_tls: false,
        ciphers: &[],
        early_data: &["http1", "http2", "http3"],
        ..Abilities::FULL
    };
}

/// The setup of a server.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The folder with its files, which it reads.
    pub folder: &'a Path,
    /// A folder that it may write to. Trackbed neither reads nor writes there.
    pub scratch: PathBuf,
    /// Its certificate chain in PEM.
    pub certificate: PathBuf,
    /// The certificate's key in PEM (PKCS #8).
    pub key: PathBuf,
    /// The root of the files it serves.
    pub site: PathBuf,
    /// The address to listen on.
    pub address: IpAddr,
    /// The port to listen on.
    pub port: u16,
    /// The DNS name that its certificate is for.
    pub name: &'a str,
    /// The only version that it accepts; by default all that it supports.
    pub tls: Option<TlsVersion>,
    /// The only cipher that it accepts, in that version.
    pub cipher: Option<CipherSuite>,
    /// Whether it accepts early data.
    pub early_data: bool,
}

impl<'a> Setup<'a> {
    /// A server whose files are in `folder`, with the names that [`crate::Folder`] gives them;
    /// address, port and name must still be set.
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

    /// What names in braces stand for in the words of a command.
    pub(crate) fn values(&self) -> [(&'static str, String); 8] {
        [
            ("address", self.address.to_string()),
            ("port", self.port.to_string()),
            ("name", self.name.to_owned()),
            ("certificate", self.certificate.display().to_string()),
            ("key", self.key.display().to_string()),
            ("directory", self.scratch.display().to_string()),
            ("site", self.site.display().to_string()),
            ("folder", self.folder.display().to_string()),
        ]
    }

    /// A program with these arguments, which is ready when it listens.
    pub(crate) fn launch(&self, arguments: &str, transport: Transport) -> Launch {
        let (values, words) = (self.values(), arguments.split_whitespace());
        let arguments = words.map(|word| filled(word, &values)).collect();
        Launch::new(arguments, Some(transport), self.port)
    }
}

/// How to start a program.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its command line, without its own name.
    pub arguments: Vec<OsString>,
    /// Additional environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// The files that it needs, by their name in its folder.
    pub files: Vec<(&'static str, String)>,
    /// The socket that shows that it is ready.
    pub listens: Listens,
}

impl Launch {
    /// A program without variables and files of its own, which is ready when it listens on `port`.
    pub(crate) fn new(arguments: Vec<OsString>, transport: Option<Transport>, port: u16) -> Launch {
        let (environment, files) = (Vec::new(), Vec::new());
        Launch { arguments, environment, files, listens: Listens { transport, port } }
    }
}

/// A listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listens {
    /// Its transport; `None` if unknown: either is then acceptable.
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

/// The server in a scenario.
#[derive(Clone)]
pub enum Server {
    /// A registry entry.
    Registered(&'static dyn Program),
    /// A user's command.
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
