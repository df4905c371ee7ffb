//! Sets up the ends of a run, the same way for every backend.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::{Dialer, Error};
use trackbed_core::{EventLog, Seed};
use trackbed_protocols::{ClientConfig, PathControl, ServerConfig, TransportParameters, Trust};
use trackbed_scenario::Cell;
use trackbed_substrate::Host;
use trackbed_workloads::{Patience, Stage};

use crate::balancer::Balancer;
use crate::scene::Scene;

pub(crate) fn server(
    cell: &Cell,
    transport: TransportParameters,
    paths: PathControl,
) -> ServerConfig {
    let tls = cell.endpoint.server_tls();
    ServerConfig { tls, transport, paths, ..ServerConfig::default() }
}

pub(crate) struct Phones {
    /// The number of the first; other processes have those before it.
    pub first: u32,
    /// The host of each.
    pub hosts: Vec<Arc<dyn Host>>,
    /// The server's address.
    pub server: SocketAddr,
    /// The trust anchor for the server.
    pub trust: Option<Trust>,
}

/// How the phones connect.
pub(crate) struct Connecting {
    pub transport: TransportParameters,
    pub paths: PathControl,
    /// Whether phones that stay on one network bind their address before anything is measured.
    pub binds: bool,
    pub patience: Patience,
}

impl Phones {
    /// Everything that the workload of `cell` needs; each dialer is passed through `adapt`.
    pub fn stage(
        self,
        cell: &Cell,
        scene: &Scene,
        connecting: Connecting,
        (seed, log): (&Seed, &EventLog),
        adapt: impl Fn(Rc<dyn Dialer>) -> Rc<dyn Dialer>,
    ) -> Result<Stage, Error> {
        let Phones { first, hosts, server, trust } = self;
        let Connecting { transport, paths, binds, patience } = connecting;
        let endpoint = &cell.endpoint;
        let tls = endpoint.client_tls();
        let handshake = endpoint.handshake;
        let config = ClientConfig { trust, tls, handshake, local: None, transport, paths };
        let binds = binds && cell.networks() == 1;
        let dialer = |(number, host): (u32, &Arc<dyn Host>)| {
            let same_family = |own: &std::net::IpAddr| own.is_ipv4() == server.is_ipv4();
            let local = host.addresses().into_iter().find(same_family).filter(|_| binds);
            let mut config = ClientConfig { local, ..config.clone() };
            scene.tell_paths(cell, number, &mut config);
            let dial = |config: &ClientConfig| {
                endpoint.protocol.dialer(Arc::clone(host), config).map(&adapt)
            };
            let Some(ends) = scene.balanced(cell, number) else { return dial(&config) };
            let [first, second] =
                ends.map(|end| dial(&ClientConfig { local: Some(end), ..config.clone() }));
            let draws = seed.child("load balancer").stream(&number.to_string());
            Ok(Rc::new(Balancer::new([first?, second?], draws)) as Rc<dyn Dialer>)
        };
        Ok(Stage {
            first,
            phones: (first..).zip(&hosts).map(dialer).collect::<Result<_, _>>()?,
            capabilities: endpoint.protocol.capabilities(),
            hosts,
            server,
            handshake,
            patience,
            course: scene.course.clone(),
            seed: seed.child("workload"),
            log: log.clone(),
        })
    }
}
