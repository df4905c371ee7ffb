//! Drives links as the contract asks, checks that they keep it, and records what they do.

use std::net::{IpAddr, SocketAddr};

use trackbed_core::packet::UdpDatagram;
use trackbed_net::{Link, Outlet};

// The vocabulary of these tests.
pub use std::collections::VecDeque;
pub use std::time::Duration;
pub use trackbed_core::packet::Ecn;
pub use trackbed_core::{Bitrate, ByteSize, Packet, Ratio, Rng, Seed, Time};
pub use trackbed_net::models::delay::{Normal, Pareto, Timetable, Uniform};
pub use trackbed_net::models::loss::{GilbertElliott, Listed, LossTimetable};
pub use trackbed_net::models::{
    Corruption, Delay, Duplication, Flush, Loss, Outage, Pause, Rate, RateTimetable, RateTrace,
    Reordering, Spells, Trace,
};
pub use trackbed_net::queue::{Codel, DropTail, FqCodel};
pub use trackbed_net::{
    Alteration, Change, Delivery, Direction, DropReason, Duplex, End, LinkId, LinkSpec, Network,
    NetworkBuilder, NodeId, Point,
};

/// The events of packets, in the order in which the link reported them.
pub type Events = Vec<(Time, Point, Packet)>;

/// Pushes `arrivals` into a link built from `spec`, waits until it is empty, and returns its
/// events.
pub fn run(spec: &LinkSpec, arrivals: impl IntoIterator<Item = (Time, Packet)>) -> Events {
    run_with_seed(spec, 1, arrivals)
}

pub fn run_with_seed(
    spec: &LinkSpec,
    seed: u64,
    arrivals: impl IntoIterator<Item = (Time, Packet)>,
) -> Events {
    let mut driver = Driver::new(spec.build(&Seed::of_run(seed, 0)), Events::new());
    for (at, packet) in arrivals {
        driver.push(at, packet);
    }
    driver.drain();
    assert_eq!(driver.link.held(), 0, "a link that wants no wake is empty");
    driver.seen
}

/// A link and its events so far.
pub struct Driver<S> {
    pub link: Box<dyn Link>,
    pub seen: S,
    /// It ignores wakes until the next packet, as a caller that is late on a real clock.
    pub is_late: bool,
    balance: Balance,
}

/// Records the events of a link.
pub trait Sink {
    fn take(&mut self, at: Time, point: Point, packet: Packet);
}

impl Sink for Events {
    fn take(&mut self, at: Time, point: Point, packet: Packet) {
        self.push((at, point, packet));
    }
}

impl<S: Sink> Driver<S> {
    pub fn new(link: Box<dyn Link>, seen: S) -> Driver<S> {
        Driver { link, seen, is_late: false, balance: Balance::default() }
    }

    /// Advances to `at` and pushes the packet.
    pub fn push(&mut self, at: Time, packet: Packet) {
        self.advance(at);
        self.balance.entered += 1;
        self.call(at, |link, out| link.push(at, packet, out));
    }

    /// Advances to `at`, wake by wake unless it is late.
    pub fn advance(&mut self, at: Time) {
        while let Some(wake) = self.link.next_wake().filter(|wake| *wake <= at && !self.is_late) {
            self.call(wake, |link, out| link.advance(wake, out));
        }
        self.call(at, |link, out| link.advance(at, out));
    }

    /// Advances, wake by wake, until the link wants no more.
    pub fn drain(&mut self) {
        while let Some(wake) = self.link.next_wake() {
            self.call(wake, |link, out| link.advance(wake, out));
        }
    }

    fn call(&mut self, now: Time, call: impl FnOnce(&mut dyn Link, &mut dyn Outlet)) {
        let (is_late, balance) = (self.is_late, &mut self.balance);
        let mut out = Punctual { now, is_late, balance, sink: &mut self.seen };
        call(&mut *self.link, &mut out);
        assert!(self.link.next_wake().is_none_or(|wake| wake > now), "a wake lies ahead");
        let Balance { entered, left } = self.balance;
        assert_eq!(entered, left + self.link.held(), "no packet appears or vanishes unsaid");
    }
}

#[derive(Clone, Copy, Default)]
struct Balance {
    entered: usize,
    left: usize,
}

/// Checks that a link reports everything at its time.
struct Punctual<'a, S> {
    now: Time,
    is_late: bool,
    balance: &'a mut Balance,
    sink: &'a mut S,
}

impl<S: Sink> Punctual<'_, S> {
    fn take(&mut self, at: Time, point: Point, packet: Packet) {
        assert!(at == self.now || (self.is_late && at < self.now), "{at} at {}", self.now);
        self.sink.take(at, point, packet);
    }
}

impl<S: Sink> Outlet for Punctual<'_, S> {
    fn deliver(&mut self, at: Time, packet: Packet) {
        self.balance.left += 1;
        self.take(at, Point::Delivered, packet);
    }

    fn drop(&mut self, at: Time, packet: Packet, why: DropReason) {
        self.balance.left += 1;
        self.take(at, Point::Dropped(why), packet);
    }

    fn altered(&mut self, at: Time, packet: &Packet, what: Alteration) {
        self.balance.entered += usize::from(what == Alteration::Duplicated);
        self.take(at, Point::Altered(what), packet.clone());
    }
}

pub fn packet(number: u32, len: usize) -> Packet {
    packet_with(number, len, Ecn::NotCapable)
}

pub fn packet_with(number: u32, len: usize, ecn: Ecn) -> Packet {
    let mut payload = vec![0; len - 28];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    UdpDatagram::emit(socket("10.0.0.1"), socket("10.0.0.2"), ecn, &payload)
}

pub fn number(packet: &Packet) -> u32 {
    u32::from_be_bytes(packet.transport().slice(8..12)[..].try_into().unwrap())
}

/// An empty datagram of `len` bytes between two hosts.
pub fn datagram(from: &str, to: &str, len: usize) -> Packet {
    let header = if ip(from).is_ipv4() { 28 } else { 48 };
    UdpDatagram::emit(socket(from), socket(to), Ecn::NotCapable, &vec![0; len - header])
}

pub fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn socket(address: &str) -> SocketAddr {
    SocketAddr::new(ip(address), 9)
}

/// `count` packets of 1,500 bytes, numbered from 0, one every `gap` from time zero on.
pub fn every(gap: Duration, count: u32) -> impl Iterator<Item = (Time, Packet)> {
    (0..count).map(move |n| (Time::ZERO + gap * n, packet(n, 1500)))
}

/// `count` packets of 1,500 bytes at time zero.
pub fn burst(count: u32) -> impl Iterator<Item = (Time, Packet)> {
    every(Duration::ZERO, count)
}

/// The numbers of the packets at `point`, in order.
pub fn numbers(events: &Events, point: Point) -> Vec<u32> {
    events.iter().filter(|(_, at, _)| *at == point).map(|(_, _, packet)| number(packet)).collect()
}

/// The times at which packets were at `point`, in order.
pub fn times(events: &Events, point: Point) -> Vec<Time> {
    events.iter().filter(|(_, at, _)| *at == point).map(|(at, _, _)| *at).collect()
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

pub fn percent(parts: u64) -> Ratio {
    Ratio::from_parts(parts, 100)
}

/// `value` deviates from `expected` by less than this share of it.
#[track_caller]
pub fn assert_near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value}, expected {expected}");
}
