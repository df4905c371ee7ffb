//! The setting of a case: the kernel in a namespace with two interfaces, the engine inside the
//! emulation, a link for each path; and its execution.

use std::sync::atomic::Ordering;
use std::sync::mpsc;

use trackbed_emulator::namespace::{NamespaceError, set_sysctl};
use trackbed_emulator::{Attachment, Backstage, Edges, Emulator, Port};
use trackbed_linux::mptcp_pm::{self, Counters};
use trackbed_net::{Duplex, End, NetworkBuilder};

use super::host::{Counts, Deed, Host};
use crate::app::{App, Script};
use crate::capture::{Capture, Seen};
use crate::engine::Ended;
use crate::socket::{self, Options, PAUSE, Prepared, Role, finish};
use crate::*;

#[derive(Clone, Debug)]
pub struct Setup {
    pub seed: Seed,
    /// The engine opens the connection; otherwise the kernel does.
    pub engine_dials: bool,
    /// To the kernel and to the engine, for each path.
    pub paths: [[LinkSpec; 2]; 2],
    pub engine: EngineSide,
    pub kernel: KernelSide,
}

#[derive(Clone, Debug, Default)]
pub struct EngineSide {
    pub config: MultipathConfig,
    pub script: Script,
    /// Its actions and their times.
    pub deeds: Vec<(Duration, Deed)>,
}

#[derive(Clone, Debug)]
pub struct KernelSide {
    pub options: Options,
    pub script: Script,
    pub checksum: bool,
    /// What `ip mptcp endpoint add` is given.
    pub endpoints: Vec<String>,
    /// What `ip mptcp` is given later, and when.
    pub deeds: Vec<(Duration, String)>,
}

impl Default for Setup {
    fn default() -> Setup {
        let link = || [LinkSpec::new(), LinkSpec::new()];
        let multipath = Options { multipath: true, ..Options::default() };
        Setup {
            seed: Seed::of_run(0, 0),
            engine_dials: true,
            paths: [link(), link()],
            engine: EngineSide::default(),
            kernel: KernelSide {
                options: multipath,
                script: Script::default(),
                checksum: false,
                endpoints: Vec::new(),
                deeds: Vec::new(),
            },
        }
    }
}

#[derive(Debug)]
pub struct Outcome {
    /// `None` if no connection reached the engine.
    pub engine: Option<Ended<Counts>>,
    pub kernel: socket::Ended,
    pub packets: Vec<Seen>,
    pub counters: Counters,
}

impl Outcome {
    /// Bytes that reached the other side, from the engine and from the kernel, on the first subflow
    /// or on those with another address on either side.
    pub fn bytes(&self, first: bool) -> [usize; 2] {
        [Direction::Forward, Direction::Backward].map(|direction| {
            let on = self.on_subflows(first, direction, Point::Delivered);
            on.map(|seen| seen.packet.len()).sum()
        })
    }

    /// Bytes of packets with data that the kernel or the engine sent, from `after` on, on
    /// subflows with another address than the first.
    pub fn data_after(&self, after: Duration, by_kernel: bool) -> usize {
        let direction = if by_kernel { Direction::Backward } else { Direction::Forward };
        let sent = self.on_subflows(false, direction, Point::Entered);
        let sent = sent.filter(|seen| seen.at >= Time::ZERO + after && seen.packet.len() > 200);
        sent.map(|seen| seen.packet.len()).sum()
    }

    /// Packets at one point, of the first subflow or of those with another address on either side.
    fn on_subflows(
        &self,
        first: bool,
        direction: Direction,
        point: Point,
    ) -> impl Iterator<Item = &Seen> {
        self.packets.iter().filter(move |seen| {
            let ends = [seen.packet.source(), seen.packet.destination()];
            let plain = ends.iter().all(|ip| [engine_address(0), kernel_address(0)].contains(ip));
            (plain, seen.direction, seen.point) == (first, direction, point)
        })
    }
}

pub fn engine_address(path: usize) -> IpAddr {
    [10, path as u8, 0, 1].into()
}

pub fn kernel_address(path: usize) -> IpAddr {
    [10, path as u8, 0, 2].into()
}

/// Plays a case to its end, or gives up after [`PATIENCE`].
///
/// # Panics
/// If the machine allowed namespaces before, but refuses something in them.
pub fn play(setup: &Setup) -> Outcome {
    let namespace = NetNamespace::new().expect("a namespace");
    let mut backstage = Backstage::new().expect("a namespace");
    let ports = furnish(setup, &namespace, &mut backstage);
    let role = match setup.engine_dials {
        true => Role::Server(PORT),
        false => Role::Client(SocketAddr::new(engine_address(0), PORT)),
    };
    let prepare = || Prepared::new(role, false, &setup.kernel.options).expect("a socket");
    let socket = namespace.run(prepare).expect("a thread");

    let mut builder = NetworkBuilder::default();
    let engine = builder.host("engine");
    let (mut links, mut attachments) = (Vec::new(), Vec::new());
    for (path, port) in ports.into_iter().enumerate() {
        let edge = builder.edge(format!("kernel{path}"));
        let [up, down] = &setup.paths[path];
        let duplex = Duplex::new(up, down, &setup.seed.child(&format!("path{path}")));
        let near = End::new(engine, [engine_address(path)]);
        links.push(vec![builder.connect(near, End::new(edge, []), duplex)]);
        attachments.push(Attachment { port, edges: Edges::One(edge) });
    }
    let mut network = builder.build().expect("a network");
    let capture = Capture::new(links);
    network.set_tap(Some(Box::new(capture.clone())));
    let clock = Clock::start();
    let (ends, ended) = mpsc::channel();
    let (mut emulator, remote) = Emulator::new(network, attachments, clock).expect("descriptors");
    emulator.accommodate(engine, Box::new(setup.host(ends)));
    emulator.spare_processor();

    let cancel = AtomicBool::new(false);
    let over = AtomicBool::new(false);
    let (engine, kernel) = thread::scope(|scope| {
        let emulation = scope.spawn(|| emulator.run());
        let app = App::new(setup.kernel.script.clone(), &setup.seed, "kernel data", "engine data");
        let kernel = scope.spawn(|| socket.play(app, clock, &cancel));
        let deeds = scope.spawn(|| act(&setup.kernel.deeds, &namespace, clock, &over));
        let engine = ended.recv_timeout(PATIENCE).ok();
        let kernel = finish(kernel, &cancel, engine.is_some());
        over.store(true, Ordering::Relaxed);
        deeds.join().expect("no panic");
        remote.stop();
        emulation.join().expect("no panic").expect("the kernel lets us wait");
        (engine.or_else(|| ended.try_recv().ok()), kernel)
    });
    let counters = namespace.run(mptcp_pm::counters).expect("a thread").expect("/proc");
    Outcome { engine, kernel, packets: capture.take(), counters }
}

/// Calls `ip mptcp` at its time.
fn act(deeds: &[(Duration, String)], namespace: &NetNamespace, clock: Clock, over: &AtomicBool) {
    for (at, deed) in deeds {
        while clock.now() < Time::ZERO + *at {
            if over.load(Ordering::Relaxed) {
                return;
            }
            thread::park_timeout(PAUSE);
        }
        namespace.run(|| ip_mptcp(deed)).expect("a thread");
    }
}

fn ip_mptcp(words: &str) {
    let mut command = Command::new("ip");
    let output = command.arg("mptcp").args(words.split_whitespace()).output().expect("ip");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip mptcp {words}: {complaint}");
}

/// Gives the namespace its interfaces, addresses and settings.
fn furnish(setup: &Setup, namespace: &NetNamespace, backstage: &mut Backstage) -> Vec<Port> {
    let names = ["path0", "path1"];
    let ports = names.map(|name| backstage.attach(namespace, name, 1_500).expect("an interface"));
    let made = namespace.run(|| {
        for (name, value) in [
            ("ipv4/tcp_no_metrics_save", "1"),
            ("ipv4/conf/all/rp_filter", "0"),
            // How long a connection without subflows waits for one: a reset that overtakes data ends
            // a subflow only.
            ("mptcp/close_timeout", "5"),
            ("mptcp/checksum_enabled", if setup.kernel.checksum { "1" } else { "0" }),
        ] {
            set_sysctl(name, value).unwrap_or_else(|why| panic!("{name} = {value}: {why}"));
        }
        for (path, name) in names.into_iter().enumerate() {
            set_sysctl(&format!("ipv4/conf/{name}/rp_filter"), "0").expect("a setting");
            let interface = Interface::named(name)?;
            interface.add_address((kernel_address(path), 32))?;
            interface.add_route_from(kernel_address(path))?;
            if path == 0 {
                interface.add_route(([0, 0, 0, 0].into(), 0), Default::default())?;
            }
        }
        ip_mptcp("limits set subflow 4 add_addr_accepted 4");
        for endpoint in &setup.kernel.endpoints {
            ip_mptcp(&format!("endpoint add {endpoint}"));
        }
        Ok::<_, NamespaceError>(())
    });
    made.expect("a thread").expect("addresses and routes");
    ports.into()
}

impl Setup {
    fn host(&self, ends: mpsc::Sender<Ended<Counts>>) -> Host {
        let EngineSide { config, script, deeds } = self.engine.clone();
        let app = App::new(script, &self.seed, "engine data", "kernel data");
        let mut host = Host::new(config, self.seed.stream("numbers"), app, ends);
        host.deeds = deeds;
        if self.engine_dials {
            let local = SocketAddr::new(engine_address(0), 40_000);
            host.dial = Some((local, SocketAddr::new(kernel_address(0), PORT)));
        } else {
            host.port = Some(PORT);
        }
        host
    }
}

/// No case takes longer unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(90);
const PORT: u16 = 5_001;
