//! Two hosts and a link between them, for tests and benchmarks.
#![allow(dead_code, reason = "a benchmark does not use every part")]

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use trackbed_core::{Packet, Seed, Time};
use trackbed_emulator::namespace::{self, Interface, NetNamespace};
use trackbed_emulator::{
    Attachment, Backstage, Certificate, Clock, DeviceKind, Edges, Emulator, Finished, PortOptions,
    Remote, SuperPackets,
};
use trackbed_net::models::Delay;
use trackbed_net::{
    Counters, Direction, Duplex, End, LinkId, LinkSpec, NetworkBuilder, Point, Tap,
};

/// The ends of a link.
pub struct Lab {
    pub near: NetNamespace,
    pub far: NetNamespace,
    largest: Arc<Mutex<[u64; 2]>>,
    link: LinkId,
    remote: Remote,
    emulation: JoinHandle<Finished>,
}

/// How the two ports are made.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub device: DeviceKind,
    pub supers: SuperPackets,
    /// The MTUs of the near and the far end; the link takes the larger.
    pub mtu: [u32; 2],
    /// The names of the interfaces.
    pub names: [&'static str; 2],
    pub delay: Duration,
    /// Whether the sizes of packets are recorded, which takes time.
    pub records: bool,
}

pub struct Ended {
    pub forward: Counters,
    pub backward: Counters,
    /// The most packets that travelled in one piece, forward and backward.
    pub largest: [u64; 2],
    pub certificate: Certificate,
}

impl Setting {
    pub fn new(device: DeviceKind, from_near: bool, from_far: bool) -> Setting {
        let supers = SuperPackets { from_host: from_near, to_host: from_far };
        let delay = Duration::from_millis(1);
        Setting { device, supers, mtu: [1_500; 2], names: ["link"; 2], delay, records: true }
    }
}

/// The devices that this machine allows; prints those that it does not.
pub fn devices() -> Vec<DeviceKind> {
    let allowed = |device: &DeviceKind| match Lab::try_new(Setting::new(*device, true, true)) {
        Ok(lab) => {
            lab.end();
            true
        }
        Err(why) => {
            eprintln!("SKIPPED for {device:?}: {why}");
            false
        }
    };
    [DeviceKind::Veth, DeviceKind::Tun].into_iter().filter(allowed).collect()
}

impl Lab {
    pub fn new(setting: Setting) -> Lab {
        Lab::try_new(setting).unwrap()
    }

    fn try_new(setting: Setting) -> Result<Lab, namespace::NamespaceError> {
        namespace::acquire()?;
        let lab = Lab::join(NetNamespace::new()?, NetNamespace::new()?, setting)?;
        for (number, host) in (1..).zip([&lab.near, &lab.far]) {
            give(host, "link", [10, 0, 0, number], 24)?;
            give(host, "link", [0xfd00, 0, 0, 0, 0, 0, 0, u16::from(number)], 64)?;
        }
        Ok(lab)
    }

    /// A link between two existing hosts; the interfaces have no addresses yet.
    pub fn join(
        near: NetNamespace,
        far: NetNamespace,
        setting: Setting,
    ) -> Result<Lab, namespace::NamespaceError> {
        let mut backstage = Backstage::new()?;
        let mut builder = NetworkBuilder::default();
        let supers = [setting.supers, setting.supers.reverse()];
        let mut port = |end: usize, host| {
            let (supers, device, mtu) = (supers[end], setting.device, setting.mtu[end]);
            let options =
                PortOptions { supers, device, ..PortOptions::new(setting.names[end], mtu) };
            backstage.attach_with(host, &options)
        };
        let ports = [port(0, &near)?, port(1, &far)?];
        let nodes = ["near", "far"].map(|name| builder.edge(name));
        let spec = LinkSpec::new().then(Delay::fixed(setting.delay));
        let mtu = setting.mtu.into_iter().max().unwrap();
        let link = Duplex::new(&spec, &spec, &Seed::of_run(1, 0)).with_mtu(mtu);
        let link = builder.connect(End::new(nodes[0], []), End::new(nodes[1], []), link);
        let mut network = builder.build().unwrap();
        let largest = Arc::default();
        if setting.records {
            network.set_tap(Some(Box::new(Largest(Arc::clone(&largest)))));
        }
        let attach = |(node, port)| Attachment { port, edges: Edges::One(node) };
        let ports = nodes.into_iter().zip(ports).map(attach).collect();
        let (emulator, remote) = Emulator::new(network, ports, Clock::start()).unwrap();
        let emulation = std::thread::spawn(|| emulator.run().unwrap());
        Ok(Lab { near, far, largest, link, remote, emulation })
    }

    pub fn end(self) -> Ended {
        self.remote.stop();
        let Finished { network, certificate } = self.emulation.join().unwrap();
        Ended {
            forward: *network.counters(self.link, Direction::Forward),
            backward: *network.counters(self.link, Direction::Backward),
            largest: *self.largest.lock().unwrap(),
            certificate,
        }
    }
}

/// Gives an interface of a host an address.
pub fn give(
    host: &NetNamespace,
    interface: &str,
    address: impl Into<IpAddr>,
    prefix: u8,
) -> Result<(), namespace::NamespaceError> {
    let address = address.into();
    host.run(|| Interface::named(interface)?.add_address((address, prefix)))?
}

/// Records how many packets travel in one piece.
struct Largest(Arc<Mutex<[u64; 2]>>);

impl Tap for Largest {
    fn see(&mut self, _: Time, _: LinkId, direction: Direction, _: Point, packet: &Packet) {
        let most = &mut self.0.lock().unwrap()[usize::from(direction == Direction::Backward)];
        *most = packet.segments().max(*most);
    }
}

/// The address of the far end in both families; only the first without IPv6.
pub fn far_addresses(lab: &Lab) -> Vec<SocketAddr> {
    let addresses = ["10.0.0.2:7", "[fd00::2]:7"].map(|text| text.parse().unwrap());
    let works = |address: &SocketAddr| {
        let bound = lab.far.run(|| std::net::UdpSocket::bind((address.ip(), 0))).unwrap();
        bound.map_err(|why| eprintln!("SKIPPED for {}: {why}", address.ip())).is_ok()
    };
    addresses.into_iter().filter(works).collect()
}
