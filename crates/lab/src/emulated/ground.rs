//! The machines of a run and the links between them.

use std::io;
use std::net::IpAddr;
use std::thread::JoinHandle;

use trackbed_core::Seed;
use trackbed_emulator::namespace::{Interface, NamespaceError, NetNamespace, set_sysctl};
use trackbed_emulator::{
    Attachment, Backstage, Certificate, Clock, Edges, Emulator, Finished, Port, Remote,
};
use trackbed_net::{LinkId, Network};

use crate::environment;
use crate::scenario::{Cell, NetworkPlan};
use crate::track::{Ends, SERVER_ADDRESSES, Track, phone_addresses, phone_networks};

/// A server's namespace and one for all phones.
pub(super) struct Ground {
    pub server: NetNamespace,
    /// Every phone is an address of it; the links tell them apart by that.
    pub phones: NetNamespace,
    /// How many phones there are, and in how many networks each of them will have been.
    who: (u32, u32),
    server_port: Port,
    phones_port: Port,
}

/// The links between the namespaces, at work.
pub(super) struct Traffic {
    shared: LinkId,
    remote: Remote,
    emulation: JoinHandle<io::Result<Finished>>,
    phones: NetNamespace,
    /// It must last as long.
    _server: NetNamespace,
}

/// What the links leave behind.
pub(super) struct Closed {
    pub network: Network,
    pub shared: LinkId,
    pub certificate: Certificate,
}

impl Ground {
    /// Builds the machines of a run. Nothing goes from one to another yet.
    pub fn build(plan: &NetworkPlan, (phones, networks): (u32, u32)) -> Result<Ground, String> {
        if phones > PHONES_MAX {
            return Err(format!(
                "the emulated substrate takes at most {PHONES_MAX} phones; run more in virtual time"
            ));
        }
        let build = || {
            let (server, clients) = (machine()?, machine()?);
            let mut backstage = Backstage::new()?;
            let near = plan.access.as_ref().map_or(plan.link.mtu, |access| access.mtu);
            let phones_port = backstage.attach(&clients, INTERFACE, near)?;
            let server_port = backstage.attach(&server, INTERFACE, plan.link.mtu)?;
            let all = (0..phones).flat_map(phone_addresses);
            join(&clients, all)?;
            join(&server, SERVER_ADDRESSES.into_iter())?;
            let who = (phones, networks);
            Ok(Ground { server, phones: clients, who, server_port, phones_port })
        };
        build().map_err(|why: NamespaceError| why.to_string())
    }

    /// Sets the links to work, in the environment of this run; `clock` gives their time.
    pub fn open(self, cell: &Cell, seed: &Seed, clock: Clock) -> Result<Traffic, String> {
        let course = environment::course(cell, seed, environment::REAL_LEAD);
        let plan = environment::under(&cell.network, &course);
        let (phones, networks) = self.who;
        let track = Track::build(&plan, self.who, seed, Ends::Edges);
        let owners = (0..phones).zip(&track.phones).flat_map(|(number, node)| {
            let all = phone_networks(number, networks).concat();
            all.into_iter().map(|address| (address, *node))
        });
        let attachments = vec![
            Attachment { port: self.phones_port, edges: Edges::ByAddress(owners.collect()) },
            Attachment { port: self.server_port, edges: Edges::One(track.server) },
        ];
        let failed = |why: io::Error| format!("the links could not be set to work: {why}");
        let (mut emulator, remote) =
            Emulator::new(track.network, attachments, clock).map_err(failed)?;
        emulator.take_precedence();
        let thread = std::thread::Builder::new().name("emulator".to_owned());
        let emulation = thread.spawn(|| emulator.run()).map_err(failed)?;
        let (phones, server) = (self.phones, self.server);
        Ok(Traffic { shared: track.shared, remote, emulation, phones, _server: server })
    }
}

impl Traffic {
    /// The phones' namespace.
    pub fn phones(&self) -> &NetNamespace {
        &self.phones
    }

    /// Ends the links' work.
    pub fn close(self) -> Result<Closed, String> {
        self.remote.stop();
        let ended = self.emulation.join();
        let ended = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let Finished { network, certificate } =
            ended.map_err(|why| format!("the links failed: {why}"))?;
        Ok(Closed { network, shared: self.shared, certificate })
    }
}

/// A namespace whose kernel remembers nothing of earlier connections: every run is the first.
fn machine() -> Result<NetNamespace, NamespaceError> {
    let namespace = NetNamespace::new()?;
    namespace.run(|| {
        // A kernel without the setting has no such memory.
        drop(set_sysctl("ipv4/tcp_no_metrics_save", "1"));
        // The ends of a user who is not root serve port 443 too.
        drop(set_sysctl("ipv4/ip_unprivileged_port_start", "0"));
    })?;
    Ok(namespace)
}

fn join(
    namespace: &NetNamespace,
    mut addresses: impl Iterator<Item = IpAddr> + Send,
) -> Result<(), NamespaceError> {
    namespace.run(|| {
        let interface = Interface::named(INTERFACE)?;
        addresses.try_for_each(|address| interface.add_address((address, bits(address))))?;
        for everywhere in ["0.0.0.0", "::"] {
            let everywhere = everywhere.parse().expect("these are addresses");
            interface.add_route((everywhere, 0))?;
        }
        Ok(())
    })?
}

/// Takes addresses from the machine that the calling thread is in, and gives it others.
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

/// An address is a network of its own: everything is sent over the link.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The name of the link at either end.
pub(super) const INTERFACE: &str = "link";

/// All phones are one process; more of them would measure it.
const PHONES_MAX: u32 = 1_000;
