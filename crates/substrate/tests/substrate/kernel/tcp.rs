//! TCP connections.

use trackbed_substrate::TcpInfo;

use super::{defaults, loopback_addresses, run};
use crate::support::*;

/// A connection and its two ends: the client's and the server's.
async fn connected(host: &dyn Host, local: SocketAddr) -> (Box<dyn TcpStream>, Box<dyn TcpStream>) {
    let options = defaults();
    let listener = host.listen_tcp(local, &options).unwrap();
    let ours = host.connect_tcp(None, listener.local_addr(), &options).await.unwrap();
    (ours, listener.accept().await.unwrap())
}

fn v4() -> SocketAddr {
    address("127.0.0.1", 0)
}

async fn echo(mut stream: Box<dyn TcpStream>) {
    let mut buffer = vec![0; 50_000];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        stream.write_all(&buffer[..count]).await.unwrap();
    }
    stream.close().await.unwrap();
}

#[test]
fn megabytes_go_both_ways_at_once() {
    for local in loopback_addresses() {
        run(|host| async move {
            let (ours, theirs) = connected(&*host, local).await;
            assert_eq!(ours.peer_addr(), theirs.local_addr());
            assert_eq!(theirs.peer_addr(), ours.local_addr());
            spawn(echo(theirs)).detach();
            let (mut reader, mut writer) = ours.split();
            let writing = spawn(async move {
                writer.write_all(&pattern(8_000_000)).await.unwrap();
                writer.close().await.unwrap();
            });
            let back = read_all(&mut reader).await;
            writing.await;
            assert!(back == pattern(8_000_000));
        });
    }
}

#[test]
fn a_connection_is_described() {
    run(|host| async move {
        let (mut ours, mut theirs) = connected(&*host, v4()).await;
        assert_eq!((ours.info().bytes_acked, theirs.info().bytes_acked), (0, 0));
        ours.write_all(&pattern(300_000)).await.unwrap();
        ours.close().await.unwrap();
        assert_eq!(read_all(&mut theirs).await.len(), 300_000);
        theirs.write_all(b"ok").await.unwrap();
        ours.read_exact(&mut [0; 2]).await.unwrap();
        let (near, far) = (ours.info(), theirs.info());
        assert_eq!((near.bytes_sent, near.bytes_acked), (300_000, 300_000));
        assert_eq!((near.bytes_received, far.bytes_received, far.bytes_sent), (2, 300_000, 2));
        // Loopback's segments are large.
        assert!((5..1_000).contains(&near.segments_sent), "{near:?}");
        assert!(near.segments_received >= 2 && far.segments_received >= 5);
        assert_eq!((near.segments_retransmitted, near.timeouts), (0, 0));
        assert!(near.smoothed_rtt.is_some_and(|rtt| rtt < Duration::from_secs(10)));
        assert!(near.congestion_window >= 10 * 536, "{near:?}");
    });
}

#[test]
fn closing_ends_one_direction_and_leaves_the_other() {
    run(|host| async move {
        let (mut ours, mut theirs) = connected(&*host, v4()).await;
        ours.write_all(b"the last word").await.unwrap();
        ours.close().await.unwrap();
        assert_eq!(ours.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(read_all(&mut theirs).await, b"the last word");
        // Read to the end again: it stays there.
        assert_eq!(theirs.read(&mut [0; 9]).await.unwrap(), 0);
        theirs.write_all(&pattern(1_000_000)).await.unwrap_or_else(|error| panic!("{error}"));
        drop(theirs);
        assert!(read_all(&mut ours).await == pattern(1_000_000));
        assert_eq!(ours.info().bytes_received, 1_000_000);
    });
}

/// What has arrived before the end must come out, however it is read.
#[test]
fn the_end_is_found_after_data_that_arrived_before_the_first_read() {
    run(|host| async move {
        let (mut ours, mut theirs) = connected(&*host, v4()).await;
        theirs.write_all(&pattern(1_000)).await.unwrap();
        theirs.close().await.unwrap();
        // By now, both the data and the end have been reported.
        sleep(Duration::from_millis(20)).await;
        assert_eq!(ours.read(&mut [0; 400]).await.unwrap(), 400);
        // Fills the send buffer, so that writing has to wait in between.
        while let Some(written) = ours.write(&[0; 100_000]).now_or_never() {
            written.unwrap();
        }
        assert_eq!(ours.read(&mut [0; 4_000]).await.unwrap(), 600);
        assert_eq!(ours.read(&mut [0; 4_000]).await.unwrap(), 0);
    });
}

#[test]
fn a_refusal_names_the_address() {
    for local in loopback_addresses() {
        run(|host| async move {
            let options = defaults();
            let listener = host.listen_tcp(local, &options).unwrap();
            let remote = listener.local_addr();
            drop(listener);
            let refused = host.connect_tcp(None, remote, &options).await.err().unwrap();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            assert!(refused.to_string().contains(&remote.to_string()), "{refused}");
        });
    }
}

#[test]
fn an_abort_is_a_reset_to_the_peer_and_wakes_who_waits() {
    run(|host| async move {
        let (ours, mut theirs) = connected(&*host, v4()).await;
        let ours = Rc::new(RefCell::new(ours));
        let reading = {
            let ours = Rc::clone(&ours);
            spawn(poll_fn(move |cx| {
                let mut ours = ours.borrow_mut();
                Pin::new(&mut **ours).poll_read(cx, &mut [0; 10])
            }))
        };
        theirs.write_all(b"").await.unwrap();
        sleep(Duration::from_millis(1)).await;
        ours.borrow().abort();
        assert_eq!(reading.await.unwrap_err().kind(), ErrorKind::ConnectionAborted);
        assert_eq!(theirs.read(&mut [0; 10]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        let mut ours = Rc::into_inner(ours).unwrap().into_inner();
        let after = ours.write(b"more").await.unwrap_err();
        assert_eq!(after.kind(), ErrorKind::ConnectionAborted);
        assert!(after.to_string().contains(&ours.peer_addr().to_string()), "{after}");
        ours.close().await.unwrap();
        assert_ne!(ours.info(), TcpInfo::default());
    });
}

#[test]
fn dropping_what_was_not_read_is_a_reset() {
    run(|host| async move {
        let (mut ours, theirs) = connected(&*host, v4()).await;
        ours.write_all(b"no one reads this").await.unwrap();
        sleep(Duration::from_millis(5)).await;
        drop(theirs);
        assert_eq!(ours.read(&mut [0; 10]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_writer_waits_for_room_and_is_woken_by_it() {
    run(|host| async move {
        let (mut ours, mut theirs) = connected(&*host, v4()).await;
        let mut written = 0;
        poll_fn(|cx| {
            loop {
                match Pin::new(&mut *ours).poll_write(cx, &[5; 100_000]) {
                    Poll::Ready(count) => written += count.unwrap(),
                    Poll::Pending => return Poll::Ready(()),
                }
            }
        })
        .await;
        assert!(written > 0);
        let writing = spawn(async move {
            ours.write_all(&[5; 1_000_000]).await.unwrap();
            ours.close().await.unwrap();
        });
        let received = read_all(&mut theirs).await;
        writing.await;
        assert_eq!(received.len(), written + 1_000_000);
    });
}

#[test]
fn the_backlog_holds_one_connection_more_than_it_says() {
    run(|host| async move {
        let options = TcpOptions { backlog: 1, ..defaults() };
        let listener = host.listen_tcp(v4(), &options).unwrap();
        let connect = || host.connect_tcp(None, listener.local_addr(), &options);
        let held = [connect().await.unwrap(), connect().await.unwrap()];
        let third = spawn(connect());
        sleep(Duration::from_millis(50)).await;
        assert!(!third.is_finished());
        let accepted = accept_all(&*listener, 2).await;
        assert_eq!(accepted.len(), held.len());
        // The SYN is sent again after a second.
        assert!(third.await.is_ok());
    });
}

async fn accept_all(listener: &dyn TcpListener, count: usize) -> Vec<Box<dyn TcpStream>> {
    let mut accepted = Vec::new();
    while accepted.len() < count {
        accepted.push(listener.accept().await.unwrap());
    }
    accepted
}

#[test]
fn hundreds_of_connections_at_once() {
    const COUNT: usize = 300;
    run(|host| async move {
        let listener = host.listen_tcp(v4(), &defaults()).unwrap();
        let remote = listener.local_addr();
        spawn(async move {
            loop {
                spawn(echo(listener.accept().await.unwrap())).detach();
            }
        })
        .detach();
        let clients: Vec<_> = (0..COUNT)
            .map(|at| {
                let connecting = host.connect_tcp(None, remote, &defaults());
                spawn(async move {
                    let mut stream = connecting.await.unwrap();
                    stream.write_all(&at.to_be_bytes()).await.unwrap();
                    let mut back = [0; 8];
                    stream.read_exact(&mut back).await.unwrap();
                    usize::from_be_bytes(back)
                })
            })
            .collect();
        for (at, client) in clients.into_iter().enumerate() {
            assert_eq!(client.await, at);
        }
    });
}

#[test]
fn a_port_is_free_again_as_soon_as_its_listener_has_gone() {
    run(|host| async move {
        let options = defaults();
        let listener = host.listen_tcp(v4(), &options).unwrap();
        let local = listener.local_addr();
        assert_eq!(host.listen_tcp(local, &options).err().unwrap().kind(), ErrorKind::AddrInUse);
        let client = host.connect_tcp(None, local, &options).await.unwrap();
        let mut served = listener.accept().await.unwrap();
        // The side that closes first keeps the port in TIME-WAIT.
        served.close().await.unwrap();
        drop(client);
        drop((served, listener));
        host.listen_tcp(local, &options).unwrap();
    });
}

#[test]
fn giving_an_attempt_up_leaves_nothing_behind() {
    run(|host| async move {
        // 192.0.2.0/24 is unassigned (RFC 5737), so nothing responds, or there is no route to it.
        let nowhere = host.connect_tcp(
            Some("0.0.0.0".parse().unwrap()),
            address("192.0.2.1", 9),
            &defaults(),
        );
        let attempt = spawn(nowhere);
        sleep(Duration::from_millis(10)).await;
        drop(attempt);
        sleep(Duration::from_millis(1)).await;
    });
}

/// Sockets that were made elsewhere are as good as our own.
#[test]
fn sockets_made_elsewhere_are_taken_in() {
    let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listening.local_addr().unwrap();
    let connected = std::net::TcpStream::connect(address).unwrap();
    let execution = Execution::new(Origin::now()).with_time_limit(Time::from_millis(20_000));
    let text = execution.run(|machine| async move {
        let listener = machine.adopt_listener(listening.into()).unwrap();
        assert_eq!(listener.local_addr(), address);
        let mut client = machine.adopt_stream(connected.into(), address).await.unwrap();
        let mut server = listener.accept().await.unwrap();
        assert_eq!(server.peer_addr(), client.local_addr());
        client.write_all(b"there").await.unwrap();
        client.close().await.unwrap();
        let mut text = String::new();
        server.read_to_string(&mut text).await.unwrap();
        text
    });
    assert_eq!(text.unwrap(), "there");
}
