//! Networks for the tests.
#![allow(dead_code, unused_imports, reason = "not every test binary uses every part")]

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;

use futures_util::AsyncRead;
use trackbed_core::{ByteSize, Packet};
use trackbed_net::queue::DropTail;
use trackbed_net::{Direction, LinkId, Point, Tap};
use trackbed_substrate::simulated::parallel;

// The vocabulary of these tests.
pub use futures_util::{AsyncReadExt as _, AsyncWriteExt as _, FutureExt as _};
pub use std::cell::RefCell;
pub use std::future::{Future, pending, poll_fn};
pub use std::io::{ErrorKind, IoSliceMut};
pub use std::net::{IpAddr, SocketAddr};
pub use std::pin::Pin;
pub use std::rc::Rc;
pub use std::sync::{Arc, Mutex};
pub use std::task::Poll;
pub use std::time::Duration;
pub use trackbed_core::packet::Ecn;
pub use trackbed_core::{Bitrate, Ratio, Seed, Time};
pub use trackbed_net::models::{Delay, Loss};
pub use trackbed_net::{Duplex, End, LinkSpec, Network, NetworkBuilder};
#[cfg(target_os = "linux")]
pub use trackbed_substrate::kernel::{Execution, Origin};
pub use trackbed_substrate::simulated::{Cancel, Hosts, RunError, Simulation};
pub use trackbed_substrate::{
    Datagram, Entropy, Host, ReceivedMeta, StallReason, TcpListener, TcpOptions, TcpStream,
    UdpSocket, from_std_instant, now, sleep, sleep_until, spawn, spawn_named, to_std_instant,
    wall_clock,
};

/// The addresses of the two hosts of [`pair`].
pub const CLIENT: &str = "10.0.0.1";
pub const SERVER: &str = "10.0.0.2";

/// A link of `rate` and `delay` each way with room for `queue` bytes.
pub fn link(rate: Bitrate, delay: Duration, queue: u64) -> LinkSpec {
    LinkSpec::simple(rate, DropTail::of_bytes(ByteSize::from_bytes(queue)), delay)
}

/// Two hosts, `client` and `server`, joined by the same link in both directions.
pub fn pair_by(spec: &LinkSpec, seed: &Seed) -> Network {
    let mut builder = NetworkBuilder::default();
    let client = builder.host("client");
    let server = builder.host("server");
    let addresses =
        |n: u8| [format!("10.0.0.{n}"), format!("fd00::{n}")].map(|a| a.parse().unwrap());
    builder.connect(
        End::new(client, addresses(1)),
        End::new(server, addresses(2)),
        Duplex::new(spec, spec, &seed.child("link")),
    );
    builder.build().unwrap()
}

/// As [`pair_by`], a link that loses nothing.
pub fn pair(rate: Bitrate, delay: Duration) -> Network {
    pair_by(&link(rate, delay, 100_000_000), &seed())
}

/// The same at 10 Mbit/s, 5 ms one way.
pub fn slow_pair() -> Network {
    pair(Bitrate::from_mbps(10), Duration::from_millis(5))
}

pub fn seed() -> Seed {
    Seed::of_run(1, 0)
}

pub fn address(host: &str, port: u16) -> SocketAddr {
    SocketAddr::new(host.parse().unwrap(), port)
}

/// Runs `main` in a world without hosts.
pub fn run_alone<T: Send, F: Future<Output = T>>(main: impl FnOnce() -> F + Send) -> T {
    let network = NetworkBuilder::default().build().unwrap();
    Simulation::default().run(seed(), network, |_| main()).unwrap()
}

/// The results of all jobs, of which this many run at once.
pub fn all_of<T: Send>(
    jobs: Range<u64>,
    at_once: usize,
    job: impl Fn(&u64) -> Result<T, RunError> + Sync,
) -> BTreeMap<u64, Result<T, RunError>> {
    let mut results = BTreeMap::new();
    parallel(
        jobs,
        NonZeroUsize::new(at_once).unwrap(),
        &Cancel::default(),
        job,
        |number, result| {
            assert!(results.insert(number, result).is_none(), "{number} twice");
        },
    );
    results
}

/// When and why a run has stalled, and the diagnosis.
pub fn stalled(error: RunError) -> (Time, StallReason, String) {
    match error {
        RunError::Stalled { at, reason, diagnosis } => (at, reason, diagnosis),
        other => panic!("{other}"),
    }
}

#[track_caller]
pub fn assert_lines(diagnosis: &str, lines: &[&str]) {
    for line in lines {
        assert!(diagnosis.contains(line), "{line}\nis missing in\n{diagnosis}");
    }
}

/// Bytes in which every position differs from its neighbours.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// What comes until the end.
pub async fn read_all(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.unwrap();
    all
}

/// A single datagram without an ECN mark, from the address of its socket.
pub fn datagram(destination: SocketAddr, payload: &[u8]) -> Datagram<'_> {
    Datagram { source: None, destination, ecn: Ecn::NotCapable, payload, segment_size: None }
}

pub async fn send(socket: &dyn UdpSocket, to: SocketAddr, payload: &[u8]) -> io::Result<()> {
    send_as(socket, datagram(to, payload)).await
}

pub async fn send_as(socket: &dyn UdpSocket, datagram: Datagram<'_>) -> io::Result<()> {
    poll_fn(|cx| socket.poll_send(cx, &datagram)).await
}

pub async fn receive(socket: &dyn UdpSocket) -> io::Result<(Vec<u8>, ReceivedMeta)> {
    let mut buffer = vec![0; 2_048];
    let meta = receive_into(socket, &mut buffer).await?;
    buffer.truncate(meta.len);
    Ok((buffer, meta))
}

pub async fn receive_into(socket: &dyn UdpSocket, buffer: &mut [u8]) -> io::Result<ReceivedMeta> {
    let mut meta = [ReceivedMeta::default()];
    poll_fn(|cx| socket.poll_recv(cx, &mut [IoSliceMut::new(buffer)], &mut meta)).await?;
    Ok(meta[0])
}

/// Sends back whatever comes, to whom it came from.
pub async fn echo(socket: Box<dyn UdpSocket>) {
    let mut buffer = vec![0; 2_048];
    while let Ok(meta) = receive_into(&*socket, &mut buffer).await {
        if send(&*socket, meta.source, &buffer[..meta.len]).await.is_err() {
            return;
        }
    }
}

/// Every packet that has arrived at the end of a link.
#[derive(Clone, Default)]
pub struct Arrived(Arc<Mutex<Vec<Packet>>>);

impl Arrived {
    pub fn tap(&self) -> Option<Box<dyn Tap>> {
        Some(Box::new(self.clone()))
    }

    pub fn take(&self) -> Vec<Packet> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Tap for Arrived {
    fn see(&mut self, _: Time, _: LinkId, _: Direction, point: Point, packet: &Packet) {
        if point == Point::Delivered {
            self.0.lock().unwrap().push(packet.clone());
        }
    }
}
