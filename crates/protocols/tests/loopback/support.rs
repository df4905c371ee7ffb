//! Our ends on the loopback interface, and what third-party programs need.

use std::io::{PipeWriter, pipe};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use trackbed_connection::Service;
use trackbed_core::Time;
use trackbed_protocols::Trust;
use trackbed_substrate::kernel::{Execution, Machine, Origin};

// The vocabulary of these tests.
pub use futures_util::future::join_all;
pub use std::fs;
pub use std::io::{BufRead as _, BufReader, Read as _, Write as _};
pub use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
pub use std::path::{Path, PathBuf};
pub use std::process::{Command, Stdio};
pub use std::rc::Rc;
pub use std::sync::Arc;
pub use std::time::Duration;
pub use tempfile::NamedTempFile;
pub use trackbed_connection::{
    CipherSuite, Connection, Dialer, Handshake, KeyExchange, Request, Response, TlsVersion,
    Transport, body,
};
pub use trackbed_core::{Rng, Seed};
pub use trackbed_protocols::{
    ClientConfig, Protocol, SERVER_NAME, ServerConfig, ServerHandle, TlsParameters,
    TransportParameters, find, registry,
};
pub use trackbed_substrate::{Host, sleep};

pub use crate::programs::{Kept, look_for, skip};

pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Runs `main`, of which `what` tells what it is if it fails.
pub fn run<F: Future<Output = ()>>(what: &str, main: impl FnOnce(Machine) -> F) {
    run_within(HANG, what, main);
}

fn run_within<F: Future<Output = ()>>(limit: Time, what: &str, main: impl FnOnce(Machine) -> F) {
    let execution = Execution::new(Origin::now()).with_time_limit(limit);
    execution.run(main).unwrap_or_else(|error| panic!("{what}: {error}"));
}

/// The defaults, except for the one algorithm that every kernel has and does not restrict.
pub fn transport() -> TransportParameters {
    TransportParameters { congestion: "reno".to_owned(), ..TransportParameters::default() }
}

/// A server on a separate thread, until this is dropped.
pub struct Server {
    pub address: SocketAddr,
    pub trust: Trust,
    /// The server ends when the last handle is dropped.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// `service` behind `protocol`, on a free port of 127.0.0.1.
    pub fn start(protocol: &'static str, service: impl Service + Send + 'static) -> Server {
        Server::start_with(protocol, HERE, TlsParameters::default(), service)
    }

    /// The same on another address, with what it accepts in TLS.
    pub fn start_with(
        protocol: &'static str,
        here: IpAddr,
        tls: TlsParameters,
        service: impl Service + Send + 'static,
    ) -> Server {
        let (stopped, stop) = pipe().unwrap();
        let (tell, told) = mpsc::channel();
        let serve = async move |machine: Machine| {
            let host = machine.host("server", [here]);
            let config = ServerConfig { tls, transport: transport(), ..ServerConfig::default() };
            let listen = SocketAddr::new(here, 0);
            let served = find(protocol).unwrap().serve((host, listen), &config, Rc::new(service));
            let server = served.unwrap();
            tell.send((server.local_addr(), server.trust().cloned().unwrap())).unwrap();
            machine.closed(stopped.into()).await.unwrap();
        };
        let thread = thread::spawn(move || run_within(SERVER_HANG, protocol, serve));
        let (address, trust) = told.recv().expect("the server listens");
        Server { address, trust, stop: Some(stop), thread: Some(thread) }
    }

    /// Its certificate, as clients want it.
    pub fn certificate(&self) -> NamedTempFile {
        pem_file("CERTIFICATE", self.trust.as_der())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        let ended = self.thread.take().map(JoinHandle::join);
        // A second panic would hide why the test fails.
        assert!(thread::panicking() || matches!(ended, Some(Ok(()))), "the server has failed");
    }
}

/// The certificate and the key of a third-party server, and what our client has to trust.
pub struct Identity {
    pub certificate: NamedTempFile,
    pub key: NamedTempFile,
    pub trust: Trust,
}

impl Identity {
    pub fn new() -> Identity {
        let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()]).unwrap();
        Identity {
            certificate: pem_file("CERTIFICATE", made.cert.der()),
            key: pem_file("PRIVATE KEY", &made.signing_key.serialize_der()),
            trust: Trust::from_der(made.cert.der().to_vec()),
        }
    }
}

pub fn pem_file(tag: &str, der: &[u8]) -> NamedTempFile {
    file(pem::encode(&pem::Pem::new(tag, der)).as_bytes())
}

/// A file with this content, gone when it is dropped.
pub fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(content).unwrap();
    file
}

/// A port of UDP that is free now, and hopefully still when a program asks for it.
pub fn free_port() -> u16 {
    UdpSocket::bind((HERE, 0)).unwrap().local_addr().unwrap().port()
}

/// Longer than any of these tests takes on a busy machine.
const HANG: Time = Time::from_millis(180_000);
/// The same with third-party clients, such as a conformance suite.
const SERVER_HANG: Time = Time::from_millis(600_000);
