//! A third-party server on a port of the loopback interface, and our client for it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use trackbed_connection::{Connection, KeyExchange, Request, body};
use trackbed_programs::{Certificate, Folder, Setup, find, find_executable};
use trackbed_protocols::{ClientConfig, SERVER_NAME, TlsParameters, TransportParameters, Trust};
use trackbed_substrate::kernel::{Execution, Origin};
use trackbed_substrate::now;

use crate::SIZE;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A running server. It ends when this is dropped.
pub struct Server {
    process: Child,
    pub folder: Folder,
    pub address: SocketAddr,
    trust: Trust,
}

impl Server {
    /// Starts the program `name`, if it and all of `clients` are installed.
    pub fn start(name: &str, clients: &[&str]) -> Option<Server> {
        let program = find(name)?;
        let package = program.about().package;
        let found = find_executable(&program.executables(), package).and_then(|executable| {
            let mut clients = clients.iter().map(|client| find_executable(&[client], None));
            clients.try_for_each(|found| found.map(drop))?;
            Ok(executable)
        });
        let executable = match found {
            Ok(executable) => executable,
            Err(missing) => {
                println!("SKIPPED {name}: {missing}");
                return None;
            }
        };
        let folder = Folder::new().expect("a folder");
        let certificate = Certificate::for_names([SERVER_NAME.to_owned()]).expect("a certificate");
        folder.keep_certificate(&certificate).expect("a folder");
        let content = |to: &mut dyn std::io::Write| to.write_all(&[b'x'; SIZE]);
        folder.publish("message", content).expect("a folder");
        let port = TcpListener::bind((HERE, 0)).and_then(|free| free.local_addr());
        let address = SocketAddr::new(HERE, port.expect("a free port").port());
        let setup =
            Setup { address: HERE, port: address.port(), name: SERVER_NAME, ..folder.setup() };
        let launch = program.prepare(&setup);
        for (file, text) in &launch.files {
            folder.write(file, text.as_bytes()).expect("a folder");
        }
        let mut command = Command::new(executable);
        command.args(&launch.arguments).envs(launch.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("it starts");
        // It listens by then, whatever its transport.
        thread::park_timeout(Duration::from_secs(1));
        let trust = Trust::from_der(certificate.as_der().to_vec());
        Some(Server { process, folder, address, trust })
    }

    /// The path of a file in its folder, for a command line.
    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// The durations, in microseconds, of this many messages that our client for `protocol` sends
    /// one after the other and gets back.
    pub fn round_trips(
        &self,
        protocol: &str,
        tls: TlsParameters,
        transport: TransportParameters,
        count: usize,
    ) -> Vec<f64> {
        self.with_client(protocol, tls, transport, async |connection| {
            let mut took = Vec::new();
            for _ in 0..count {
                let begun = now();
                let request = Request::new("/message", body::full(&[b'x'; SIZE][..]));
                let response = connection.exchange(request).await.expect("an answer");
                assert_eq!(response.status, 200);
                assert_eq!(body::drain(response.body).await, Ok(SIZE as u64));
                took.push((now() - begun).as_secs_f64() * 1e6);
            }
            took
        })
    }

    /// Lets our client for `protocol` do something over one connection.
    pub fn with_client<T: 'static>(
        &self,
        protocol: &str,
        tls: TlsParameters,
        transport: TransportParameters,
        act: impl AsyncFnOnce(Rc<dyn Connection>) -> T,
    ) -> T {
        let key_exchanges = vec![KeyExchange::X25519, KeyExchange::P256];
        let tls = TlsParameters { key_exchanges, ..tls };
        let trust = Some(self.trust.clone());
        let config = ClientConfig { trust, tls, transport, ..ClientConfig::default() };
        let protocol = trackbed_protocols::find(protocol).expect("it is registered");
        let execution = Execution::new(Origin::now());
        let done = execution.run(async |machine| {
            let dialer =
                protocol.dialer(machine.host("client", [HERE]), &config).expect("settings");
            let connection = dialer.connect(self.address).await.expect("the server answers");
            let done = act(Rc::clone(&connection)).await;
            connection.close().await;
            done
        });
        done.expect("no trouble")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _waited = self.process.wait();
    }
}
