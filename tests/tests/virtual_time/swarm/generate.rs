//! A random scenario for each seed.

use std::fmt::{self, Write as _};

use trackbed_connection::{Capabilities, CipherSuite, Handshake, TlsVersion, Transport};
use trackbed_core::Seed;
use trackbed_core::parameter::{Kind, Parameter};
use trackbed_protocols::{Congestion, KERNEL_CONGESTION, Protocol, congestion, registry};
use trackbed_tests::random::Dice;

use super::dice::quoted;
use super::links;

/// A random scenario, and its known properties.
pub struct Case {
    pub seed: u64,
    pub class: Class,
    pub text: String,
    pub workload: Workload,
    /// Equal seeds give equal runs. Some congestion controllers of a library draw randomness that
    /// is not from the seed; `trackbed list` names them.
    pub repeatable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// First faulty, then healed: each fault is either over in seconds or so mild that every
    /// protocol has to overcome it. The links carry the load several times within the patience of
    /// both ends. Everything has to succeed.
    Healing,
    /// Anything. It may fail, but has to report it.
    Harsh,
}

#[derive(Clone, Copy, Debug)]
pub enum Workload {
    Messages { phones: u32, count: u32, closed_loop: bool },
    Bulk { phones: u32, bytes: u64 },
    Telemetry { phones: u32 },
}

impl Case {
    pub fn new(seed: u64) -> Case {
        let mut dice = Dice(Seed::of_run(seed, 0).stream("swarm"));
        let class = dice.pick(&[Class::Healing, Class::Harsh]);
        let is_telemetry = TELEMETRY.contains(&(seed % 9));
        let (endpoint, repeatable) = endpoint(&mut dice, class, is_telemetry);
        let phones = if dice.percent(50) { 1 } else { dice.between(2, 8) as u32 };
        let links = links::generate(&mut dice, class);
        // Not those that once found a bug.
        let groups =
            if seed % 11 == 5 { "[group.one]\n[group.two]\nstart = \"50 ms\"\n" } else { "" };
        let load_seconds = if groups.is_empty() { LOAD_SECONDS } else { LOAD_SECONDS / 2 };
        let limit_bytes = match class {
            Class::Healing => (links.slowest_bits_per_s / 8).saturating_mul(load_seconds),
            Class::Harsh => u64::MAX,
        };
        let mut draft = Draft { dice, class, phones, limit_bytes, text: String::new() };
        let workload = match is_telemetry {
            true => draft.telemetry(),
            false if draft.dice.percent(60) => draft.messages(),
            false => draft.bulk(),
        };
        let Draft { text: workload_text, .. } = draft;
        let text =
            format!("seed = {seed}\nruns = 1\n{endpoint}{}{workload_text}{groups}", links.text);
        Case { seed, class, text, workload, repeatable }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "---- case {} ({:?}) ----\n{}", self.seed, self.class, self.text)
    }
}

/// The keys of the two ends, and whether the runs repeat.
fn endpoint(dice: &mut Dice, class: Class, may_lose: bool) -> (String, bool) {
    // CoAP gives up a message after four retransmissions, which is not a failure where messages may
    // be lost; it has a separate swarm for the rest (crates/protocols/tests/track/coap.rs).
    let fits = |transport: Transport| may_lose || transport != Transport::Coap;
    let protocols = registry().iter().copied();
    let persistent = protocols.filter(|one| fits(one.capabilities().transport));
    let protocol = dice.pick(&persistent.collect::<Vec<_>>());
    let can = protocol.capabilities();
    let mut text = format!("protocol = {}\n", quoted(protocol.name()));
    let mut line = |key: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key} = {value}");
    };
    if !can.tls.is_empty() {
        let (version, handshake) = security(dice, &can);
        line("tls", quoted(version.name()));
        line("handshake", quoted(handshake.name()));
        if dice.percent(60) {
            line("cipher", quoted(dice.pick(CipherSuite::ALL).name()));
        }
    }
    let mut repeatable = true;
    for key in ["congestion", "scheduler", "encapsulation"] {
        let has_engine = |word: &&str| *word != KERNEL_CONGESTION;
        let words: Vec<&str> = words(protocol, key).iter().copied().filter(has_engine).collect();
        if words.len() > 1 {
            let word = dice.pick(&words);
            line(key, quoted(word));
            let is_it = |entry: &&Congestion| entry.name == word && entry.of.fits(&can);
            repeatable &= congestion().iter().filter(is_it).all(|entry| entry.repeatable);
        }
    }
    match can.transport {
        Transport::Tcp => tcp_options(dice, &mut line),
        Transport::Coap => line("confirmable", dice.percent(70).to_string()),
        Transport::Udp | Transport::Sctp => {}
    }
    if can.multiplexed && dice.percent(25) {
        line("window", quoted(format_args!("{} B", dice.magnitude(4_000, 1_000_000))));
    }
    match class {
        Class::Healing => line("idle-timeout", quoted("180 s")),
        Class::Harsh if dice.percent(50) => {
            line("idle-timeout", quoted(format_args!("{} ms", dice.magnitude(1_000, 60_000))));
        }
        Class::Harsh => {}
    }
    (text, repeatable)
}

/// The values that a protocol accepts for a key.
fn words(protocol: &dyn Protocol, key: &str) -> &'static [&'static str] {
    match protocol.parameters().iter().find(|parameter| parameter.name == key) {
        Some(Parameter { kind: Kind::Choice(words), .. }) => words,
        _ => &[],
    }
}

fn security(dice: &mut Dice, can: &Capabilities) -> (TlsVersion, Handshake) {
    loop {
        let chosen = (dice.pick(can.tls), dice.pick(can.handshakes));
        // Early data needs TLS 1.3 (RFC 8446 section 2.3).
        if chosen != (TlsVersion::Tls12, Handshake::Early) {
            return chosen;
        }
    }
}

fn tcp_options(dice: &mut Dice, line: &mut impl FnMut(&str, String)) {
    for key in ["hystart", "ecn"] {
        if dice.percent(25) {
            line(key, dice.percent(50).to_string());
        }
    }
    for key in ["send-buffer", "receive-buffer"] {
        if dice.percent(15) {
            line(key, quoted(format_args!("{} B", dice.magnitude(4_000, 1_000_000))));
        }
    }
    if dice.percent(10) {
        line("keepalive", quoted(format_args!("{} ms", dice.magnitude(1_000, 60_000))));
    }
}

/// A workload in the making.
struct Draft {
    dice: Dice,
    class: Class,
    phones: u32,
    /// The most that the phones send altogether.
    limit_bytes: u64,
    text: String,
}

impl Draft {
    fn messages(&mut self) -> Workload {
        let phones = self.phones;
        let fitting = self.limit_bytes / u64::from(phones);
        let each = self.dice.percent(30);
        let count = self.dice.between(1, if each { 6 } else { 20 }) as u32;
        let fitting = (fitting / u64::from(count)).saturating_sub(overhead(each));
        let size = self.dice.magnitude(64, fitting.clamp(64, 20_000));
        let closed_loop = self.dice.percent(60);
        self.line("kind", quoted("messages"));
        self.line("phones", phones.to_string());
        self.line("count", count.to_string());
        self.line("size", quoted(format_args!("{size} B")));
        if !closed_loop {
            let millihertz = self.dice.magnitude(500, 100_000);
            let rate = format!("{}.{:03} /s", millihertz / 1_000, millihertz % 1_000);
            self.line("rate", quoted(rate));
        }
        if each {
            self.line("connection", quoted("each"));
        }
        if self.dice.percent(30) {
            let stagger = self.dice.between(0, 3_000);
            self.line("stagger", quoted(format_args!("{stagger} ms")));
        }
        self.timeout(60_000);
        Workload::Messages { phones, count, closed_loop }
    }

    fn bulk(&mut self) -> Workload {
        let phones = self.phones;
        let most = (self.limit_bytes.min(BULK_BYTES) / u64::from(phones)).max(1_000);
        let bytes = self.dice.magnitude(1_000, most);
        self.line("kind", quoted("bulk"));
        self.line("phones", phones.to_string());
        self.line("size", quoted(format_args!("{bytes} B")));
        let direction = self.dice.pick(&["download", "upload"]);
        self.line("direction", quoted(direction));
        self.timeout(60_000);
        for key in ["reconnections", "moves"] {
            if self.dice.percent(30) {
                let count = self.dice.between(1, 5);
                self.line(key, count.to_string());
            }
        }
        if self.dice.percent(10) {
            self.line("notice", "false".to_owned());
        }
        Workload::Bulk { phones, bytes }
    }

    /// An open loop, of which a part may be lost: whatever happens, each message is accounted for.
    fn telemetry(&mut self) -> Workload {
        let phones = self.phones;
        let seconds = self.dice.between(2, 60);
        let fitting = self.limit_bytes / u64::from(phones) / seconds;
        let size =
            self.dice.magnitude(16, fitting.saturating_sub(overhead(false)).clamp(16, 2_000));
        let most = fitting / (size + overhead(false));
        let millihertz = self.dice.magnitude(200, most.clamp(1, 20) * 1_000);
        self.line("kind", quoted("telemetry"));
        self.line("phones", phones.to_string());
        self.line("size", quoted(format_args!("{size} B")));
        self.line("duration", quoted(format_args!("{seconds} s")));
        let warm_up_ms = self.dice.between(0, seconds * 500);
        self.line("warm-up", quoted(format_args!("{warm_up_ms} ms")));
        self.line("rate", quoted(format!("{}.{:03} /s", millihertz / 1_000, millihertz % 1_000)));
        let intervals = self.dice.pick(&["periodic", "poisson", "jittered"]);
        self.line("intervals", quoted(intervals));
        if self.dice.percent(40) {
            let answer = self.dice.magnitude(1, 2_000);
            self.line("answer", quoted(format_args!("{answer} B")));
        }
        if self.dice.percent(40) {
            // Where everything has to succeed it is longer than three round trips of any link.
            let least_ms = if self.class == Class::Healing { 20_000 } else { 1_000 };
            let patience_ms = self.dice.magnitude(least_ms, 60_000);
            self.line("patience", quoted(format_args!("{patience_ms} ms")));
        }
        if self.dice.percent(30) {
            let in_flight = self.dice.magnitude(1, 100);
            self.line("in-flight", in_flight.to_string());
        }
        Workload::Telemetry { phones }
    }

    /// How long the phones wait. Where everything has to succeed it is longer than any series of
    /// unlucky retransmissions: each waits twice as long as the one before.
    fn timeout(&mut self, most_ms: u64) {
        let timeout_ms = match self.class {
            Class::Healing => 300_000,
            Class::Harsh => self.dice.magnitude(2_000, most_ms),
        };
        self.line("timeout", quoted(format_args!("{timeout_ms} ms")));
    }

    fn line(&mut self, key: &str, value: String) {
        if self.text.is_empty() {
            self.text.push_str("\n[workload]\n");
        }
        let _ = writeln!(self.text, "{key} = {value}");
    }
}

/// Bytes that a message costs beside its own: headers, and with a connection of its own the
/// handshake with its certificate.
fn overhead(each: bool) -> u64 {
    if each { 5_000 } else { 500 }
}

/// Which seeds are telemetry, by what is left of them after division by nine.
const TELEMETRY: [u64; 2] = [1, 6];

/// A healing case sends no more than the slowest link carries in this time.
const LOAD_SECONDS: u64 = 10;

/// The most that all phones transfer in bulk: what a run takes a fraction of a second for.
const BULK_BYTES: u64 = 2_000_000;
