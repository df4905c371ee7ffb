//! The machines of a run and the links between them.

use std::io;
use std::net::IpAddr;
use std::thread::JoinHandle;

use trackbed_core::Seed;
use trackbed_emulator::namespace::{Interface, NamespaceError, NetNamespace, Route, set_sysctl};
use trackbed_emulator::{
    Attachment, Backstage, Certificate, Clock, Edges, Emulator, Finished, Port, Remote,
};
use trackbed_net::{LinkId, Network};

use super::multipath;
use crate::crowd::{self, Member};
use crate::logs::bytes_of_phones;
use crate::run::Onlooker;
use crate::topology::{Ends, own_addresses, path_addresses};
use trackbed_scenario::{Cell, NetworkPlan, SERVER_ADDRESSES};

pub(super) struct Ground {
    pub server: NetNamespace,
    /// Every phone is an address of it; the links distinguish phones by address.
    pub phones: NetNamespace,
    /// The number of phones, and the number of networks each of them will have been in.
    who: (u32, u32),
    server_port: Port,
    phones_port: Port,
}

pub(super) struct Traffic {
    /// [`Track::links`].
    links: Vec<LinkId>,
    /// [`Track::stations`].
    stations: Vec<LinkId>,
    remote: Remote,
    emulation: JoinHandle<io::Result<Finished>>,
    phones: NetNamespace,
    /// Keeps the namespace alive as long as the links.
    _server: NetNamespace,
}

/// What the links return when they end.
pub(super) struct Closed {
    pub network: Network,
    pub links: Vec<LinkId>,
    pub stations: Vec<LinkId>,
    pub certificate: Certificate,
}

impl Closed {
    /// Bytes that each phone sent and received; empty where it has no link of its own.
    pub fn bytes(&self) -> Vec<u64> {
        bytes_of_phones((&self.links, &self.stations), &self.network)
    }
}

impl Ground {
    /// Creates the machines of a run of `cell`, to be joined by the links of `plan`. No traffic
    /// flows yet.
    pub fn build(cell: &Cell, members: &[Member], plan: &NetworkPlan) -> Result<Ground, String> {
        let clients = crowd::clients(members);
        let (phones, networks) = (clients.count(), clients.networks);
        if phones > PHONES_MAX {
            return Err(format!(
                "the emulated substrate takes at most {PHONES_MAX} phones; run more in virtual time"
            ));
        }
        let build = || {
            let (server, clients) = (machine()?, machine()?);
            let mut backstage = Backstage::new()?;
            let [(near, up), (far, down)] = mtus(plan);
            let phones_port = backstage.attach(&clients, INTERFACE, near)?;
            let server_port = backstage.attach(&server, INTERFACE, far)?;
            let own = |path| (0..phones).flat_map(move |phone| path_addresses(path, phone));
            join(&clients, (0..plan.paths.len()).flat_map(own), up)?;
            join(&server, SERVER_ADDRESSES.into_iter(), down)?;
            let who = (phones, networks);
            Ok(Ground { server, phones: clients, who, server_port, phones_port })
        };
        let ground = build().map_err(|why: NamespaceError| why.to_string())?;
        let has_many = plan.paths.len() > 1;
        let ends = (0..plan.paths.len()).filter(|_| has_many).map(|path| path_addresses(path, 0));
        let ends = ends.map(|pair| cell.endpoint.ip.of(pair));
        multipath::set_up(&ground.phones, cell, ends.collect())?;
        multipath::set_up(&ground.server, cell, Vec::new())?;
        Ok(ground)
    }

    /// Starts the links of `plan`; `clock` gives their time, and `onlooker` sees their packets.
    pub fn open(
        self,
        (plan, members): (&NetworkPlan, &[Member]),
        (seed, onlooker): (&Seed, Option<&dyn Onlooker>),
        clock: Clock,
    ) -> Result<Traffic, String> {
        let (phones, networks) = self.who;
        let mut track = crowd::track(plan, members, seed, Ends::Edges);
        track.network.set_tap(onlooker.map(|one| one.tap(&track)));
        let owners = (0..).zip(&track.begins).flat_map(|(path, begins)| {
            (0..phones).zip(begins).flat_map(move |(phone, node)| {
                own_addresses(path, phone, networks).into_iter().map(|address| (address, *node))
            })
        });
        let attachments = vec![
            Attachment { port: self.phones_port, edges: Edges::ByAddress(owners.collect()) },
            Attachment { port: self.server_port, edges: Edges::One(track.server) },
        ];
        let failed = |why: io::Error| format!("the links could not be started: {why}");
        let (mut emulator, remote) =
            Emulator::new(track.network, attachments, clock).map_err(failed)?;
        emulator.take_precedence();
        let thread = std::thread::Builder::new().name("emulator".to_owned());
        let emulation = thread.spawn(|| emulator.run()).map_err(failed)?;
        let (phones, server) = (self.phones, self.server);
        let (links, stations) = (track.links, track.stations);
        Ok(Traffic { links, stations, remote, emulation, phones, _server: server })
    }
}

impl Traffic {
    /// Controls the links.
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// The phones' namespace.
    pub fn phones(&self) -> &NetNamespace {
        &self.phones
    }

    /// Stops the links.
    pub fn close(self) -> Result<Closed, String> {
        self.remote.stop();
        let ended = self.emulation.join();
        let ended = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let Finished { network, certificate } =
            ended.map_err(|why| format!("the links failed: {why}"))?;
        Ok(Closed { network, links: self.links, stations: self.stations, certificate })
    }
}

/// A namespace whose kernel keeps no metrics of earlier connections: every run is the first.
fn machine() -> Result<NetNamespace, NamespaceError> {
    let namespace = NetNamespace::new()?;
    namespace.run(|| {
        // Kernels without this setting keep no metrics.
        drop(set_sysctl("ipv4/tcp_no_metrics_save", "1"));
        // Without root, the ends must be able to serve port 443 too.
        drop(set_sysctl("ipv4/ip_unprivileged_port_start", "0"));
    })?;
    Ok(namespace)
}

/// The largest packet that the phones and the server take, and that they send. A phone's packets may take any
/// path.
pub(super) fn mtus(plan: &NetworkPlan) -> [(u32, u32); 2] {
    let of = |direction: usize| plan.paths.iter().map(move |path| path.mtu[direction]);
    let most = |direction| of(direction).max().unwrap_or_default();
    let near = plan.access.iter().chain(plan.paths.iter().skip(usize::from(plan.access.is_some())));
    let near: Vec<[u32; 2]> = near.map(|link| link.mtu).collect();
    let up = near.iter().map(|[up, _]| *up).min().unwrap_or_default();
    let down = near.iter().map(|[_, down]| *down).max().unwrap_or_default();
    [(up.max(down), up), (most(0).max(most(1)), most(1))]
}

fn join(
    namespace: &NetNamespace,
    mut addresses: impl Iterator<Item = IpAddr> + Send,
    mtu: u32,
) -> Result<(), NamespaceError> {
    namespace.run(|| {
        let interface = Interface::named(INTERFACE)?;
        addresses.try_for_each(|address| interface.add_address((address, bits(address))))?;
        for everywhere in ["0.0.0.0", "::"] {
            let everywhere = everywhere.parse().expect("these are addresses");
            interface.add_route((everywhere, 0), Route { mtu: Some(mtu), ..Route::default() })?;
        }
        Ok(())
    })?
}

/// Removes addresses from the machine of the calling thread, and adds others.
pub(super) fn rewire(left: &[IpAddr], next: &[IpAddr]) -> io::Result<()> {
    let rewire = || {
        let interface = Interface::named(INTERFACE)?;
        for address in next {
            interface.add_address((*address, bits(*address)))?;
        }
        for address in left {
            interface.remove_address((*address, bits(*address)))?;
        }
        Ok(())
    };
    rewire().map_err(|why: NamespaceError| io::Error::other(why.to_string()))
}

/// Each address is its own network, so everything is sent over the link.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

pub(super) const INTERFACE: &str = "link";

/// With more of them the server's process would be the bottleneck.
const PHONES_MAX: u32 = 1_000;
