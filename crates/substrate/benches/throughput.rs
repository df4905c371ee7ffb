//! How fast the virtual substrate is: packets per second of processor time.
//!
//! `cargo bench -p trackbed-substrate` prints one line for each measurement; arguments choose some
//! of them by name.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
use support::{CLIENT, SERVER, address, echo, measure, pair, receive_into, seed, send};
use trackbed_core::{Bitrate, Time};
use trackbed_net::{Direction, Network};
use trackbed_substrate::simulated::{Hosts, Simulation};
use trackbed_substrate::{TcpOptions, spawn};

fn main() {
    measure(&[("udp", udp_echo), ("tcp", tcp_bulk)]);
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
