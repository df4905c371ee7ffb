//! One link between a namespace of its own and the world outside: what `trackbed link` puts its
//! command behind.

mod leftovers;
mod place;

use std::ffi::OsString;
use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use trackbed_net::{Counters, Direction, Duplex, End, LinkId, NetworkBuilder, Tap};

use crate::certificate::Certificate;
use crate::clock::Clock;
use crate::emulator::{Attachment, Edges, Emulator, Finished, Remote};
use crate::gateway::{self, Addresses, Gate, Gateway};
use crate::namespace::{Interface, NamespaceError, NetNamespace, Step, set_sysctl};
use crate::port::{Backstage, Port, PortOptions, SuperPackets};
use place::Place;

/// An inner namespace behind a link, at work until it is closed.
#[derive(Debug)]
pub struct Passage {
    inner: NetNamespace,
    /// In front of the link; it must last as long.
    _outer: NetNamespace,
    place: Place,
    link: LinkId,
    remote: Remote,
    emulation: JoinHandle<io::Result<Finished>>,
    gateway: Option<JoinHandle<()>>,
}

/// How far a passage leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To whatever this process reaches, from sockets of its own: TCP, UDP and names. The outer
    /// end's own addresses stand for this machine's loopback addresses.
    World,
    /// To the outer end of the link.
    OuterEnd,
}

/// What happened on a link.
#[derive(Debug)]
pub struct Report {
    /// What became of the packets from the inside to the outside.
    pub up: Counters,
    /// What became of the packets from the outside to the inside.
    pub down: Counters,
    /// Whether this machine kept up.
    pub certificate: Certificate,
}

impl Passage {
    /// Opens one whose link is `link`, forward being from the inside to the outside, and that
    /// leads as far as `reach`; `tap` sees its packets, timed by `clock`.
    ///
    /// Inside a passage the outside is the present namespace, and `reach` is the enclosing
    /// passage's. Elsewhere it is a namespace of its own too, and nothing of this machine's network
    /// is changed.
    ///
    /// A direction that takes super-packets gets them, unless there is a tap, which is to see what
    /// a cable would carry.
    ///
    /// # Errors
    /// If the machine forbids it; call [`crate::namespace::acquire`] first.
    pub fn open(
        link: Duplex,
        reach: Reach,
        clock: Clock,
        tap: Option<Box<dyn Tap>>,
    ) -> Result<Passage, NamespaceError> {
        let inner = NetNamespace::new()?;
        let mut backstage = Backstage::new()?;
        let supers = match tap {
            Some(_) => SuperPackets::default(),
            None => SuperPackets::between(&*link.forward, &*link.backward),
        };
        let near = PortOptions { supers, ..PortOptions::new(INTERFACE, link.mtu) };
        let far = PortOptions { supers: supers.reverse(), ..near };
        let (place, outer, far) = outside(&mut backstage, &far)?;
        let near = backstage.attach_with(&inner, &near)?;
        set_up(place, &inner, &outer)?;
        let gateway = match place.is_outermost() && reach == Reach::World {
            true => Some(way_out(place, &outer, clock)?),
            false => None,
        };
        let mut builder = NetworkBuilder::new();
        let (inside, outside) = (builder.edge("inside"), builder.edge("outside"));
        let link = builder.connect(End::new(inside, []), End::new(outside, []), link);
        let mut network = builder.build().expect("two edges and the link between them");
        network.set_tap(tap);
        let failed = |why| NamespaceError::new(Step::Thread, why);
        let attach = |node, port| Attachment { port, edges: Edges::One(node) };
        let (mut emulator, remote) =
            Emulator::new(network, vec![attach(inside, near), attach(outside, far)], clock)
                .map_err(failed)?;
        let start = |(gateway, gate): (Gateway, _)| {
            emulator.guard(outside, gate);
            gateway.start(remote.clone())
        };
        let gateway = gateway.map(start).transpose().map_err(failed)?;
        let thread = std::thread::Builder::new().name("emulator".to_owned());
        let emulation = thread.spawn(|| emulator.run()).map_err(failed)?;
        Ok(Passage { inner, _outer: outer, place, link, remote, emulation, gateway })
    }

    /// What /etc/resolv.conf has to say inside; `None` if it may stay as it is.
    pub fn resolver(&self) -> Option<String> {
        let (gateway, _) = self.place.outer()[0];
        self.gateway.as_ref().map(|_| gateway::resolver_file(gateway))
    }

    /// The namespace behind the link.
    pub fn inner(&self) -> &NetNamespace {
        &self.inner
    }

    /// What a process inside must have in its environment for passages inside this one.
    pub fn environment(&self) -> io::Result<(OsString, OsString)> {
        let mark = self.inner.run(|| self.place.mark()).map_err(io::Error::other)?;
        mark.map(|(name, value)| (name.into(), value.into()))
    }

    /// The link, for [`Remote::change`].
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// Reaches the link while it works.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Ends it when what was sent inside has arrived, or after a few seconds: programs leave much
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
        Ok(Report {
            up: counters(Direction::Forward),
            down: counters(Direction::Backward),
            certificate,
        })
    }
}

/// What is in front of the link: the present passage, or a namespace of its own.
fn outside(
    backstage: &mut Backstage,
    far: &PortOptions<'_>,
) -> Result<(Place, NetNamespace, Port), NamespaceError> {
    match Place::enclosing() {
        Some(enclosing) => nested(backstage, enclosing, far),
        None => {
            let outer = NetNamespace::new()?;
            let far = backstage.attach_with(&outer, far)?;
            Ok((Place::outermost(), outer, far))
        }
    }
}

/// Gives both ends of the link their addresses and routes.
fn set_up(place: Place, inner: &NetNamespace, outer: &NetNamespace) -> Result<(), NamespaceError> {
    inner.run(|| {
        let interface = Interface::named(INTERFACE)?;
        place.inner().into_iter().try_for_each(|address| interface.add_address(address))?;
        place.everywhere().into_iter().try_for_each(|network| interface.add_route(network))
    })??;
    outer.run(|| {
        let interface = Interface::named(&place.outer_interface())?;
        place.outer().into_iter().try_for_each(|address| interface.add_address(address))?;
        place.inside().into_iter().try_for_each(|network| interface.add_route(network))
    })?
}

/// Lets packets for anywhere arrive in `outer`, and a gateway take them from there.
fn way_out(
    place: Place,
    outer: &NetNamespace,
    clock: Clock,
) -> Result<(Gateway, Gate), NamespaceError> {
    let inside = place.inside();
    outer.run(|| gateway::open_to_all(&Interface::named(&place.outer_interface())?, inside))??;
    let own = place.outer().map(|(address, _)| address);
    Gateway::new(outer, Addresses { own, inside }, clock)
}

/// Takes a place in the present passage, which passes on what goes in and out from now on.
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
                        let what = "cannot let the enclosing namespace pass packets on".to_owned();
                        NamespaceError::new(Step::Configure(what), why)
                    })?;
                return Ok((place, outer, far));
            }
            // Another one has this place.
            Err(why) => refusal = Some(why),
        }
    }
    let limit = match refusal {
        None => "links are nested too deeply, at most six",
        Some(why) if why.is_taken() => "too many links side by side inside another, at most seven",
        Some(why) => return Err(why),
    };
    let why = io::ErrorKind::QuotaExceeded.into();
    Err(NamespaceError::new(Step::Configure(limit.to_owned()), why))
}

/// How long what is still to be sent is waited for, at each stage.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name of the link inside.
const INTERFACE: &str = "link";
