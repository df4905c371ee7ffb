//! Several paths between two machines: packets take the path of their source address. If the
//! machine does not allow namespaces the test prints so and passes.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_emulator::namespace::{self, Interface, NamespaceError, NetNamespace};
use trackbed_emulator::{Attachment, Backstage, Clock, Edges, Emulator};
use trackbed_net::models::Delay;
use trackbed_net::{Direction, Duplex, End, LinkSpec, NetworkBuilder};

const PATHS: u8 = 2;
const PORT: u16 = 5_000;

fn addresses(machine: u8, path: u8) -> [IpAddr; 2] {
    let v6 = Ipv6Addr::new(0xfd00, u16::from(path), 0, 0, 0, 0, 0, machine.into());
    [Ipv4Addr::new(10, path, 0, machine).into(), v6.into()]
}

/// A machine with an interface on every path, and the emulators between them.
fn machine(
    backstage: &mut Backstage,
    number: u8,
) -> Result<(NetNamespace, Vec<trackbed_emulator::Port>), NamespaceError> {
    let machine = NetNamespace::new()?;
    let mut ports = Vec::new();
    for path in 0..PATHS {
        let name = format!("path{path}");
        ports.push(backstage.attach(&machine, &name, 1_500)?);
        machine.run(|| {
            let interface = Interface::named(&name)?;
            for address in addresses(number, path) {
                let (bits, everything) = match address {
                    IpAddr::V4(_) => (32, IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
                    IpAddr::V6(_) => (128, IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
                };
                interface.add_address((address, bits))?;
                interface.add_route_from(address)?;
                // Without a source address a socket takes the first path.
                if path == 0 {
                    interface.add_route((everything, 0), Default::default())?;
                }
            }
            Ok::<_, NamespaceError>(())
        })??;
    }
    Ok((machine, ports))
}

#[test]
fn packets_take_the_path_of_the_address_that_they_come_from() {
    if let Err(why) = namespace::acquire() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let mut backstage = Backstage::new().unwrap();
    let (near, near_ports) = machine(&mut backstage, 1).unwrap();
    let (far, far_ports) = machine(&mut backstage, 2).unwrap();

    let mut builder = NetworkBuilder::default();
    let (mut links, mut attachments) = (Vec::new(), Vec::new());
    for (path, (near, far)) in (0..PATHS).zip(near_ports.into_iter().zip(far_ports)) {
        let ends = [builder.edge(format!("near{path}")), builder.edge(format!("far{path}"))];
        let delay = Delay::fixed(Duration::from_millis(5 + 20 * u64::from(path)));
        let spec = LinkSpec::new().then(delay);
        let duplex = Duplex::new(&spec, &spec, &Seed::of_run(1, 0));
        links.push(builder.connect(End::new(ends[0], []), End::new(ends[1], []), duplex));
        for (node, port) in ends.into_iter().zip([near, far]) {
            attachments.push(Attachment { port, edges: Edges::One(node) });
        }
    }
    let clock = Clock::start();
    let (emulator, remote) = Emulator::new(builder.build().unwrap(), attachments, clock).unwrap();
    let emulation = thread::spawn(|| emulator.run().unwrap());

    let has_ipv6 = std::fs::exists("/proc/net/if_inet6").unwrap();
    let mut exchanges = 0;
    for family in 0..if has_ipv6 { 2 } else { 1 } {
        exchanges += 1;
        for path in 0..PATHS {
            // The server's address is on the other path: only the source counts.
            let server = SocketAddr::new(addresses(2, 1 - path)[family], PORT);
            let server = far.run(|| UdpSocket::bind(server).unwrap()).unwrap();
            let own = SocketAddr::new(addresses(1, path)[family], 0);
            let client = near.run(|| UdpSocket::bind(own).unwrap()).unwrap();
            let (there, back) = (5 + 20 * u64::from(path), 5 + 20 * u64::from(1 - path));
            let begun = clock.now();
            client.send_to(b"there", server.local_addr().unwrap()).unwrap();
            answer(&server).unwrap();
            client.set_read_timeout(Some(PATIENCE)).unwrap();
            assert_eq!(client.recv(&mut [0; 100]).unwrap(), 4);
            let taken = clock.now().since(begun);
            assert!(taken >= Duration::from_millis(there + back), "{taken:?}");
        }
    }
    remote.stop();
    let network = emulation.join().unwrap().network;
    for link in links {
        for direction in [Direction::Forward, Direction::Backward] {
            let sent = network.counters(link, direction).delivered.packets;
            assert_eq!(sent, exchanges, "each path carries what comes from its own addresses");
        }
    }
}

/// Answers one datagram.
fn answer(server: &UdpSocket) -> io::Result<()> {
    server.set_read_timeout(Some(PATIENCE))?;
    let mut buffer = [0; 100];
    let (_, from) = server.recv_from(&mut buffer)?;
    server.send_to(b"back", from)?;
    Ok(())
}

const PATIENCE: Duration = Duration::from_secs(20);
