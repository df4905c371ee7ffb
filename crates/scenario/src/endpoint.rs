//! The two ends of a cell: what the chosen protocol can do, and what it has no use for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use trackbed_connection::{Capabilities, CipherSuite, Handshake, TlsVersion, Transport};
use trackbed_core::ByteSize;
use trackbed_core::parameter::{Kind, Parameter};
use trackbed_protocols::{
    CoapParameters, Congestion, Encapsulation, NONE, Protocol, TransportParameters, congestion,
    quic_schedulers, registry,
};
use trackbed_substrate::Multipath;
use trackbed_tcp::schedulers;

use crate::ends::{Refusal, Resolved, Settings};
use crate::foreign;
use crate::inference_keys;
use crate::ip::IpVersion;
use crate::mqtt;
use crate::plan::{Endpoint, Programs};
use crate::programs;
use crate::silence;
use crate::spec::Spec;

/// The ends where axis `i` stands at `selection[i]`; `None` if no protocol is said and one of them
/// needs it.
pub(crate) fn resolve(spec: &Spec, selection: &[usize]) -> Option<Result<Resolved, Refusal>> {
    let settings = Settings { spec, selection };
    if silence::holds(spec) {
        return Some(Ok(silence::ends(keys())));
    }
    let protocol = match settings.word("protocol") {
        Some(name) => trackbed_protocols::find(name)?,
        None if programs::need_no_protocol(spec) => foreign::PROTOCOL,
        None => return None,
    };
    Some(settings.endpoint(protocol))
}

/// Every key of the ends.
fn keys() -> Vec<&'static str> {
    let all = [&parameters()[..], &mqtt::parameters(), &programs::parameters()].concat();
    all.iter().map(|parameter| parameter.name).collect()
}

/// What the user should know about runs with this end, if there is anything.
pub(crate) fn warning(endpoint: &Endpoint) -> Option<String> {
    let is_used = |entry: &&Congestion| {
        entry.of.fits(&endpoint.protocol.capabilities())
            && entry.name == endpoint.transport.congestion
    };
    let used = congestion().iter().find(is_used)?;
    (!used.repeatable).then(|| {
        format!(
            "the runs of {} with {} differ a little each time: not all of its randomness comes \
             from the seed",
            endpoint.protocol.name(),
            used.name
        )
    })
}

/// What a key's factor is in the cells of an end that has no use for it.
pub(crate) fn ignored_factor(path: &str, endpoint: &Endpoint) -> &'static str {
    match path {
        _ if silence::is_between(endpoint) => "none",
        // Without tickets every connection is a new one.
        "handshake" => Handshake::New.name(),
        // SCTP and CoAP have one congestion control each, which their specifications describe.
        "congestion" => match endpoint.protocol.capabilities().transport {
            Transport::Coap => "rfc7252",
            Transport::Tcp | Transport::Udp | Transport::Sctp => "rfc9260",
        },
        _ => "none",
    }
}

/// The keys that tell cells apart even where they have one value.
pub(crate) const FACTORS: [&str; 9] = [
    "protocol",
    "tls",
    "handshake",
    "cipher",
    "congestion",
    "scheduler",
    "server",
    "client",
    inference_keys::KIND,
];

impl Settings<'_> {
    fn endpoint(&self, protocol: &'static dyn Protocol) -> Result<Resolved, Refusal> {
        let can = protocol.capabilities();
        let programs = programs::resolve(self, protocol)?;
        let foreign = programs.server.is_some() && programs.client.is_some();
        let tls = self.tls(protocol.name(), &can, foreign)?;
        let handshake = self.handshake(protocol.name(), &can, tls)?;
        let cipher = self.word("cipher").and_then(CipherSuite::from_name);
        let mut transport = self.transport(protocol.name(), &can)?;
        transport.mqtt = mqtt::parameters_of(self, &programs)?;
        let cipher = cipher.filter(|_| tls.is_some() || foreign);
        let mut ignored = ignored(&can);
        ignored.extend(mqtt::ignored(protocol));
        ignored.extend(programs::ignored(self, &programs));
        let ip = self.ip(&programs)?;
        let endpoint = Endpoint { protocol, ip, tls, handshake, cipher, transport, programs };
        programs::check(&endpoint)?;
        Ok(Resolved { endpoint, ignored })
    }

    /// The version; between two `foreign` ends, which agree as they like, only if it is said.
    fn tls(
        &self,
        protocol: &str,
        can: &Capabilities,
        foreign: bool,
    ) -> Result<Option<TlsVersion>, Refusal> {
        let newest = can.tls.iter().copied().max();
        let wanted = self.word("tls").and_then(TlsVersion::from_name);
        match wanted {
            Some(version) if newest.is_some() && !can.tls.contains(&version) => {
                let versions: Vec<&str> = can.tls.iter().map(|version| version.name()).collect();
                let why = format!("{protocol} runs over TLS {} only", versions.join(" and "));
                Err(Refusal { path: "tls", why })
            }
            wanted if foreign => Ok(wanted),
            wanted => Ok(newest.map(|newest| wanted.unwrap_or(newest))),
        }
    }

    fn ip(&self, programs: &Programs) -> Result<IpVersion, Refusal> {
        let ip = self.word("ip").and_then(IpVersion::from_name).unwrap_or_default();
        if ip == IpVersion::V6 && !programs.is_empty() {
            let why = "programs of others are run over IPv4 only".to_owned();
            return Err(Refusal { path: "ip", why });
        }
        Ok(ip)
    }

    fn handshake(
        &self,
        protocol: &str,
        can: &Capabilities,
        tls: Option<TlsVersion>,
    ) -> Result<Handshake, Refusal> {
        let wanted = self.word("handshake").and_then(Handshake::from_name);
        let wanted = wanted.filter(|_| tls.is_some()).unwrap_or_default();
        let refuse = |why| Err(Refusal { path: "handshake", why });
        if wanted == Handshake::Early && tls == Some(TlsVersion::Tls12) {
            return refuse("early data needs TLS 1.3 (RFC 8446 section 2.3)".to_owned());
        }
        if tls.is_some() && !can.handshakes.contains(&wanted) {
            let known: Vec<&str> = can.handshakes.iter().map(|known| known.name()).collect();
            let why = format!(
                "{protocol} knows no handshake {}; it has {}",
                wanted.name(),
                known.join(", ")
            );
            return refuse(why);
        }
        Ok(wanted)
    }

    fn transport(
        &self,
        protocol: &str,
        can: &Capabilities,
    ) -> Result<TransportParameters, Refusal> {
        let known = congestion().iter().filter(|entry| entry.of.fits(can));
        let known: Vec<&str> = known.map(|entry| entry.name).collect();
        let mut transport = TransportParameters::default();
        let has_choice = matches!(can.transport, Transport::Tcp | Transport::Udp);
        let choosable = self.word("congestion").filter(|_| has_choice);
        if let Some(chosen) = choosable {
            if !known.contains(&chosen) {
                let why = format!(
                    "{protocol} has no congestion control {chosen}; it has {}",
                    known.join(", ")
                );
                return Err(Refusal { path: "congestion", why });
            }
            transport.congestion = chosen.to_owned();
        }
        let bytes = |path: &str| {
            let size: ByteSize = self.get(path)?;
            Some(usize::try_from(size.as_bytes()).unwrap_or(usize::MAX))
        };
        let tcp = &mut transport.tcp;
        tcp.hystart = self.get("hystart").unwrap_or(tcp.hystart);
        tcp.ecn = self.get("ecn").or(tcp.ecn);
        tcp.send_buffer = bytes("send-buffer").or(tcp.send_buffer);
        tcp.receive_buffer = bytes("receive-buffer").or(tcp.receive_buffer);
        tcp.keepalive = self.get("keepalive").or(tcp.keepalive);
        if can.multipath {
            tcp.multipath = Some(self.multipath(protocol, can)?);
        }
        let encapsulation = self.word("encapsulation").and_then(Encapsulation::from_name);
        transport.encapsulation = encapsulation.unwrap_or_default();
        let is_dtls = can.transport == Transport::Sctp && !can.tls.is_empty();
        if is_dtls && transport.encapsulation == Encapsulation::None {
            let why = format!("{protocol} comes in UDP; encapsulation none is for sctp");
            return Err(Refusal { path: "encapsulation", why });
        }
        if can.transport == Transport::Coap {
            transport.coap = self.coap()?;
        }
        transport.idle_timeout = self.get("idle-timeout").unwrap_or(transport.idle_timeout);
        if let Some(window) = bytes("window") {
            transport.window = u32::try_from(window).map_err(|_| Refusal {
                path: "window",
                why: "a window is at most 4294967295 B".to_owned(),
            })?;
        }
        Ok(transport)
    }

    fn coap(&self) -> Result<CoapParameters, Refusal> {
        let defaults = CoapParameters::default();
        let block_size: Option<ByteSize> = self.get("block-size");
        let block_size = block_size.map_or(defaults.block_size.into(), ByteSize::as_bytes);
        if !block_size.is_power_of_two() || !(16..=1_024).contains(&block_size) {
            let why = format!(
                "a block has 16, 32, 64, 128, 256, 512 or 1024 B (RFC 7959 section 2.2), not \
                 {block_size} B"
            );
            return Err(Refusal { path: "block-size", why });
        }
        let outstanding: Option<u64> = self.get("nstart");
        Ok(CoapParameters {
            confirmable: self.get("confirmable").unwrap_or(defaults.confirmable),
            // It is 1,024 at most.
            block_size: block_size as u16,
            outstanding_max: outstanding
                .map_or(defaults.outstanding_max, |count| count.try_into().unwrap_or(u32::MAX)),
            cookie: self.get("cookie").unwrap_or(defaults.cookie),
        })
    }

    /// How several paths are used; which there are, is a matter of the host.
    fn multipath(&self, protocol: &str, can: &Capabilities) -> Result<Multipath, Refusal> {
        let defaults = Multipath::default();
        let scheduler = self.word("scheduler");
        if can.transport == Transport::Udp {
            let known: Vec<&str> = quic_schedulers().iter().map(|entry| entry.name).collect();
            let scheduler = scheduler.unwrap_or(known[0]);
            if !known.contains(&scheduler) {
                let known = known.join(", ");
                let why = format!("{protocol} has no scheduler {scheduler}; it has {known}");
                return Err(Refusal { path: "scheduler", why });
            }
            if self.word(FORESIGHT) == Some("reactive") {
                let why = format!(
                    "{protocol} leaves a silent path by itself, at its probe timeout; foresight \
                     reactive is for mptcp"
                );
                return Err(Refusal { path: FORESIGHT, why });
            }
            return Ok(Multipath { scheduler: scheduler.to_owned(), ..defaults });
        }
        Ok(Multipath {
            scheduler: scheduler.unwrap_or(SCHEDULER_OF_LINUX).to_owned(),
            opportunistic: self.get("opportunistic").unwrap_or(defaults.opportunistic),
            checksum: self.get("checksum").unwrap_or(defaults.checksum),
            ..defaults
        })
    }
}

fn ignored(can: &Capabilities) -> Vec<&'static str> {
    let mut ignored = Vec::new();
    if can.tls.is_empty() {
        ignored.extend(["tls", "handshake", "cipher"]);
    }
    if can.transport != Transport::Tcp {
        ignored.extend(["hystart", "ecn", "send-buffer", "receive-buffer", "keepalive"]);
    }
    match can.transport {
        Transport::Sctp => ignored.push("congestion"),
        Transport::Coap => ignored.extend(["congestion", "encapsulation"]),
        Transport::Tcp | Transport::Udp => ignored.push("encapsulation"),
    }
    if can.transport != Transport::Coap {
        ignored.extend(["confirmable", "block-size", "nstart"]);
    }
    if can.transport != Transport::Coap || can.tls.is_empty() {
        ignored.push("cookie");
    }
    if !can.multiplexed {
        ignored.push("window");
    }
    if !can.multipath {
        ignored.push("scheduler");
    }
    if !can.multipath || can.transport != Transport::Tcp {
        ignored.extend(["opportunistic", "checksum"]);
    }
    ignored
}

/// The keys of the two ends.
pub(crate) fn parameters() -> [Parameter; 21] {
    static PROTOCOLS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        registry().iter().chain([&NONE]).map(|protocol| protocol.name()).collect()
    });
    static TLS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| TlsVersion::ALL.iter().map(|version| version.name()).collect());
    static HANDSHAKES: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| Handshake::ALL.iter().map(|handshake| handshake.name()).collect());
    static CIPHERS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| CipherSuite::ALL.iter().map(|cipher| cipher.name()).collect());
    static ENCAPSULATIONS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| Encapsulation::ALL.iter().map(|way| way.name()).collect());
    static SCHEDULERS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| schedulers::algorithms().iter().map(|entry| entry.name()).collect());
    static CONGESTION: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let mut seen = BTreeSet::new();
        let names = congestion().iter().map(|entry| entry.name);
        names.filter(|name| seen.insert(*name)).collect()
    });
    let (protocols, tls) = (Kind::Choice(&PROTOCOLS), Kind::Choice(&TLS));
    let (handshakes, ciphers) = (Kind::Choice(&HANDSHAKES), Kind::Choice(&CIPHERS));
    let congestion = Kind::Choice(&CONGESTION);
    let encapsulations = Kind::Choice(&ENCAPSULATIONS);
    let schedulers = Kind::Choice(&SCHEDULERS);
    let (flag, size, time) = (Kind::Flag, Kind::Size, Kind::Time);
    [
        Parameter::required("protocol", protocols, PROTOCOL),
        Parameter::optional("ip", Kind::Choice(&IpVersion::NAMES), IP),
        Parameter::optional("tls", tls, "the TLS version; without it the newest there is"),
        Parameter::with_default("handshake", handshakes, "new", "how connections begin"),
        Parameter::optional("cipher", ciphers, "the cipher; without it the ends agree"),
        Parameter::with_default("congestion", congestion, "cubic", "the congestion control"),
        Parameter::with_default("scheduler", schedulers, SCHEDULER_OF_LINUX, SCHEDULER),
        Parameter::with_default("opportunistic", flag, "false", OPPORTUNISTIC),
        Parameter::with_default("checksum", flag, "false", CHECKSUM),
        Parameter::with_default("encapsulation", encapsulations, "udp", ENCAPSULATION),
        Parameter::with_default("confirmable", flag, "true", CONFIRMABLE),
        Parameter::with_default("block-size", size, "1024 B", BLOCK_SIZE),
        Parameter::with_default("nstart", Kind::Count { min: 1 }, "1", NSTART),
        Parameter::with_default("cookie", flag, "false", COOKIE),
        Parameter::with_default("hystart", flag, "true", HYSTART),
        Parameter::optional("ecn", flag, ECN),
        Parameter::optional("send-buffer", size, "TCP: the send buffer; else the stack's"),
        Parameter::optional("receive-buffer", size, "TCP: the receive buffer; likewise"),
        Parameter::optional("keepalive", time, "TCP: probe after so long; else never"),
        Parameter::with_default("window", size, "64 MiB", WINDOW),
        Parameter::with_default("idle-timeout", time, "30 s", IDLE_TIMEOUT),
    ]
}

const PROTOCOL: &str = "what is compared; none is nothing at all, with the workload idle";
const IP: &str = "the version of IP; 4 unless it is said";
const HYSTART: &str = "TCP: CUBIC leaves slow start when the delay grows";
const ECN: &str = "TCP: ask for congestion notification; else answer who asks";
const SCHEDULER: &str = "MPTCP, mpquic: which path carries the next data; the kernel has linux alone, \
     mpquic has minrtt (unless it is said) and roundrobin";
/// Who foresees what a radio does to paths.
const FORESIGHT: &str = "radio.foresight";
/// The one that every stack has.
pub const SCHEDULER_OF_LINUX: &str = "linux";
const OPPORTUNISTIC: &str = "MPTCP: opportunistic retransmission and penalisation";
const CHECKSUM: &str = "MPTCP: checksums over the data (RFC 8684 section 3.3.1)";
const ENCAPSULATION: &str = "SCTP: what carries its packets";
const CONFIRMABLE: &str = "CoAP: requests are sent again until they are acknowledged";
const BLOCK_SIZE: &str =
    "CoAP: the most bytes in a block of a body, a power of two from 16 to 1024";
const NSTART: &str = "CoAP: how many requests of a client may be outstanding";
const COOKIE: &str =
    "DTLS 1.3: the server asks every client of CoAP for a cookie first, as over 1.2";
const WINDOW: &str = "HTTP/2, QUIC, SCTP: the flow control window of a stream and a connection";
const IDLE_TIMEOUT: &str = "how long nothing may arrive before a connection is given up";
