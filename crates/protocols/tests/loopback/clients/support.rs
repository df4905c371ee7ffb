//! Our server on the loopback interface, and its client programs.

use std::io::{PipeWriter, pipe};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use trackbed_connection::Service;
use trackbed_core::Time;
use trackbed_protocols::{ServerConfig, TlsParameters, TransportParameters, Trust, find};
use trackbed_substrate::kernel::{Execution, Machine, Origin};

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
        Server::start_with(protocol, TlsParameters::default(), service)
    }

    /// The same, with what it accepts in TLS.
    pub fn start_with(
        protocol: &'static str,
        tls: TlsParameters,
        service: impl Service + Send + 'static,
    ) -> Server {
        let (stopped, stop) = pipe().unwrap();
        let (tell, told) = mpsc::channel();
        let serve = async move |machine: Machine| {
            let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
            let host = machine.host("server", [here]);
            // The one algorithm that every kernel has and does not restrict.
            let transport = TransportParameters {
                congestion: "reno".to_owned(),
                ..TransportParameters::default()
            };
            let config = ServerConfig { tls, transport, ..ServerConfig::default() };
            let protocol = find(protocol).unwrap();
            let listen = SocketAddr::new(here, 0);
            let server = protocol.serve(host, listen, &config, Rc::new(service)).unwrap();
            tell.send((server.local_addr(), server.trust().cloned().unwrap())).unwrap();
            machine.closed(stopped.into()).await.unwrap();
        };
        let thread = thread::spawn(move || {
            let execution = Execution::new(Origin::now()).with_time_limit(HANG);
            execution.run(serve).unwrap();
        });
        let (address, trust) = told.recv().expect("the server listens");
        Server { address, trust, stop: Some(stop), thread: Some(thread) }
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

/// The program called `name`, if it is in a folder of `PATH`.
pub fn look_for(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Reports that a test cannot run here.
pub fn skip(why: &str) {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!is_ci, "{why}");
    eprintln!("SKIPPED: {why}");
}

/// Longer than any of these tests takes on a busy machine.
const HANG: Time = Time::from_millis(600_000);
