//! TCP connections.

use trackbed_net::{Direction, DropReason};
use trackbed_substrate::simulated::Tick;
use trackbed_tcp::{Flags, Segment, Seq};

use crate::support::*;

const DELAY: Duration = Duration::from_millis(10);

/// A link that takes [`DELAY`] each way and nothing else, so that times are round.
fn clean() -> Network {
    pair_by(&LinkSpec::new().then(Delay::fixed(DELAY)), &seed())
}

fn run<T: Send, F: Future<Output = T>>(main: impl FnOnce(Hosts) -> F + Send) -> T {
    Simulation::default().run(seed(), clean(), main).unwrap()
}

fn client(hosts: &Hosts) -> Arc<dyn Host> {
    hosts.get("client").unwrap()
}

fn listen(hosts: &Hosts, local: SocketAddr, options: &TcpOptions) -> Box<dyn TcpListener> {
    hosts.get("server").unwrap().listen_tcp(local, options).unwrap()
}

/// A connection and its two ends: the client's and the server's.
async fn connected(
    hosts: &Hosts,
    options: &TcpOptions,
) -> (Box<dyn TcpStream>, Box<dyn TcpStream>) {
    let listener = listen(hosts, address(SERVER, 80), options);
    let ours = client(hosts).connect_tcp(None, address(SERVER, 80), options).await.unwrap();
    (ours, listener.accept().await.unwrap())
}

#[test]
fn a_connection_takes_one_round_trip_and_a_request_another() {
    for server in [address(SERVER, 80), address("fd00::2", 80)] {
        run(|hosts| async move {
            let listener = listen(&hosts, server, &TcpOptions::default());
            spawn(async move {
                let mut stream = listener.accept().await.unwrap();
                let mut request = [0; 5];
                stream.read_exact(&mut request).await.unwrap();
                stream.write_all(&request).await.unwrap();
                stream.close().await.unwrap();
            })
            .detach();
            let connect = client(&hosts).connect_tcp(None, server, &TcpOptions::default());
            let mut stream = connect.await.unwrap();
            assert_eq!(now(), Time::ZERO + 2 * DELAY);
            assert_eq!(stream.peer_addr(), server);
            assert_eq!(stream.local_addr().port(), 32_768);
            stream.write_all(b"hello").await.unwrap();
            let response = read_all(&mut stream).await;
            assert_eq!((&response[..], now()), (&b"hello"[..], Time::ZERO + 4 * DELAY));
            let info = stream.info();
            assert_eq!((info.bytes_sent, info.bytes_received), (5, 5));
            assert_eq!(info.smoothed_rtt, Some(2 * DELAY));
            assert_eq!(info.segments_retransmitted, 0);
        });
    }
}

#[test]
fn no_listener_is_a_refusal_and_no_host_a_timeout() {
    run(|hosts| async move {
        let connect = |to| client(&hosts).connect_tcp(None, to, &TcpOptions::default());
        let refused = connect(address(SERVER, 81)).await.err().unwrap();
        assert_eq!((refused.kind(), now()), (ErrorKind::ConnectionRefused, Time::ZERO + 2 * DELAY));
        assert!(refused.to_string().contains("10.0.0.2:81"), "{refused}");
        let lost = connect(address("10.9.9.9", 80)).await.err().unwrap();
        assert_eq!(lost.kind(), ErrorKind::TimedOut);
    });
}

/// Ten repetitions of a SYN, the first five a second apart, and the doubled wait after the last one take
/// 131 s by exact timers. By Linux's ticks of 4 ms they take 135 s, since long timers fire only at some of
/// them: waits of up to 2 s end at the next multiple of 8 ticks, those of 4 to 16 s at one of 64, and
/// longer ones at one of 512.
#[test]
fn timers_end_at_ticks_if_there_are_any() {
    let gives_up_at = |tick: Option<Tick>| {
        let simulation = Simulation::default().with_tick(tick);
        let attempt = |hosts| async move {
            let options = TcpOptions::default();
            let lost = client(&hosts).connect_tcp(None, address("10.9.9.9", 80), &options).await;
            assert_eq!(lost.err().unwrap().kind(), ErrorKind::TimedOut);
            now()
        };
        simulation.run(seed(), clean(), attempt).unwrap()
    };
    let tick = Tick::new(Duration::from_millis(4), Duration::ZERO);
    assert_eq!(gives_up_at(None), Time::from_millis(131_000));
    assert_eq!(gives_up_at(tick), Time::from_millis(135_168));
}

#[test]
fn what_cannot_be_is_refused_at_once() {
    run(|hosts| async move {
        let host = client(&hosts);
        let options = TcpOptions { congestion: "vegas".to_owned(), ..TcpOptions::default() };
        let unknown = host.connect_tcp(None, address(SERVER, 80), &options).await.err().unwrap();
        assert_eq!(unknown.kind(), ErrorKind::InvalidInput);
        assert!(unknown.to_string().contains("cubic, reno"), "{unknown}");
        let options = TcpOptions { send_buffer: Some(0), ..TcpOptions::default() };
        assert!(host.connect_tcp(None, address(SERVER, 80), &options).await.is_err());
        let defaults = TcpOptions::default();
        let foreign = Some(SERVER.parse().unwrap());
        let foreign = host.connect_tcp(foreign, address(SERVER, 80), &defaults).await;
        assert_eq!(foreign.err().unwrap().kind(), ErrorKind::AddrNotAvailable);
        let mixed = Some(CLIENT.parse().unwrap());
        let mixed = host.connect_tcp(mixed, address("fd00::2", 80), &defaults).await;
        assert_eq!(mixed.err().unwrap().kind(), ErrorKind::InvalidInput);
        let _first = host.listen_tcp(address(CLIENT, 80), &defaults).unwrap();
        let second = host.listen_tcp(address("0.0.0.0", 80), &defaults).err().unwrap();
        assert_eq!(second.kind(), ErrorKind::AddrInUse);
        assert_eq!(now(), Time::ZERO);
    });
}

#[test]
fn a_closed_direction_leaves_the_other_open() {
    run(|hosts| async move {
        let (mut ours, mut theirs) = connected(&hosts, &TcpOptions::default()).await;
        let server = spawn(async move {
            assert_eq!(read_all(&mut theirs).await, b"request");
            theirs.write_all(&pattern(100_000)).await.unwrap();
        });
        ours.write_all(b"request").await.unwrap();
        ours.close().await.unwrap();
        assert_eq!(ours.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(read_all(&mut ours).await, pattern(100_000));
        server.await;
    });
}

#[test]
fn a_dropped_stream_still_delivers_what_was_written() {
    run(|hosts| async move {
        let (mut ours, mut theirs) = connected(&hosts, &TcpOptions::default()).await;
        spawn(async move { ours.write_all(&pattern(500_000)).await.unwrap() }).detach();
        assert_eq!(read_all(&mut theirs).await, pattern(500_000));
    });
}

#[test]
fn unread_data_turns_a_drop_into_a_reset() {
    run(|hosts| async move {
        let (mut ours, theirs) = connected(&hosts, &TcpOptions::default()).await;
        ours.write_all(b"never read").await.unwrap();
        sleep(3 * DELAY).await;
        drop(theirs);
        assert_eq!(ours.read(&mut [0; 10]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);

        // The same if the data comes after the drop.
        let (mut ours, theirs) = connected(&hosts, &TcpOptions::default()).await;
        drop(theirs);
        ours.write_all(b"never read").await.unwrap();
        sleep(3 * DELAY).await;
        assert_eq!(ours.write_all(b"broken").await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn an_abort_is_a_reset_for_the_peer() {
    run(|hosts| async move {
        let (ours, mut theirs) = connected(&hosts, &TcpOptions::default()).await;
        ours.abort();
        assert_eq!(theirs.read(&mut [0; 10]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_writer_stalls_while_the_reader_does_not_read() {
    run(|hosts| async move {
        let options = TcpOptions {
            send_buffer: Some(50_000),
            receive_buffer: Some(60_000),
            ..TcpOptions::default()
        };
        let (mut ours, mut theirs) = connected(&hosts, &options).await;
        let data = pattern(1_000_000);
        let written = Rc::new(std::cell::Cell::new(0));
        let count = Rc::clone(&written);
        spawn(async move {
            while count.get() < data.len() {
                let taken = ours.write(&data[count.get()..]).await.unwrap();
                count.set(count.get() + taken);
            }
        })
        .detach();
        sleep(Duration::from_secs(100)).await;
        // Both buffers are full, and nothing beyond them was taken.
        assert!((50_000..=110_000).contains(&written.get()), "{} bytes", written.get());
        assert_eq!(read_all(&mut theirs).await, pattern(1_000_000));
    });
}

/// Sends `len` bytes and the end of the stream, and checks that they arrive.
async fn transfer(ours: &mut Box<dyn TcpStream>, mut theirs: Box<dyn TcpStream>, len: usize) {
    let reading = spawn(async move { assert!(read_all(&mut theirs).await == pattern(len)) });
    ours.write_all(&pattern(len)).await.unwrap();
    ours.close().await.unwrap();
    reading.await;
}

#[test]
fn a_full_backlog_delays_the_next_connection_until_its_syn_is_sent_again() {
    run(|hosts| async move {
        let options = TcpOptions { backlog: 1, ..TcpOptions::default() };
        let listener = listen(&hosts, address(SERVER, 80), &options);
        let connect = || client(&hosts).connect_tcp(None, address(SERVER, 80), &options);
        // As on Linux a backlog of one holds two.
        let _held = (connect().await.unwrap(), connect().await.unwrap());
        let before = now();
        sleep(2 * DELAY).await;
        let third = spawn(connect());
        sleep_until(before + Duration::from_millis(500)).await;
        assert!(!third.is_finished());
        let _accepted = listener.accept().await.unwrap();
        third.await.unwrap();
        // The first SYN went out with `third`; the second follows after one second.
        assert_eq!(now(), before + 2 * DELAY + Duration::from_secs(1) + 2 * DELAY);
    });
}

#[test]
fn a_listener_that_goes_resets_what_it_did_not_hand_out() {
    run(|hosts| async move {
        let listener = listen(&hosts, address(SERVER, 80), &TcpOptions::default());
        let connect = client(&hosts).connect_tcp(None, address(SERVER, 80), &TcpOptions::default());
        let mut stream = connect.await.unwrap();
        sleep(2 * DELAY).await;
        drop(listener);
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        // The port is free again.
        listen(&hosts, address(SERVER, 80), &TcpOptions::default());
    });
}

#[test]
fn a_dropped_attempt_sends_nothing_more() {
    run(|hosts| async move {
        let to = address("10.9.9.9", 80);
        let mut attempt = client(&hosts).connect_tcp(None, to, &TcpOptions::default());
        assert!(poll_fn(|cx| Poll::Ready(attempt.as_mut().poll(cx).is_pending())).await);
        let sent = || {
            let offered = hosts.with_network(|network| {
                let link = network.links().next().unwrap();
                network.counters(link, Direction::Forward).offered.packets
            });
            offered.unwrap()
        };
        assert_eq!(sent(), 1);
        drop(attempt);
        sleep(Duration::from_secs(60)).await;
        assert_eq!(sent(), 1);
    });
}

#[test]
fn connections_in_time_wait_do_not_keep_a_run_alive() {
    let end = run(|hosts| async move {
        for _ in 0..3 {
            let (mut ours, mut theirs) = connected(&hosts, &TcpOptions::default()).await;
            ours.close().await.unwrap();
            assert_eq!(theirs.read(&mut [0; 1]).await.unwrap(), 0);
            theirs.close().await.unwrap();
            assert_eq!(ours.read(&mut [0; 1]).await.unwrap(), 0);
        }
        now()
    });
    // Each: one and a half round trips until both ends are connected, and one to close.
    assert_eq!(end, Time::ZERO + 15 * DELAY);
}

#[test]
fn a_smaller_mtu_on_the_way_is_found_by_the_routers_word() {
    let mut builder = NetworkBuilder::default();
    let (client_node, server) = (builder.host("client"), builder.host("server"));
    let (near, far) = (builder.router("near"), builder.router("far"));
    let spec = LinkSpec::new().then(Delay::fixed(DELAY));
    let duplex = |name: &str| Duplex::new(&spec, &spec, &seed().child(name));
    let end = |node, address: &str| End::new(node, [address.parse().unwrap()]);
    builder.connect(end(client_node, CLIENT), End::new(near, []), duplex("first"));
    let narrow = duplex("narrow").with_mtu(1_000);
    let narrow = builder.connect(End::new(near, []), End::new(far, []), narrow);
    builder.connect(End::new(far, []), end(server, "10.1.0.2"), duplex("last"));
    let network = builder.build().unwrap();
    let main = |hosts: Hosts| async move {
        let to = address("10.1.0.2", 80);
        let listener = listen(&hosts, to, &TcpOptions::default());
        let mut ours = client(&hosts).connect_tcp(None, to, &TcpOptions::default()).await.unwrap();
        transfer(&mut ours, listener.accept().await.unwrap(), 200_000).await;
        let refused = hosts.with_network(|network| {
            network.counters(narrow, Direction::Forward).dropped(DropReason::TooBig).packets
        });
        (now(), refused.unwrap())
    };
    let (end, refused) = Simulation::default().run(seed(), network, main).unwrap();
    // The first flight is too big, and at most one more. Otherwise the transfer would never end.
    assert!((1..=20).contains(&refused), "{refused} packets");
    assert!(end < Time::from_millis(2_000), "{end}");
}

#[test]
fn loss_and_disorder_do_not_show_in_what_is_read() {
    let spec = link(Bitrate::from_mbps(20), DELAY, 60_000)
        .with(Loss::bernoulli(Ratio::from_parts(2, 100)));
    let network = pair_by(&spec, &seed());
    let retransmitted = Simulation::default().run(seed(), network, |hosts| async move {
        let (mut ours, theirs) = connected(&hosts, &TcpOptions::default()).await;
        transfer(&mut ours, theirs, 2_000_000).await;
        ours.info().segments_retransmitted
    });
    assert!(retransmitted.unwrap() > 10);
}

#[test]
fn a_peer_may_use_a_port_again_that_is_in_time_wait_here() {
    let arrived = Arrived::default();
    let mut network = clean();
    network.set_tap(arrived.tap());
    let seen = arrived.clone();
    let reused = Simulation::default().run(seed(), network, |hosts| async move {
        let listener = listen(&hosts, address(SERVER, 80), &TcpOptions::default());
        let connect = client(&hosts).connect_tcp(None, address(SERVER, 80), &TcpOptions::default());
        let mut ours = connect.await.unwrap();
        drop(listener.accept().await.unwrap());
        assert_eq!(ours.read(&mut [0; 1]).await.unwrap(), 0);
        drop(ours);
        sleep(4 * DELAY).await;
        // The server closed first, so it waits; the client's port is free and can be used again.
        let syn = seen.take().into_iter().next().unwrap();
        let syn = Segment { sequence: Seq(7), ..Segment::parse(&syn).unwrap() };
        hosts.with_network(|network| {
            network.send(now(), network.node("client").unwrap(), syn.emit());
        });
        sleep(3 * DELAY).await;
        seen.take().iter().map(|packet| Segment::parse(packet).unwrap()).collect::<Vec<_>>()
    });
    let reused = reused.unwrap();
    assert!(reused[1].has(Flags::SYN.with(Flags::ACK)), "{:?}", reused[1]);
    assert_eq!(reused[1].acknowledgment, Seq(8));
}
