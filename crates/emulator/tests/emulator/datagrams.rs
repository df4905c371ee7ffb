//! UDP: datagrams passed to the kernel in one piece arrive one by one.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use trackbed_linux::socket::set_segment_length;

use crate::lab::{Lab, Setting, devices, far_addresses};

/// The `number`th datagram of a batch.
fn datagram(number: u8, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| number.wrapping_mul(31).wrapping_add(at as u8)).collect()
}

fn sockets(lab: &Lab, address: SocketAddr) -> (UdpSocket, UdpSocket) {
    let receiver = lab.far.run(|| UdpSocket::bind(address).unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let sender = lab.near.run(|| UdpSocket::bind((any(address), 0)).unwrap()).unwrap();
    sender.connect(address).unwrap();
    (sender, receiver)
}

fn any(like: SocketAddr) -> std::net::IpAddr {
    if like.is_ipv4() { "0.0.0.0" } else { "::" }.parse().unwrap()
}

#[test]
fn segments_of_udp_arrive_as_datagrams() {
    for device in devices() {
        for supers in [true, false] {
            let lab = Lab::new(Setting::new(device, supers, false));
            let addresses = far_addresses(&lab);
            for address in &addresses {
                let (sender, receiver) = sockets(&lab, *address);
                set_segment_length(&sender, 1_000).unwrap();
                let mut batch: Vec<u8> = (0..40).flat_map(|n| datagram(n, 1_000)).collect();
                batch.extend(datagram(40, 300));
                sender.send(&batch).unwrap();
                let mut buffer = [0; 2_000];
                for number in 0..=40 {
                    let length = receiver.recv(&mut buffer).unwrap();
                    let expected = datagram(number, if number < 40 { 1_000 } else { 300 });
                    assert!(buffer[..length] == expected, "{device:?} {address} {number}");
                }
            }
            let ended = lab.end();
            let headers: u64 = addresses.iter().map(|a| if a.is_ipv4() { 28 } else { 48 }).sum();
            let batches = addresses.len() as u64;
            assert_eq!(ended.forward.delivered.packets, 41 * batches);
            assert_eq!(ended.forward.delivered.bytes, 40_300 * batches + 41 * headers);
            assert_eq!(ended.certificate.overflow, 0);
            assert!(supers || ended.largest == [1, 0], "the host has cut them");
        }
    }
}

#[test]
fn what_does_not_fit_the_other_end_is_lost_and_counted() {
    for device in devices() {
        for supers in [true, false] {
            let setting = Setting { mtu: [1_500, 1_300], ..Setting::new(device, supers, supers) };
            let lab = Lab::new(setting);
            let (sender, receiver) = sockets(&lab, "10.0.0.2:7".parse().unwrap());
            // 28 bytes of headers.
            sender.send(&datagram(1, 1_273)).unwrap();
            sender.send(&datagram(2, 1_272)).unwrap();
            let mut buffer = [0; 2_000];
            let length = receiver.recv(&mut buffer).unwrap();
            assert!(buffer[..length] == datagram(2, 1_272), "{device:?}");
            assert_eq!(lab.end().certificate.overflow, 1, "{device:?}");
        }
    }
}

#[test]
fn long_and_short_packets_keep_their_order() {
    for device in devices() {
        let lab = Lab::new(Setting::new(device, true, false));
        let (sender, receiver) = sockets(&lab, "10.0.0.2:7".parse().unwrap());
        set_segment_length(&sender, 100).unwrap();
        // Batches of two pieces do not exceed the MTU, those of 30 do.
        for round in 0..500_u32 {
            let pieces = if round % 3 == 0 { 30 } else { 2 };
            let batch: Vec<u8> =
                (0..pieces).flat_map(|_| round.to_le_bytes().into_iter().chain([0; 96])).collect();
            sender.send(&batch).unwrap();
            let mut buffer = [0; 200];
            if round % 10 == 9 {
                // A socket's buffer does not hold all rounds.
                let wanted = (round - 9..=round).map(|r| (r, if r % 3 == 0 { 30 } else { 2 }));
                for (number, pieces) in wanted {
                    for _ in 0..pieces {
                        assert_eq!(receiver.recv(&mut buffer).unwrap(), 100);
                        assert_eq!(buffer[..4], number.to_le_bytes(), "{device:?}");
                    }
                }
            }
        }
        assert_eq!(lab.end().largest, [30, 0]);
    }
}
