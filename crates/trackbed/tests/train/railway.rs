//! A train and a server, joined by two operators' links, and a passenger behind the train.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_core::units::{Bitrate, Ratio};
use trackbed_emulator::namespace::{Interface, NamespaceError, NetNamespace, set_sysctl};
use trackbed_emulator::{
    Attachment, Backstage, Certificate, Clock, Edges, Emulator, Finished, Port, Remote,
};
use trackbed_linux::mptcp_pm::{Endpoint, EndpointFlags, Limits, PathManager};
use trackbed_net::models::{Delay, Loss, Rate};
use trackbed_net::queue::DropTail;
use trackbed_net::{Change, Direction, Duplex, End, LinkId, LinkSpec, NetworkBuilder};

use crate::mptcp_listener;

/// The complete setup, until it is dropped.
pub struct Railway {
    pub train: NetNamespace,
    pub server: NetNamespace,
    pub passenger: NetNamespace,
    pub clock: Clock,
    links: [LinkId; 2],
    remote: Remote,
    emulation: Option<JoinHandle<io::Result<Finished>>>,
}

/// The train's address on an operator's link; its endpoint's number is one more.
pub fn train(operator: usize) -> IpAddr {
    Ipv4Addr::new(10, 10 + operator as u8, 0, 1).into()
}

/// The server has one address.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 10, 0, 2);

/// The train's and the passenger's address on the train.
pub const WIFI: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 168, 7, 1), Ipv4Addr::new(192, 168, 7, 2)];

/// The names of the train's interfaces.
pub const INTERFACES: [&str; 2] = ["wwan0", "wwan1"];

impl Railway {
    /// Two links of 25 Mbit/s with round trips of 40 and 60 ms, and queues large enough for the server's data in flight,
    /// so that only outages lose packets.
    pub fn new() -> Railway {
        Railway::build().unwrap()
    }

    fn build() -> Result<Railway, NamespaceError> {
        let [train_host, server, passenger] =
            [NetNamespace::new()?, NetNamespace::new()?, NetNamespace::new()?];
        let mut backstage = Backstage::new()?;
        let mut builder = NetworkBuilder::default();
        let (mut attachments, mut links) = (Vec::new(), Vec::new());
        let mut join = |near: Port, far: Port, spec: LinkSpec, name: &str| {
            let ends = ["near", "far"].map(|end| builder.edge(format!("{name} {end}")));
            let duplex = Duplex::new(&spec, &spec, &Seed::of_run(1, 0));
            links.push(builder.connect(End::new(ends[0], []), End::new(ends[1], []), duplex));
            for (node, port) in ends.into_iter().zip([near, far]) {
                attachments.push(Attachment { port, edges: Edges::One(node) });
            }
        };
        for (operator, name) in INTERFACES.into_iter().enumerate() {
            let near = backstage.attach(&train_host, name, 1_500)?;
            let far = backstage.attach(&server, name, 1_500)?;
            let delay = Duration::from_millis([20, 30][operator]);
            let spec = LinkSpec::new()
                .then(Loss::bernoulli(Ratio::ZERO))
                .then(Rate::new(Bitrate::from_mbps(25), DropTail::of_packets(400)))
                .then(Delay::fixed(delay));
            join(near, far, spec, name);
            train_host.run(|| {
                let interface = Interface::named(name)?;
                interface.add_address((train(operator), 32))?;
                interface.add_route_from(train(operator))?;
                if operator == 0 {
                    interface.add_route((Ipv4Addr::UNSPECIFIED.into(), 0), Default::default())?;
                }
                Ok::<_, NamespaceError>(())
            })??;
            server.run(|| {
                let interface = Interface::named(name)?;
                if operator == 0 {
                    interface.add_address((SERVER.into(), 32))?;
                }
                interface.add_route((train(operator), 32), Default::default())
            })??;
        }
        let near = backstage.attach(&passenger, "wifi", 1_500)?;
        let far = backstage.attach(&train_host, "wifi", 1_500)?;
        join(near, far, LinkSpec::new().then(Delay::fixed(Duration::from_millis(1))), "wifi");
        for (host, own, other) in [(&train_host, WIFI[0], WIFI[1]), (&passenger, WIFI[1], WIFI[0])]
        {
            host.run(|| {
                let interface = Interface::named("wifi")?;
                interface.add_address((own.into(), 32))?;
                interface.add_route((other.into(), 32), Default::default())
            })??;
        }
        let everything = (Ipv4Addr::UNSPECIFIED.into(), 0);
        passenger.run(|| Interface::named("wifi")?.add_route(everything, Default::default()))??;
        let clock = Clock::start();
        let network = builder.build().unwrap();
        let (mut emulator, remote) = Emulator::new(network, attachments, clock).unwrap();
        emulator.take_precedence();
        let emulation = Some(std::thread::spawn(|| emulator.run()));
        let links = [links[0], links[1]];
        let railway =
            Railway { train: train_host, server, passenger, clock, links, remote, emulation };
        railway.set_up();
        Ok(railway)
    }

    /// Multipath TCP at both ends: two subflows, from both of the train's addresses.
    fn set_up(&self) {
        let limits = Limits { subflows: 2, add_addresses_accepted: 2 };
        self.train
            .run(|| {
                let mut manager = PathManager::open().unwrap();
                manager.set_limits(limits).unwrap();
                for operator in 0..2 {
                    let id = 1 + operator as u8;
                    let endpoint = Endpoint::new(train(operator), EndpointFlags::SUBFLOW);
                    manager.add_endpoint(&Endpoint { id, ..endpoint }).unwrap();
                }
            })
            .unwrap();
        self.server.run(|| PathManager::open().unwrap().set_limits(limits).unwrap()).unwrap();
        for host in [&self.train, &self.server, &self.passenger] {
            host.run(|| {
                for interface in ["all", "wwan0", "wwan1", "wifi"] {
                    // Not all hosts have all of them.
                    let _ = set_sysctl(&format!("ipv4/conf/{interface}/rp_filter"), "0");
                }
                // Data in a sender's buffer takes the path that is open when it is sent.
                set_sysctl("ipv4/tcp_notsent_lowat", "16384").unwrap();
            })
            .unwrap();
        }
    }

    /// Loses everything on an operator's link, or nothing.
    pub fn set_outage(&self, operator: usize, outage: bool) {
        let loss = Change::Loss(if outage { Ratio::ONE } else { Ratio::ZERO });
        for direction in [Direction::Forward, Direction::Backward] {
            self.remote.change(self.links[operator], direction, loss);
        }
    }

    /// The backup flags of the train's endpoints.
    pub fn backups(&self) -> [bool; 2] {
        let look = || PathManager::open().unwrap().endpoints().unwrap();
        let endpoints = self.train.run(look).unwrap();
        [1, 2].map(|id| {
            let endpoint = endpoints.iter().find(|endpoint| endpoint.id == id).unwrap();
            endpoint.flags.contains(EndpointFlags::BACKUP)
        })
    }

    /// An MPTCP listener on the server.
    pub fn listen(&self, port: u16) -> TcpListener {
        let address = SocketAddr::new(SERVER.into(), port);
        self.server.run(|| mptcp_listener(address).unwrap()).unwrap().into()
    }

    /// The metrics of a service on the train.
    pub fn figures(&self, address: &str) -> String {
        let fetch = || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        self.train.run(fetch).unwrap()
    }

    /// Whether this machine kept up with the links.
    pub fn end(mut self) -> Certificate {
        self.remote.stop();
        self.emulation.take().unwrap().join().unwrap().unwrap().certificate
    }
}

impl Drop for Railway {
    fn drop(&mut self) {
        self.remote.stop();
    }
}
