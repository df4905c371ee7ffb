//! TCP: the received bytes are those sent, in both directions at once.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use trackbed_emulator::DeviceKind;
use trackbed_emulator::namespace::{Interface, NetNamespace, set_sysctl};
use trackbed_net::Counters;

use crate::lab::{Ended, Lab, Setting, devices, far_addresses, give};

/// Words of a generator with a long period (SplitMix64), so that a lost, duplicated or moved byte
/// is detected.
fn words(seed: u64) -> impl Iterator<Item = u64> {
    (1_u64..).map(move |number| {
        let z = seed.wrapping_add(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

fn content(seed: u64) -> Vec<u8> {
    words(seed).take(BYTES / 8).flat_map(u64::to_le_bytes).collect()
}

/// Sends one content and reads the other one to its end.
fn exchange(mut stream: TcpStream, send: u64, expect: u64) {
    let mut writer = stream.try_clone().unwrap();
    let sender = thread::spawn(move || {
        writer.write_all(&content(send)).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    sender.join().unwrap();
    let expected = content(expect);
    assert_eq!(received.len(), expected.len());
    let wrong = received.iter().zip(&expected).position(|(one, other)| one != other);
    assert_eq!(wrong, None, "the first wrong byte");
}

fn transfer(near: &NetNamespace, far: &NetNamespace, address: SocketAddr) {
    let listener = far.run(|| TcpListener::bind(address).unwrap()).unwrap();
    let far = thread::spawn(move || exchange(listener.accept().unwrap().0, 2, 1));
    let near = near.run(|| TcpStream::connect(address).unwrap()).unwrap();
    exchange(near, 1, 2);
    far.join().unwrap();
}

/// Transfers over every family; the narrower end has this MTU.
fn transfer_all(lab: Lab, mtu: u64) -> Ended {
    let addresses = far_addresses(&lab);
    addresses.iter().for_each(|address| transfer(&lab.near, &lab.far, *address));
    let ended = lab.end();
    let bytes = (addresses.len() * BYTES) as u64;
    assert_counted(&ended.forward, bytes, mtu);
    assert_counted(&ended.backward, bytes, mtu);
    ended
}

/// No fewer packets than the bytes fill, and their headers.
fn assert_counted(counters: &Counters, bytes: u64, mtu: u64) {
    let offered = counters.offered;
    assert!(offered.bytes >= bytes + offered.packets * 40, "{counters:?}");
    assert!(offered.packets * (mtu - 40) >= bytes, "{counters:?}");
    assert_eq!(counters.dropped_in_all().packets, 0);
}

#[test]
fn every_byte_arrives_with_super_packets_both_ways_one_way_and_none() {
    for device in devices() {
        for (from_near, from_far) in [(true, true), (true, false), (false, true), (false, false)] {
            let ended = transfer_all(Lab::new(Setting::new(device, from_near, from_far)), 1_500);
            // The kernel makes super-packets of whatever waits in a socket.
            let joined = ended.largest.map(|largest| largest > 1);
            assert_eq!(joined, [from_near, from_far], "{device:?}");
            let packets = ended.forward.delivered.packets + ended.backward.delivered.packets;
            assert!(ended.certificate.packets() <= packets, "each is handed on once at most");
        }
    }
}

#[test]
fn ends_of_different_mtu_agree_on_segments() {
    for device in devices() {
        for mtu in [[1_500, 1_300], [9_000, 1_400], [9_000, 9_000]] {
            let lab = Lab::new(Setting { mtu, ..Setting::new(device, true, true) });
            let ended = transfer_all(lab, mtu.into_iter().min().unwrap().into());
            assert!(ended.largest.into_iter().all(|largest| largest > 1));
        }
    }
}

/// A host between two links forwards super-packets: its kernel cuts them and finishes their
/// checksums, as a link of single packets requires.
#[test]
fn a_host_between_links_cuts_super_packets_for_the_next_link() {
    for device in devices() {
        let middle = NetNamespace::new().unwrap();
        let first = Setting { names: ["link", "left"], ..Setting::new(device, true, true) };
        let first =
            Lab::join(NetNamespace::new().unwrap(), middle.try_clone().unwrap(), first).unwrap();
        let second = Setting { names: ["right", "link"], ..Setting::new(device, false, false) };
        let second = Lab::join(middle, NetNamespace::new().unwrap(), second).unwrap();
        let middle = &second.near;
        middle.run(|| set_sysctl("ipv4/ip_forward", "1").unwrap()).unwrap();
        give(&first.near, "link", [10, 0, 0, 1], 24).unwrap();
        give(middle, "left", [10, 0, 0, 9], 24).unwrap();
        give(middle, "right", [10, 0, 1, 9], 24).unwrap();
        give(&second.far, "link", [10, 0, 1, 2], 24).unwrap();
        for host in [&first.near, &second.far] {
            let everywhere = (Ipv4Addr::UNSPECIFIED.into(), 0);
            let add = || Interface::named("link")?.add_route(everywhere, Default::default());
            host.run(add).unwrap().unwrap();
        }
        transfer(&first.near, &second.far, "10.0.1.2:7".parse().unwrap());
        let (first, second) = (first.end(), second.end());
        assert!(first.largest[0] > 1, "{device:?}");
        assert_eq!(second.largest, [1, 1], "{device:?}");
    }
}

#[test]
fn where_packet_sockets_are_refused_a_port_is_a_tun_device() {
    let devices = devices();
    for refused in [false, true] {
        let wanted = if refused { DeviceKind::Tun } else { DeviceKind::Veth };
        if !devices.contains(&wanted) {
            continue;
        }
        let (near, far) = (NetNamespace::new().unwrap(), NetNamespace::new().unwrap());
        let setting = Setting::new(DeviceKind::Any, true, true);
        let join = || {
            if refused {
                // Of this thread, and of those that it starts.
                let mut sets = capabilities(None).unwrap();
                sets.effective -= CapabilitySet::NET_RAW;
                set_capabilities(None, sets).unwrap();
            }
            Lab::join(near, far, setting).unwrap()
        };
        let lab = thread::scope(|scope| scope.spawn(join).join().unwrap());
        give(&lab.near, "link", [10, 0, 0, 1], 24).unwrap();
        give(&lab.far, "link", [10, 0, 0, 2], 24).unwrap();
        transfer(&lab.near, &lab.far, "10.0.0.2:7".parse().unwrap());
        // A pair of devices has hardware addresses, a TUN device has none.
        let path = "/proc/thread-self/net/dev_mcast";
        let multicast = lab.near.run(|| std::fs::read_to_string(path).unwrap()).unwrap();
        let has_hardware_address =
            multicast.lines().any(|line| line.contains("link") && line.contains("01005e"));
        assert_eq!(has_hardware_address, !refused, "{multicast}");
    }
}

const BYTES: usize = 8 << 20;
