//! UDP sockets.

use super::{execute, loopback, loopback_addresses, run};
use crate::support::*;

fn pair(host: &dyn Host, local: SocketAddr) -> (Box<dyn UdpSocket>, Box<dyn UdpSocket>) {
    (host.bind_udp(local).unwrap(), host.bind_udp(local).unwrap())
}

#[test]
fn a_datagram_comes_back_and_says_where_it_was() {
    for local in loopback_addresses() {
        run(|host| async move {
            let (client, server) = pair(&*host, local);
            let (here, there) = (client.local_addr(), server.local_addr());
            spawn(echo(server)).detach();
            for len in [0, 1, 1_200, 1_472] {
                send(&*client, there, &vec![7; len]).await.unwrap();
                let (payload, meta) = receive(&*client).await.unwrap();
                assert_eq!(payload, vec![7; len]);
                let expected = ReceivedMeta {
                    source: there,
                    destination: here.ip(),
                    ecn: Ecn::NotCapable,
                    len,
                    stride: len,
                };
                assert_eq!(meta, expected);
            }
        });
    }
}

#[test]
fn the_ecn_field_arrives() {
    for local in loopback_addresses() {
        run(|host| async move {
            let (client, server) = pair(&*host, local);
            for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::CongestionExperienced, Ecn::NotCapable] {
                let marked = Datagram { ecn, ..datagram(server.local_addr(), b"marked") };
                send_as(&*client, marked).await.unwrap();
                assert_eq!(receive(&*server).await.unwrap().1.ecn, ecn);
            }
        });
    }
}

/// Sends a batch of `len` bytes, marked ECT(0), which is cut into pieces of `size`.
async fn send_batch(socket: &dyn UdpSocket, to: SocketAddr, len: usize, size: usize) -> Vec<u8> {
    let bytes: Vec<u8> = (0..len).map(|at| (at / size) as u8).collect();
    let batch = Datagram { ecn: Ecn::Ect0, segment_size: Some(size), ..datagram(to, &bytes) };
    send_as(socket, batch).await.unwrap();
    bytes
}

#[test]
fn a_batch_arrives_as_the_datagrams_it_is_cut_into() {
    for local in loopback_addresses() {
        // Less than a datagram, some of them, more than the kernel takes at once by their number
        // and by their bytes, and segments that exceed any MTU but loopback's.
        for (len, size) in
            [(900, 1_000), (10_500, 1_000), (20_000, 100), (90_000, 1_400), (9_000, 4_000)]
        {
            run(|host| async move {
                let (client, server) = pair(&*host, local);
                let bytes = send_batch(&*client, server.local_addr(), len, size).await;
                for piece in bytes.chunks(size) {
                    let mut buffer = vec![0; 4_096];
                    let meta = receive_into(&*server, &mut buffer).await.unwrap();
                    assert_eq!(&buffer[..meta.len], piece, "{len} by {size}");
                    assert_eq!((meta.stride, meta.ecn), (meta.len, Ecn::Ect0));
                }
            });
        }
    }
}

#[test]
fn large_buffers_get_what_the_kernel_has_joined() {
    for local in loopback_addresses() {
        run(|host| async move {
            let (client, server) = pair(&*host, local);
            assert_eq!(server.max_receive_segments().get(), 64);
            let bytes = send_batch(&*client, server.local_addr(), 50_100, 1_000).await;
            let mut received = Vec::new();
            while received.len() < bytes.len() {
                let mut buffers = [vec![0; 65_536], vec![0; 65_536]];
                let mut slices = buffers.each_mut().map(|buffer| IoSliceMut::new(buffer));
                let mut meta = [ReceivedMeta::default(); 2];
                let count = poll_fn(|cx| server.poll_recv(cx, &mut slices, &mut meta));
                for at in 0..count.await.unwrap() {
                    assert!(meta[at].stride <= 1_000 && meta[at].len <= 64_000);
                    received.extend_from_slice(&buffers[at][..meta[at].len]);
                }
            }
            assert_eq!(received, bytes);
        });
    }
}

#[test]
fn a_datagram_longer_than_its_buffer_is_cut() {
    run(|host| async move {
        let (client, server) = pair(&*host, address("127.0.0.1", 0));
        for (first, room) in [(b'a', 10), (b'b', 70_000)] {
            send(&*client, server.local_addr(), &[first; 100]).await.unwrap();
            let mut buffer = vec![0; room];
            let meta = receive_into(&*server, &mut buffer).await.unwrap();
            assert_eq!(meta.len, room.min(100));
            assert!(buffer[..meta.len].iter().all(|&byte| byte == first));
        }
    });
}

#[test]
fn a_socket_on_all_addresses_says_which_one_was_meant_and_answers_from_it() {
    run(|host| async move {
        let server = host.bind_udp(address("0.0.0.0", 0)).unwrap();
        let port = server.local_addr().port();
        assert!(server.local_addr().ip().is_unspecified());
        let client = host.bind_udp(address("127.0.0.1", 0)).unwrap();
        for there in ["127.0.0.1", "127.0.0.2"] {
            send(&*client, address(there, port), b"who?").await.unwrap();
            let (_, meta) = receive(&*server).await.unwrap();
            assert_eq!(meta.destination.to_string(), there);
            let answer =
                Datagram { source: Some(meta.destination), ..datagram(meta.source, b"me") };
            send_as(&*server, answer).await.unwrap();
            assert_eq!(receive(&*client).await.unwrap().1.source, address(there, port));
        }
    });
}

#[test]
fn sockets_of_the_two_families_share_a_port() {
    let [v4, v6] = loopback_addresses()[..] else { return };
    run(|host| async move {
        let any6 = host.bind_udp(SocketAddr::new("::".parse().unwrap(), 0)).unwrap();
        let port = any6.local_addr().port();
        // Unless another program has just taken it.
        let any4 = match host.bind_udp(address("0.0.0.0", port)) {
            Ok(socket) => socket,
            Err(error) => return eprintln!("SKIPPED: {error}"),
        };
        let client = host.bind_udp(v4).unwrap();
        send(&*client, SocketAddr::new(v4.ip(), port), b"4").await.unwrap();
        assert_eq!(receive(&*any4).await.unwrap().0, b"4");
        let client = host.bind_udp(v6).unwrap();
        send(&*client, SocketAddr::new(v6.ip(), port), b"6").await.unwrap();
        assert_eq!(receive(&*any6).await.unwrap().0, b"6");
    });
}

#[test]
fn what_cannot_be_is_refused() {
    run(|host| async move {
        let socket = host.bind_udp(address("127.0.0.1", 0)).unwrap();
        let local = socket.local_addr();
        let kind = |result: std::io::Result<()>| result.unwrap_err().kind();
        let long = send(&*socket, local, &[0; 65_508]).await;
        assert!(long.as_ref().unwrap_err().to_string().contains("at most 65507 bytes"));
        assert_eq!(kind(long), ErrorKind::InvalidInput);
        send(&*socket, local, &[0; 65_507]).await.unwrap();
        assert_eq!(
            kind(send(&*socket, address("127.0.0.1", 0), b"").await),
            ErrorKind::InvalidInput
        );
        assert_eq!(kind(send(&*socket, address("::1", 9), b"").await), ErrorKind::InvalidInput);
        let source = Some("192.0.2.1".parse().unwrap());
        let foreign = Datagram { source, ..datagram(local, b"") };
        assert_eq!(kind(send_as(&*socket, foreign).await), ErrorKind::AddrNotAvailable);
        let again = host.bind_udp(local).err().unwrap();
        assert_eq!(again.kind(), ErrorKind::AddrInUse);
        assert!(again.to_string().contains("choose another port"), "{again}");
        let elsewhere = host.bind_udp(address("192.0.2.1", 0)).err().unwrap();
        assert_eq!(elsewhere.kind(), ErrorKind::AddrNotAvailable);
        assert!(elsewhere.to_string().contains("the host \"here\""), "{elsewhere}");
    });
}

#[test]
fn what_finds_no_room_is_counted() {
    let dropped = execute(|machine| async move {
        let (client, server) = pair(&*loopback(&machine), address("127.0.0.1", 0));
        assert_eq!(machine.datagrams_dropped(), 0);
        // 28 MB, several times what the socket asks room for.
        for _ in 0..20_000 {
            send(&*client, server.local_addr(), &[0; 1_400]).await.unwrap();
        }
        let before = machine.datagrams_dropped();
        drop(server);
        assert_eq!(machine.datagrams_dropped(), before);
        before
    });
    assert!(dropped.unwrap() > 0);
}

#[test]
fn a_busy_socket_lets_other_tasks_and_timers_run() {
    run(|host| async move {
        let (client, server) = pair(&*host, address("127.0.0.1", 0));
        let to = server.local_addr();
        // Never waits: there is always room to send.
        spawn(async move {
            loop {
                send(&*client, to, &[0; 100]).await.unwrap();
            }
        })
        .detach();
        sleep(Duration::from_millis(5)).await;
        assert_eq!(receive(&*server).await.unwrap().0.len(), 100);
    });
}
