//! Connections on several paths.

use trackbed_net::models::Rate;
use trackbed_net::queue::DropTail;
use trackbed_substrate::{Multipath, PathWish, TcpPath};

use crate::support::*;

fn client(path: u8) -> IpAddr {
    [10, path, 0, 1].into()
}

fn server(path: u8) -> IpAddr {
    [10, path, 0, 2].into()
}

/// A client with two links of 20 Mbit/s to a router, behind which the server is; the router sends by
/// destination, a host by its own address.
fn two_paths() -> Network {
    let mut builder = NetworkBuilder::default();
    let [near, far] = [builder.host("client"), builder.host("server")];
    let router = builder.router("router");
    let wire = LinkSpec::new();
    let wire = Duplex::new(&wire, &wire, &seed());
    builder.connect(End::new(router, []), End::new(far, [server(0), server(1)]), wire);
    for path in 0..2 {
        let link = LinkSpec::new()
            .with(Delay::fixed(Duration::from_millis(10 + 10 * u64::from(path))))
            .with(Rate::new(Bitrate::from_mbps(20), DropTail::of_packets(100)));
        let duplex = Duplex::new(&link, &link, &seed().child(&format!("path{path}")));
        builder.connect(End::new(near, [client(path)]), End::new(router, []), duplex);
    }
    builder.build().unwrap()
}

fn options(addresses: Vec<IpAddr>) -> TcpOptions {
    let multipath = Some(Multipath { addresses, proactive: true, ..Multipath::default() });
    TcpOptions { multipath, ..TcpOptions::default() }
}

/// Downloads `len` bytes; with what becomes of the second path on the server's side, and when.
/// Returns when the last byte came, and the server's view of the paths then.
fn download(
    client_options: TcpOptions,
    server_options: TcpOptions,
    len: usize,
    wish: Option<(Duration, PathWish)>,
) -> (Time, Vec<TcpPath>) {
    let main = |hosts: Hosts| async move {
        let address = SocketAddr::new(server(0), 80);
        let listener = hosts.get("server").unwrap().listen_tcp(address, &server_options).unwrap();
        let client_host = hosts.get("client").unwrap();
        let sender = spawn(async move {
            let mut stream = listener.accept().await.unwrap();
            let mut question = [0; 1];
            stream.read_exact(&mut question).await.unwrap();
            let mut left = len;
            let mut wish = wish;
            while left > 0 {
                if let Some((at, what)) = wish
                    && now() >= Time::ZERO + at
                {
                    assert!(stream.set_path(client(1), what) || stream.set_path(server(1), what));
                    wish = None;
                }
                let part = left.min(10_000);
                stream.write_all(&vec![7; part]).await.unwrap();
                left -= part;
            }
            let paths = stream.paths();
            stream.close().await.unwrap();
            // The connection closes in the background if its stream is dropped.
            sleep(Duration::from_secs(5)).await;
            paths
        });
        let mut stream = client_host.connect_tcp(None, address, &client_options).await.unwrap();
        stream.write_all(b"?").await.unwrap();
        assert_eq!(read_all(&mut stream).await, vec![7; len]);
        let at = now();
        (at, sender.await)
    };
    Simulation::default().run(seed(), two_paths(), main).unwrap()
}

#[test]
fn two_paths_carry_what_one_cannot() {
    let len = 10_000_000;
    let (one, paths) = download(TcpOptions::default(), options(vec![]), len, None);
    assert!(paths.is_empty() || paths.len() == 1, "{paths:?}");
    let (two, paths) = download(options(vec![client(1)]), options(vec![]), len, None);
    assert_eq!(paths.len(), 2, "{paths:?}");
    let (one, two) = (one.as_secs_f64(), two.as_secs_f64());
    assert!(two < 0.6 * one, "{two} and {one} s");
}

#[test]
fn an_address_that_the_server_announces_is_joined() {
    let (_, paths) = download(options(vec![]), options(vec![server(1)]), 1_000_000, None);
    let locals: Vec<IpAddr> = paths.iter().map(|path| path.local.ip()).collect();
    assert_eq!(locals, [server(0), server(1)]);
}

#[test]
fn a_blocked_path_gets_nothing_and_a_backup_neither() {
    let at = Duration::from_millis(500);
    for wish in [PathWish::Blocked(true), PathWish::Backup(true)] {
        let ends = (options(vec![client(1)]), options(vec![]));
        let (_, paths) = download(ends.0, ends.1, 10_000_000, Some((at, wish)));
        let sent: Vec<u64> = paths.iter().map(|path| path.info.bytes_sent).collect();
        // Half a second at 20 Mbit/s, slow start included.
        assert!(sent[1] < 1_400_000 && sent[0] > 7_000_000, "{wish:?}: {sent:?}");
    }
}

#[test]
fn a_peer_with_one_path_is_spoken_to_in_plain_tcp() {
    let (_, paths) = download(options(vec![client(1)]), TcpOptions::default(), 100_000, None);
    assert!(paths.is_empty(), "{paths:?}");
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let run = || download(options(vec![client(1)]), options(vec![]), 3_000_000, None).0;
    assert_eq!(run(), run());
}

#[test]
fn an_unknown_scheduler_is_refused_with_those_that_are_known() {
    let main = |hosts: Hosts| async move {
        let multipath = Multipath { scheduler: "fate".to_owned(), ..Multipath::default() };
        let options = TcpOptions { multipath: Some(multipath), ..TcpOptions::default() };
        let address = SocketAddr::new(server(0), 80);
        let connect = hosts.get("client").unwrap().connect_tcp(None, address, &options).await;
        connect.err().expect("there is no such scheduler").to_string()
    };
    let refusal = Simulation::default().run(seed(), two_paths(), main).unwrap();
    assert!(refusal.contains("fate") && refusal.contains("minrtt"), "{refusal}");
}
