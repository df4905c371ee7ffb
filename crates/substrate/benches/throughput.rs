//! How fast the virtual substrate is: packets per second of processor time, the memory of a long
//! transfer, and whether many hosts cost more than few.
//!
//! `cargo bench -p trackbed-substrate` prints one line for each measurement; arguments choose some
//! of them by name.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
use support::{CLIENT, SERVER, address, echo, link, measure, pair, receive_into, seed, send};
use trackbed_core::{Bitrate, Time};
use trackbed_net::{Direction, Duplex, End, Network, NetworkBuilder};
use trackbed_substrate::simulated::{Hosts, Simulation};
use trackbed_substrate::{Host, TcpOptions, spawn};

fn main() {
    measure(&[("udp", udp_echo), ("tcp", tcp_bulk), ("memory", tcp_memory), ("scale", scale)]);
}

/// One client keeps 64 datagrams of 1,200 bytes in flight to an echo server and back.
fn udp_echo() {
    let network = pair(Bitrate::from_mbps(10_000), Duration::from_millis(1));
    let (packets, seconds) = timed(network, |hosts| async move {
        let server = hosts.get("server").unwrap().bind_udp(address(SERVER, 7)).unwrap();
        spawn(echo(server)).detach();
        let socket = hosts.get("client").unwrap().bind_udp(address(CLIENT, 0)).unwrap();
        let mut buffer = vec![0; 2_048];
        for round in 0..500_000 {
            send(&*socket, address(SERVER, 7), &[0; 1_200]).await.unwrap();
            if round >= 64 {
                receive_into(&*socket, &mut buffer).await.unwrap();
            }
        }
    });
    report("UDP echo, 1,200 B", packets, seconds);
}

/// 1 GB through a link of 1 Gbit/s and 10 ms each way.
fn tcp_bulk() {
    let network = pair(Bitrate::from_mbps(1_000), Duration::from_millis(10));
    let (packets, seconds) = timed(network, |hosts| transfer(hosts, 1_000_000_000));
    report("TCP, 1 GB", packets, seconds);
}

/// The highest memory use of the process with a transfer of 10 MB and of 1 GB.
fn tcp_memory() {
    for bytes in [10_000_000, 1_000_000_000] {
        let network = pair(Bitrate::from_mbps(1_000), Duration::from_millis(10));
        Simulation::new().run(seed(), network, |hosts| transfer(hosts, bytes)).unwrap();
        println!("TCP, {} MB: peak memory {} MiB", bytes / 1_000_000, peak_mib());
    }
}

/// Phones behind one server, all at once: each sends it fifty messages of 355 bytes as datagrams
/// and fifty over a TCP connection, and gets each back. 20,000 phones in all, in runs of few and
/// of many.
fn scale() {
    for phones in [100, 1_000, 10_000] {
        let before = peak_mib();
        let runs = 20_000 / phones;
        let (mut packets, mut seconds) = (0, 0.0);
        for _ in 0..runs {
            let run = timed(star(phones), |hosts| serve_phones(hosts, phones));
            packets += run.0;
            seconds += run.1;
        }
        let each = seconds / f64::from(phones * runs) * 1e6;
        println!("{phones} phones: {each:.0} us each, {} MiB more memory", peak_mib() - before);
        report("  of them", packets, seconds);
    }
}

async fn transfer(hosts: Hosts, bytes: usize) {
    let options = TcpOptions::default();
    let listener = hosts.get("server").unwrap().listen_tcp(address(SERVER, 80), &options).unwrap();
    let reader = spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        let mut buffer = vec![0; 65_536];
        let mut total = 0;
        loop {
            match stream.read(&mut buffer).await.unwrap() {
                0 => return total,
                count => total += count,
            }
        }
    });
    let client = hosts.get("client").unwrap();
    let mut stream = client.connect_tcp(None, address(SERVER, 80), &options).await.unwrap();
    let chunk = vec![7; 65_536];
    let mut left = bytes;
    while left > 0 {
        left -= stream.write(&chunk[..left.min(chunk.len())]).await.unwrap();
    }
    stream.close().await.unwrap();
    assert_eq!(reader.await, bytes);
}

async fn serve_phones(hosts: Hosts, phones: u32) {
    let server = hosts.get("server").unwrap();
    let local = server.addresses()[0];
    let listener = server.listen_tcp((local, 80).into(), &TcpOptions::default()).unwrap();
    spawn(echo(server.bind_udp((local, 7).into()).unwrap())).detach();
    spawn(async move {
        loop {
            let mut stream = listener.accept().await.unwrap();
            spawn(async move {
                let mut message = [0; MESSAGE];
                while stream.read_exact(&mut message).await.is_ok() {
                    stream.write_all(&message).await.unwrap();
                }
            })
            .detach();
        }
    })
    .detach();
    let tasks: Vec<_> = (0..phones)
        .map(|n| spawn(phone(hosts.get(&format!("phone {n}")).unwrap(), local)))
        .collect();
    for task in tasks {
        task.await;
    }
}

async fn phone(host: std::sync::Arc<dyn Host>, server: std::net::IpAddr) {
    let socket = host.bind_udp("0.0.0.0:0".parse().unwrap()).unwrap();
    let options = TcpOptions::default();
    let mut stream = host.connect_tcp(None, (server, 80).into(), &options).await.unwrap();
    let mut message = [7; MESSAGE];
    for _ in 0..50 {
        send(&*socket, (server, 7).into(), &message).await.unwrap();
        receive_into(&*socket, &mut message).await.unwrap();
        stream.write_all(&message).await.unwrap();
        stream.read_exact(&mut message).await.unwrap();
    }
}

/// In bytes.
const MESSAGE: usize = 355;

fn star(phones: u32) -> Network {
    let mut builder = NetworkBuilder::new();
    let (server, router) = (builder.host("server"), builder.router("router"));
    let core = link(Bitrate::from_mbps(100_000), Duration::from_millis(1), 1_000_000_000);
    let access = link(Bitrate::from_mbps(50), Duration::from_millis(10), 1_000_000);
    let duplex = Duplex::new(&core, &core, &seed().child("core"));
    let end = |node, address: Option<String>| {
        End::new(node, address.map(|address| address.parse().unwrap()))
    };
    builder.connect(end(server, Some("10.255.0.1".into())), end(router, None), duplex);
    for n in 0..phones {
        let phone = builder.host(format!("phone {n}"));
        let address = format!("10.{}.{}.{}", n >> 16, n >> 8 & 0xff, n & 0xff);
        let duplex = Duplex::new(&access, &access, &seed().child(&address));
        builder.connect(end(phone, Some(address)), end(router, None), duplex);
    }
    builder.build().unwrap()
}

/// Runs `main` and returns the number of packets that links delivered and the seconds of
/// processor time it took, which do not depend on what else the machine does.
fn timed<F: Future<Output = ()>>(
    network: Network,
    main: impl FnOnce(Hosts) -> F + Send,
) -> (u64, f64) {
    let start = processor_seconds();
    let simulation = Simulation::new().with_time_limit(Time::from_millis(10_000_000));
    let packets = simulation.run(seed(), network, |hosts| async move {
        main(hosts.clone()).await;
        hosts.with_network(|network| {
            let both = [Direction::Forward, Direction::Backward];
            let links = network.links().flat_map(|link| both.map(|way| (link, way)));
            links.map(|(link, way)| network.counters(link, way).delivered.packets).sum::<u64>()
        })
    });
    (packets.unwrap().unwrap(), processor_seconds() - start)
}

fn report(what: &str, packets: u64, seconds: f64) {
    let rate = packets as f64 / seconds;
    println!("{what}: {packets} packets in {seconds:.2} s, {rate:.0} packets/s");
}

/// The processor time that this process has used, in user and system mode (`utime` and `stime` of
/// proc(5), counted in hundredths of a second).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The highest resident memory of this process so far (`VmHWM` of proc(5)).
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|text| text.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0_u64) / 1_024
}
