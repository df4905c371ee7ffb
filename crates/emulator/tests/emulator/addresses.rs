//! Addresses added and removed while programs run. If the machine does not allow namespaces the
//! test prints so and passes.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_emulator::namespace::{self, Interface, NetNamespace};
use trackbed_emulator::{Attachment, Backstage, Clock, Edges, Emulator};
use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[test]
fn nothing_comes_or_goes_from_an_address_that_is_gone() {
    if let Err(why) = namespace::acquire() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let mut backstage = Backstage::new().unwrap();
    let has_ipv6 = std::fs::exists("/proc/net/if_inet6").unwrap();
    let families = [("10.0.0.1", "10.0.0.2", "10.1.0.2"), ("fd00::1", "fd00::2", "fd01::2")];
    let families: Vec<[IpAddr; 3]> = families
        .into_iter()
        .map(|(far, old, new)| [far, old, new].map(|text| text.parse().unwrap()))
        .filter(|[far, ..]: &[IpAddr; 3]| far.is_ipv4() || has_ipv6)
        .collect();
    let machine = |backstage: &mut Backstage, number: usize| {
        let machine = NetNamespace::new().unwrap();
        let port = backstage.attach(&machine, "link", 1_500).unwrap();
        let set_up = || {
            let interface = Interface::named("link").unwrap();
            for family in &families {
                interface.add_address((family[number], bits(family[number]))).unwrap();
                let everything = if family[0].is_ipv4() { "0.0.0.0" } else { "::" };
                interface.add_route((everything.parse().unwrap(), 0)).unwrap();
            }
        };
        machine.run(set_up).unwrap();
        (machine, port)
    };
    let (far, far_port) = machine(&mut backstage, 0);
    let (near, near_port) = machine(&mut backstage, 1);
    let mut builder = NetworkBuilder::new();
    let edges = [builder.edge("far"), builder.edge("near")];
    let nothing = LinkSpec::new();
    let duplex = Duplex::new(&nothing, &nothing, &Seed::of_run(1, 0));
    builder.connect(End::new(edges[0], []), End::new(edges[1], []), duplex);
    let attachments = edges.into_iter().zip([far_port, near_port]);
    let attachments =
        attachments.map(|(node, port)| Attachment { port, edges: Edges::One(node) }).collect();
    let (emulator, remote) =
        Emulator::new(builder.build().unwrap(), attachments, Clock::start()).unwrap();
    let emulation = thread::spawn(|| emulator.run().unwrap());

    let bind = |machine: &NetNamespace, address: IpAddr| {
        machine.run(|| UdpSocket::bind(SocketAddr::new(address, 0))).unwrap()
    };
    for [far_address, old, new] in families {
        let server = bind(&far, far_address).unwrap();
        server.set_read_timeout(Some(PATIENCE)).unwrap();
        let there = server.local_addr().unwrap();
        let client = bind(&near, old).unwrap();
        client.send_to(b"old", there).unwrap();
        let (_, from) = server.recv_from(&mut [0; 9]).unwrap();
        assert_eq!(from.ip(), old);

        let change = || {
            let interface = Interface::named("link").unwrap();
            interface.add_address((new, bits(new))).unwrap();
            interface.remove_address((old, bits(old))).unwrap();
            assert!(interface.remove_address((old, bits(old))).is_err(), "it is gone");
        };
        near.run(change).unwrap();
        // The kernel may refuse it, or accept it and drop it.
        let _ = client.send_to(b"from nowhere", there);
        server.send_to(b"to nowhere", from).unwrap();
        let moved = bind(&near, new).unwrap();
        moved.send_to(b"new", there).unwrap();
        let mut buffer = [0; 20];
        let (len, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..len], from.ip()), (&b"new"[..], new), "the first to arrive");
        server.send_to(b"back", from).unwrap();
        moved.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(moved.recv(&mut buffer).unwrap(), 4);
        // Packets sent to the old address before have arrived by now, or never will.
        client.set_nonblocking(true).unwrap();
        assert_eq!(client.recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(bind(&near, old).unwrap_err().kind(), ErrorKind::AddrNotAvailable);
    }
    remote.stop();
    emulation.join().unwrap();
}

const PATIENCE: Duration = Duration::from_secs(20);
