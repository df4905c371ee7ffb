//! The setting of a case: the kernel in a namespace, the engine inside the emulation, and the link
//! models between them; and its execution.

use std::net::Ipv6Addr;
use std::sync::mpsc;

use trackbed_emulator::namespace::set_sysctl;
use trackbed_emulator::{Attachment, Backstage, Edges, Emulator, Port};
use trackbed_net::{Duplex, End, Network, NetworkBuilder, NodeId};

use super::host::Host;
use crate::app::{App, Script};
use crate::capture::{Capture, Seen};
use crate::engine::Ended;
use crate::socket::{self, GRACE, Options, PAUSE, Prepared, Role, finish};
use crate::*;

#[derive(Clone, Debug)]
pub struct Setup {
    pub seed: Seed,
    pub ipv6: bool,
    /// The engine opens the connection; otherwise the kernel does.
    pub engine_dials: bool,
    /// From the engine to the kernel.
    pub up: LinkSpec,
    /// From the kernel to the engine.
    pub down: LinkSpec,
    /// The MTU of the path, if a router stands before a narrower link.
    pub path_mtu: Option<u32>,
    pub engine: EngineSide,
    pub kernel: KernelSide,
}

#[derive(Clone, Debug, Default)]
pub struct EngineSide {
    pub config: Config,
    /// What its clock shows at the start.
    pub clock_offset: Duration,
    pub script: Script,
    /// It does not listen at all: the kernel's SYN meets a closed port.
    pub absent: bool,
}

#[derive(Clone, Debug)]
pub struct KernelSide {
    pub mtu: u32,
    /// Settings below `/proc/sys/net/ipv4`.
    pub settings: Vec<(&'static str, String)>,
    pub options: Options,
    pub script: Script,
    /// It does not listen at all: the engine's SYN meets a closed port.
    pub absent: bool,
}

impl Default for KernelSide {
    fn default() -> KernelSide {
        let (settings, options) = (Vec::new(), Options::default());
        KernelSide { mtu: 1_500, settings, options, script: Script::default(), absent: false }
    }
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            seed: Seed::of_run(0, 0),
            ipv6: false,
            engine_dials: true,
            up: LinkSpec::new(),
            down: LinkSpec::new(),
            path_mtu: None,
            engine: EngineSide::default(),
            kernel: KernelSide::default(),
        }
    }
}

#[derive(Debug)]
pub struct Outcome {
    /// `None` if no connection reached the engine.
    pub engine: Option<Ended<Stats>>,
    pub kernel: socket::Ended,
    pub packets: Vec<Seen>,
    /// Sockets of the kernel that are still open: their state, as `/proc/net/tcp` numbers them.
    pub leftovers: Vec<String>,
}

/// Plays a case to its end, or gives up after [`PATIENCE`].
///
/// # Panics
/// If the machine allowed namespaces before, but refuses something in them.
pub fn play(setup: &Setup) -> Outcome {
    let setup = &spoken_here(setup);
    let namespace = NetNamespace::new().expect("a namespace");
    let mut backstage = Backstage::new().expect("a namespace");
    let port = furnish(setup, &namespace, &mut backstage);
    let role = match setup.engine_dials {
        true => Role::Server(PORT),
        false => Role::Client(SocketAddr::new(setup.address(ENGINE), PORT)),
    };
    let prepare = || Prepared::new(role, setup.ipv6, &setup.kernel.options).expect("a socket");
    let socket = (!setup.kernel.absent).then(|| namespace.run(prepare).expect("a thread"));

    let (mut network, [engine, edge]) = setup.network();
    let capture = Capture::new(vec![network.links().collect()]);
    network.set_tap(Some(Box::new(capture.clone())));
    let clock = Clock::start();
    let (ends, ended) = mpsc::channel();
    let attachment = Attachment { port, edges: Edges::One(edge) };
    let (mut emulator, remote) =
        Emulator::new(network, vec![attachment], clock).expect("descriptors");
    emulator.accommodate(engine, Box::new(setup.host(ends)));
    emulator.spare_processor();

    let cancel = AtomicBool::new(false);
    let (engine, kernel, leftovers) = thread::scope(|scope| {
        let emulation = scope.spawn(|| emulator.run());
        let app = App::new(setup.kernel.script.clone(), &setup.seed, "kernel data", "engine data");
        let kernel = scope.spawn(|| match socket {
            Some(socket) => socket.play(app, clock, &cancel),
            None => socket::Ended { report: app.report, info: None },
        });
        let patience = if setup.engine.absent { Duration::ZERO } else { PATIENCE };
        let engine = ended.recv_timeout(patience).ok();
        let kernel = finish(kernel, &cancel, engine.is_some() || setup.engine.absent);
        let leftovers = leftovers(&namespace);
        remote.stop();
        emulation.join().expect("no panic").expect("the kernel lets us wait");
        (engine.or_else(|| ended.try_recv().ok()), kernel, leftovers)
    });
    Outcome { engine, kernel, packets: capture.take(), leftovers }
}

/// The case as this machine can play it: over IPv4 if it has nothing else.
fn spoken_here(setup: &Setup) -> Setup {
    let has_ipv6 = std::fs::exists("/proc/net/if_inet6").unwrap_or(false);
    if setup.ipv6 && !has_ipv6 {
        eprintln!("SKIPPED for IPv6: this machine has none; the case is played over IPv4");
    }
    Setup { ipv6: setup.ipv6 && has_ipv6, ..setup.clone() }
}

/// The sockets that do not go away: TIME-WAIT may stay, and no listener is left.
fn leftovers(namespace: &NetNamespace) -> Vec<String> {
    let mut patience = GRACE;
    loop {
        let open = namespace.run(open_sockets).expect("a thread");
        if open.is_empty() || patience.is_zero() {
            return open;
        }
        thread::park_timeout(PAUSE);
        patience = patience.saturating_sub(PAUSE);
    }
}

fn open_sockets() -> Vec<String> {
    let table = |name: &str| {
        std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default()
    };
    let lines = [table("tcp"), table("tcp6")].concat();
    let sockets = lines.lines().filter(|line| !line.contains("local_address"));
    let states = sockets.filter_map(|line| line.split_whitespace().nth(3));
    states.filter(|state| *state != TIME_WAIT).map(str::to_owned).collect()
}

/// Gives the namespace its interface, addresses and settings.
fn furnish(setup: &Setup, namespace: &NetNamespace, backstage: &mut Backstage) -> Port {
    let port = backstage.attach(namespace, INTERFACE, setup.kernel.mtu).expect("an interface");
    namespace
        .run(|| {
            // The metrics of one connection are not used for the next.
            set_sysctl("ipv4/tcp_no_metrics_save", "1").expect("a setting");
            for (name, value) in &setup.kernel.settings {
                let set = set_sysctl(&format!("ipv4/{name}"), value);
                set.unwrap_or_else(|why| panic!("{name} = {value}: {why}"));
            }
            let interface = Interface::named(INTERFACE)?;
            let prefix = if setup.ipv6 { 64 } else { 24 };
            interface.add_address((setup.address(KERNEL), prefix))
        })
        .expect("a thread")
        .expect("an address");
    port
}

impl Setup {
    fn address(&self, number: u8) -> IpAddr {
        match self.ipv6 {
            true => Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, number.into()).into(),
            false => Ipv4Addr::new(10, 0, 0, number).into(),
        }
    }

    /// The network, and the engine's and the kernel's place in it.
    fn network(&self) -> (Network, [NodeId; 2]) {
        let mtu = self.kernel.mtu.max(self.engine.config.mtu);
        let seed = self.seed.child("link");
        let mut builder = NetworkBuilder::default();
        let (engine, edge) = (builder.host("engine"), builder.edge("kernel"));
        let home = End::new(engine, [self.address(ENGINE)]);
        let link = Duplex::new(&self.up, &self.down, &seed).with_mtu(mtu);
        match self.path_mtu {
            None => {
                builder.connect(home, End::new(edge, [self.address(KERNEL)]), link);
            }
            Some(narrow) => {
                let (near, far) = (builder.router("near"), builder.router("far"));
                let wire = LinkSpec::new();
                let plain = || Duplex::new(&wire, &wire, &seed).with_mtu(mtu);
                let (nowhere, link) = (|node| End::new(node, []), link.with_mtu(narrow));
                builder.connect(home, nowhere(near), plain());
                builder.connect(nowhere(near), nowhere(far), link);
                builder.connect(nowhere(far), End::new(edge, [self.address(KERNEL)]), plain());
            }
        }
        (builder.build().expect("a network"), [engine, edge])
    }

    fn host(&self, ends: mpsc::Sender<Ended<Stats>>) -> Host {
        let numbers = self.seed.stream("sequence numbers");
        let EngineSide { config, clock_offset, script, absent } = self.engine.clone();
        let app = App::new(script, &self.seed, "engine data", "kernel data");
        let mut host = Host::new(config, clock_offset, numbers, app, ends);
        if self.engine_dials {
            let local = SocketAddr::new(self.address(ENGINE), 40_000);
            host.dial = Some((local, SocketAddr::new(self.address(KERNEL), PORT)));
        } else if !absent {
            host.port = Some(PORT);
        }
        host
    }
}

/// No case takes longer unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(120);
const INTERFACE: &str = "eth0";
const PORT: u16 = 5_001;
const ENGINE: u8 = 1;
const KERNEL: u8 = 2;
/// In `/proc/net/tcp` (include/net/tcp_states.h).
const TIME_WAIT: &str = "06";
