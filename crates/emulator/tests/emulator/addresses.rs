//! Addresses added and removed while programs run. If the machine does not allow namespaces the
//! test prints so and passes.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use trackbed_emulator::DeviceKind;
use trackbed_emulator::namespace::{self, Interface, NetNamespace};

use crate::lab::{Lab, Setting, give};

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[test]
fn nothing_comes_or_goes_from_an_address_that_is_gone() {
    if let Err(why) = namespace::acquire() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let has_ipv6 = std::fs::exists("/proc/net/if_inet6").unwrap();
    let families = [("10.0.0.1", "10.0.0.2", "10.1.0.2"), ("fd00::1", "fd00::2", "fd01::2")];
    let families: Vec<[IpAddr; 3]> = families
        .into_iter()
        .map(|(far, old, new)| [far, old, new].map(|text| text.parse().unwrap()))
        .filter(|[far, ..]: &[IpAddr; 3]| far.is_ipv4() || has_ipv6)
        .collect();
    let setting = Setting::new(DeviceKind::Any, false, false);
    let lab = Lab::join(NetNamespace::new().unwrap(), NetNamespace::new().unwrap(), setting);
    let lab = lab.unwrap();
    for family in &families {
        for (host, address) in [(&lab.far, family[0]), (&lab.near, family[1])] {
            give(host, "link", address, bits(address)).unwrap();
            let everything = if address.is_ipv4() { "0.0.0.0" } else { "::" };
            let route = (everything.parse().unwrap(), 0);
            let add = || Interface::named("link")?.add_route(route, Default::default());
            host.run(add).unwrap().unwrap();
        }
    }

    let bind = |machine: &NetNamespace, address: IpAddr| {
        machine.run(|| UdpSocket::bind(SocketAddr::new(address, 0))).unwrap()
    };
    for [far_address, old, new] in families {
        let server = bind(&lab.far, far_address).unwrap();
        server.set_read_timeout(Some(PATIENCE)).unwrap();
        let there = server.local_addr().unwrap();
        let client = bind(&lab.near, old).unwrap();
        client.send_to(b"old", there).unwrap();
        let (_, from) = server.recv_from(&mut [0; 9]).unwrap();
        assert_eq!(from.ip(), old);

        let change = || {
            let interface = Interface::named("link").unwrap();
            interface.add_address((new, bits(new))).unwrap();
            interface.remove_address((old, bits(old))).unwrap();
            assert!(interface.remove_address((old, bits(old))).is_err(), "it is gone");
        };
        lab.near.run(change).unwrap();
        // The kernel may refuse it, or accept it and drop it.
        let _ = client.send_to(b"from nowhere", there);
        server.send_to(b"to nowhere", from).unwrap();
        let moved = bind(&lab.near, new).unwrap();
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
        assert_eq!(bind(&lab.near, old).unwrap_err().kind(), ErrorKind::AddrNotAvailable);
    }
    lab.end();
}

const PATIENCE: Duration = Duration::from_secs(20);
