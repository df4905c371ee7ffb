//! One link between a separate namespace and the outside: `trackbed link` runs its command behind
//! it.

mod leftovers;
mod place;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use trackbed_linux::sysctl::congestion_controls;
use trackbed_net::{Counters, Direction, Duplex, End, LinkId, NetworkBuilder, Tap};

use crate::certificate::Certificate;
use crate::clock::Clock;
use crate::emulator::{Attachment, Edges, Emulator, Finished};
use crate::gateway::{self, Addresses, Gate, Worker};
use crate::namespace::{
    EVERYTHING, Interface, NamespaceError, NetNamespace, Route, Step, set_sysctl,
};
use crate::port::{Backstage, Port, PortOptions, SuperPackets};
use crate::remote::Remote;
use place::Place;

/// An inner namespace behind a link, active until it is closed.
#[derive(Debug)]
pub struct Passage {
    inner: NetNamespace,
    /// In front of the link; it must last as long.
    outer: NetNamespace,
    place: Place,
    link: LinkId,
    congestion: Option<String>,
    remote: Remote,
    emulation: JoinHandle<io::Result<Finished>>,
    gateway: Option<JoinHandle<()>>,
}

/// The destinations that can be reached through a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach<'a> {
    /// Everything that this process can reach, from its own sockets: TCP, UDP and names. The outer
    /// end's own addresses stand for this machine's loopback addresses. What comes to these
    /// addresses of the current namespace goes to the same ports of the inner end.
    World(&'a [Published]),
    /// Only the outer end of the link.
    OuterEnd,
}

/// An address of this machine for a server inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Where clients outside reach the server.
    pub address: SocketAddr,
    /// Whether over UDP, not TCP.
    pub is_udp: bool,
}

/// The statistics of a link.
#[derive(Debug)]
pub struct Report {
    /// The counters of packets from the inside to the outside.
    pub up: Counters,
    /// The counters of packets from the outside to the inside.
    pub down: Counters,
    /// The congestion controller of TCP towards the inside.
    pub congestion: String,
    /// Whether this machine kept up.
    pub certificate: Certificate,
}

impl Passage {
    /// Opens a passage whose link is `link`, forward being from the inside to the outside, with the
    /// destinations of `reach`; `tap` sees its packets, timed by `clock`. TCP uses `congestion` at both
    /// ends, unless a program chooses.
    ///
    /// Inside a passage the outside is the current namespace, and `reach` is the enclosing
    /// passage's. Otherwise it is a separate namespace too, and nothing of this machine's network
    /// is changed.
    ///
    /// A direction that supports super-packets gets them, unless there is a tap, which must see
    /// single packets.
    ///
    /// # Errors
    /// If the machine forbids it; call [`crate::namespace::acquire`] first.
    pub fn open(
        link: Duplex,
        reach: Reach<'_>,
        clock: Clock,
        tap: Option<Box<dyn Tap>>,
        congestion: Option<&str>,
    ) -> Result<Passage, NamespaceError> {
        let known = congestion_controls().unwrap_or_default();
        if !congestion.is_none_or(|name| known.iter().any(|known| known == name)) {
            let what =
                "cannot use this congestion controller; `trackbed doctor` lists the kernel's";
            return Err(NamespaceError::configure(what, io::ErrorKind::NotFound.into()));
        }
        let inner = NetNamespace::new()?;
        let mut backstage = Backstage::new()?;
        let supers = match tap {
            Some(_) => SuperPackets::default(),
            None => SuperPackets::between(&*link.forward, &*link.backward),
        };
        let [up, down] = link.mtu;
        let near = PortOptions { supers, ..PortOptions::new(INTERFACE, up.max(down)) };
        let far = PortOptions { supers: supers.reverse(), ..near };
        let (place, outer, far) = outside(&mut backstage, &far)?;
        let near = backstage.attach_with(&inner, &near)?;
        let [upward, downward] =
            link.mtu.map(|mtu| Route { congestion, mtu: Some(mtu), is_first: false });
        set_up(place, [(&inner, upward), (&outer, downward)])?;
        let gateway = match reach {
            Reach::World(published) if place.is_outermost() => {
                let (mut worker, gate) = way_out(place, &outer, clock, downward)?;
                publish(&mut worker, place, published)?;
                Some((worker, gate))
            }
            Reach::World([_, ..]) => {
                let [(inner, _), _] = place.inner();
                let what = format!("inside another link nothing is published; connect to {inner}");
                return Err(NamespaceError::configure(what, io::ErrorKind::Unsupported.into()));
            }
            Reach::World([]) | Reach::OuterEnd => None,
        };
        let mut builder = NetworkBuilder::default();
        let (inside, outside) = (builder.edge("inside"), builder.edge("outside"));
        let link = builder.connect(End::new(inside, []), End::new(outside, []), link);
        let mut network =
            builder.build().expect("the network has two edges and the link between them");
        network.set_tap(tap);
        let failed = |why| NamespaceError::new(Step::Thread, why);
        let attach = |node, port| Attachment { port, edges: Edges::One(node) };
        let (mut emulator, remote) =
            Emulator::new(network, vec![attach(inside, near), attach(outside, far)], clock)
                .map_err(failed)?;
        let start = |(worker, gate): (Worker, _)| {
            emulator.guard(outside, gate);
            worker.start(remote.clone())
        };
        let gateway = gateway.map(start).transpose().map_err(failed)?;
        let thread = std::thread::Builder::new().name("emulator".to_owned());
        let emulation = thread.spawn(|| emulator.run()).map_err(failed)?;
        let congestion = congestion.map(str::to_owned);
        Ok(Passage { inner, outer, place, link, congestion, remote, emulation, gateway })
    }

    /// The text of /etc/resolv.conf inside; `None` if it stays unchanged.
    pub fn resolver(&self) -> Option<String> {
        let (gateway, _) = self.place.outer()[0];
        self.gateway.as_ref().map(|_| gateway::resolver_file(gateway))
    }

    /// The namespace behind the link.
    pub fn inner(&self) -> &NetNamespace {
        &self.inner
    }

    /// The environment variable that processes inside need for nested passages.
    pub fn environment(&self) -> io::Result<(OsString, OsString)> {
        let mark = self.inner.run(|| self.place.mark()).map_err(io::Error::other)?;
        mark.map(|(name, value)| (name.into(), value.into()))
    }

    /// The link, for [`Remote::change`].
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// Controls the link while it is active.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Closes it when the data sent inside has arrived, or after a few seconds: programs leave much
    /// of their work to the kernel when they exit.
    ///
    /// # Errors
    /// If the emulation has failed.
    pub fn close(self) -> io::Result<Report> {
        leftovers::wait(&self.inner, PATIENCE);
        self.remote.finish(PATIENCE);
        let ended = self.emulation.join();
        let Finished { network, certificate } =
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        if let Some(gateway) = self.gateway {
            // It ends with its gate, which the emulator had.
            gateway.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        let counters = |direction| *network.counters(self.link, direction);
        let read = || fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
        let default = self.outer.run(read).map_err(io::Error::other)??.trim().to_owned();
        Ok(Report {
            up: counters(Direction::Forward),
            down: counters(Direction::Backward),
            congestion: self.congestion.unwrap_or(default),
            certificate,
        })
    }
}

/// The namespace in front of the link: the current passage, or a separate namespace.
fn outside(
    backstage: &mut Backstage,
    far: &PortOptions<'_>,
) -> Result<(Place, NetNamespace, Port), NamespaceError> {
    if let Some(enclosing) = Place::enclosing() {
        return nested(backstage, enclosing, far);
    }
    let outer = NetNamespace::new()?;
    let far = backstage.attach_with(&outer, far)?;
    Ok((Place::outermost(), outer, far))
}

/// Configures the addresses and routes of both ends of the link.
fn set_up(
    place: Place,
    [(inner, upward), (outer, downward)]: [(&NetNamespace, Route<'_>); 2],
) -> Result<(), NamespaceError> {
    inner.run(|| {
        let interface = Interface::named(INTERFACE)?;
        place.inner().into_iter().try_for_each(|address| interface.add_address(address))?;
        EVERYTHING.into_iter().try_for_each(|network| interface.add_route(network, upward))
    })??;
    outer.run(|| {
        let interface = Interface::named(&place.outer_interface())?;
        place.outer().into_iter().try_for_each(|address| interface.add_address(address))?;
        place.inside().into_iter().try_for_each(|network| interface.add_route(network, downward))
    })?
}

/// Lets packets to anywhere arrive in `outer`, where a gateway takes them.
fn way_out(
    place: Place,
    outer: &NetNamespace,
    clock: Clock,
    route: Route<'_>,
) -> Result<(Worker, Gate), NamespaceError> {
    let inside = place.inside();
    let link = place.outer_interface();
    outer.run(|| gateway::open_to_all(&Interface::named(&link)?, inside, route))??;
    let own = place.outer().map(|(address, _)| address);
    gateway::open(outer, Addresses { own, inside }, clock)
}

fn publish(worker: &mut Worker, place: Place, all: &[Published]) -> Result<(), NamespaceError> {
    all.iter().try_for_each(|&Published { address: outside, is_udp }| {
        let (inner, _) = place.inner()[usize::from(outside.is_ipv6())];
        let ends = [outside, SocketAddr::new(inner, outside.port())];
        worker.publish(ends, is_udp).map_err(|why| {
            let what = format!("cannot listen on {outside} for --publish; choose another port");
            NamespaceError::configure(what, why)
        })
    })
}

/// Takes a place in the current passage, which forwards its packets from now on.
fn nested(
    backstage: &mut Backstage,
    enclosing: Place,
    far: &PortOptions<'_>,
) -> Result<(Place, NetNamespace, Port), NamespaceError> {
    let outer = NetNamespace::current()?;
    let mut refusal = None;
    for place in enclosing.children() {
        let name = &place.outer_interface();
        match backstage.attach_with(&outer, &PortOptions { name, ..*far }) {
            Ok(far) => {
                outer
                    .run(|| {
                        // IPv6 may be missing on this machine.
                        let _ = set_sysctl("ipv6/conf/all/forwarding", "1");
                        set_sysctl("ipv4/ip_forward", "1")
                    })?
                    .map_err(|why| {
                        let what = "cannot enable forwarding in the enclosing namespace";
                        NamespaceError::configure(what, why)
                    })?;
                return Ok((place, outer, far));
            }
            // Another passage has this place.
            Err(why) => refusal = Some(why),
        }
    }
    let limit = match refusal {
        None => "links are nested too deeply; the maximum is six",
        Some(why) if why.is_taken() => {
            "too many parallel links inside another; the maximum is seven"
        }
        Some(why) => return Err(why),
    };
    Err(NamespaceError::configure(limit, io::ErrorKind::QuotaExceeded.into()))
}

/// Maximum wait for data still to be sent, at each stage.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name of the link inside.
const INTERFACE: &str = "link";
