//! The keys of a scenario's ends: groups from which each protocol lists the ones it supports, and
//! what their values set.

use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::time::Duration;

use trackbed_connection::{CipherSuite, Handshake, TlsVersion};
use trackbed_core::parameter::{Arguments, FromValue, Kind, Parameter};
use trackbed_core::{ByteSize, Ratio};
use trackbed_substrate::{BUFFER_SIZES, Multipath};
use trackbed_tcp::config::HyStart;

use crate::config::{
    CoapParameters, Encapsulation, MqttAnswer, MqttParameters, MqttQos, MqttVersion,
    SctpParameters, TransportParameters,
};
use crate::congestion::{CongestionOf, congestion};
use crate::quic_transport::quic_schedulers;
use crate::tls_settings::client_auth;
pub use crate::tls_settings::{tls, tls_of_server};

/// The scheduler of Multipath TCP that every stack has.
pub const SCHEDULER_OF_LINUX: &str = "linux";

/// TLS and DTLS: the version, the handshake and the cipher.
pub fn security() -> Vec<Parameter> {
    const TLS: &str = "the TLS version; default: the newest version that both ends support";
    const HANDSHAKE: &str = "the handshake that opens connections";
    const CIPHER: &str = "the cipher suite; default: negotiated";
    vec![
        Parameter::optional("tls", Kind::Choice(TlsVersion::NAMES), TLS),
        Parameter::with_default("handshake", Kind::Choice(Handshake::NAMES), "new", HANDSHAKE),
        Parameter::optional("cipher", Kind::Choice(CipherSuite::NAMES), CIPHER),
    ]
}

/// Everything of DTLS.
pub fn dtls() -> Vec<Parameter> {
    [security(), vec![client_auth()]].concat()
}

/// Everything below TLS over TCP.
pub fn over_tcp() -> Vec<Parameter> {
    [congestion_for(CongestionOf::Tcp), tcp(), idle_timeout()].concat()
}

/// Everything of Multipath TCP.
pub fn over_mptcp() -> Vec<Parameter> {
    [congestion_for(CongestionOf::CoupledTcp), mptcp(), tcp(), idle_timeout()].concat()
}

/// Everything of QUIC, TLS included.
pub fn over_quic() -> Vec<Parameter> {
    [tls(), congestion_for(CongestionOf::Quic), quic(), window(), idle_timeout()].concat()
}

/// The scheduler of Multipath QUIC.
pub fn quic_scheduler() -> Vec<Parameter> {
    static NAMES: Names = LazyLock::new(|| quic_schedulers().iter().map(|s| s.name).collect());
    vec![Parameter::with_default("scheduler", Kind::Choice(&NAMES), NAMES[0], SCHEDULER)]
}

/// Everything of SCTP, in packets of `encapsulations`.
pub fn over_sctp(encapsulations: &'static [&'static str]) -> Vec<Parameter> {
    [encapsulation(encapsulations), sctp(), window(), idle_timeout()].concat()
}

/// Everything of CoAP except DTLS.
pub fn over_coap() -> Vec<Parameter> {
    [coap(), idle_timeout()].concat()
}

/// The cookie of DTLS.
pub fn cookie() -> Vec<Parameter> {
    const HELP: &str = "CoAP over DTLS 1.3: the server first requests a cookie from every client, as DTLS 1.2 \
         always does";
    vec![Parameter::with_default("cookie", Kind::Flag, "false", HELP)]
}

/// The flow control window.
pub fn window() -> Vec<Parameter> {
    const HELP: &str = "HTTP/2, QUIC, SCTP: the flow control window of a stream and a connection";
    vec![Parameter::with_default("window", Kind::Size, "64 MiB", HELP)]
}

/// MQTT.
pub fn mqtt() -> Vec<Parameter> {
    const VERSION: &str = "MQTT: the protocol version of the client";
    const QOS: &str = "MQTT: the QoS of requests and responses";
    const ANSWER: &str = "MQTT: what responds to requests: `service`, the service behind \
                          Trackbed's broker, or `echo`, the client itself, which subscribes to its \
                          own messages; default: `service`, or `echo` with a third-party broker";
    vec![
        Parameter::with_default("mqtt-version", Kind::Choice(MqttVersion::NAMES), "5", VERSION),
        Parameter::with_default("mqtt-qos", Kind::Choice(MqttQos::NAMES), "1", QOS),
        Parameter::optional("mqtt-answer", Kind::Choice(MqttAnswer::NAMES), ANSWER),
    ]
}

/// The keys that protocols share, in the order of lists.
pub(crate) fn shared() -> Vec<Parameter> {
    let ends = [tls(), congestion_for(CongestionOf::CoupledTcp), mptcp()].concat();
    let others =
        [encapsulation(Encapsulation::NAMES), sctp(), coap(), cookie(), tcp(), quic(), window()];
    [ends, others.concat(), idle_timeout(), mqtt()].concat()
}

fn congestion_for(of: CongestionOf) -> Vec<Parameter> {
    static TCP: Names = LazyLock::new(|| names_of(|of| of == CongestionOf::Tcp));
    static MPTCP: Names = LazyLock::new(|| names_of(|of| of != CongestionOf::Quic));
    static QUIC: Names = LazyLock::new(|| names_of(|of| of == CongestionOf::Quic));
    let names = Kind::Choice(match of {
        CongestionOf::Tcp => &TCP,
        CongestionOf::CoupledTcp => &MPTCP,
        CongestionOf::Quic => &QUIC,
    });
    vec![Parameter::with_default("congestion", names, "cubic", "the congestion controller")]
}

fn mptcp() -> Vec<Parameter> {
    static NAMES: Names = LazyLock::new(|| {
        trackbed_tcp::schedulers::algorithms().iter().map(|entry| entry.name).collect()
    });
    const OPPORTUNISTIC: &str = "MPTCP: opportunistic retransmission and penalisation";
    const CHECKSUM: &str = "MPTCP: checksums over the data (RFC 8684 section 3.3.1)";
    let names = Kind::Choice(&NAMES);
    vec![
        Parameter::with_default("scheduler", names, SCHEDULER_OF_LINUX, SCHEDULER),
        Parameter::with_default("opportunistic", Kind::Flag, "false", OPPORTUNISTIC),
        Parameter::with_default("checksum", Kind::Flag, "false", CHECKSUM),
    ]
}

fn encapsulation(ways: &'static [&'static str]) -> Vec<Parameter> {
    let (ways, help) = (Kind::Choice(ways), "SCTP: the encapsulation of its packets");
    vec![Parameter::with_default("encapsulation", ways, "udp", help)]
}

fn sctp() -> Vec<Parameter> {
    const RTO_INITIAL: &str = "SCTP: the retransmission timeout before the first round-trip time \
                               sample; also for the handshake";
    const RTO_MAX: &str = "SCTP: the maximum retransmission timeout";
    const MAX_BURST: &str =
        "SCTP: the maximum burst of packets sent in response to an acknowledgment or a message";
    const SACK_DELAY: &str = "SCTP: the maximum delay of an acknowledgment, 1 ms to 500 ms";
    const IMMEDIATE_SACK: &str = "SCTP: request immediate acknowledgments while the congestion \
                                  window is below ten packets (RFC 7053)";
    vec![
        Parameter::with_default("rto-initial", Kind::Time, "1 s", RTO_INITIAL),
        rto_min(),
        Parameter::with_default("rto-max", Kind::Time, "60 s", RTO_MAX),
        Parameter::with_default("max-burst", Kind::Count { min: 1 }, "4", MAX_BURST),
        initial_window(),
        Parameter::with_default("sack-delay", Kind::Time, "200 ms", SACK_DELAY),
        Parameter::with_default("immediate-sack", Kind::Flag, "true", IMMEDIATE_SACK),
    ]
}

fn coap() -> Vec<Parameter> {
    const CONFIRMABLE: &str = "CoAP: retransmit requests until they are acknowledged";
    const BLOCK_SIZE: &str =
        "CoAP: the maximum block size of a body, a power of two from 16 to 1024";
    const BLOCK_WISE: &str = "CoAP: send a request's body in blocks; if false, in one message of \
                              up to 8192 B, fragmented by IP if necessary";
    const NSTART: &str = "CoAP: the maximum number of outstanding requests per client";
    vec![
        Parameter::with_default("confirmable", Kind::Flag, "true", CONFIRMABLE),
        Parameter::with_default("block-size", Kind::Size, "1024 B", BLOCK_SIZE),
        Parameter::with_default("block-wise", Kind::Flag, "true", BLOCK_WISE),
        Parameter::with_default("nstart", Kind::Count { min: 1 }, "1", NSTART),
    ]
}

/// QUIC settings of other implementations.
fn quic() -> Vec<Parameter> {
    const BETA: &str = "QUIC: the share of the congestion window kept after a loss; default: 70 % with cubic, 50 \
         % with reno";
    const PACKET_SIZE: &str = "QUIC: a fixed datagram size, 1200 B to 65527 B, without path MTU \
                               discovery; 0 B: with discovery, the default";
    const REORDERING: &str = "QUIC: a packet is lost when one sent so many later is acknowledged (RFC 9002 \
                              section 6.1.1); 0: as many as came between yet, also in time, as RACK";
    vec![
        initial_window(),
        Parameter::optional("beta", Kind::Share, BETA),
        Parameter::optional("hystart", Kind::Choice(HyStart::NAMES), HYSTART),
        Parameter::optional("packet-size", Kind::Size, PACKET_SIZE),
        Parameter::with_default("reordering-threshold", Kind::Count { min: 0 }, "3", REORDERING),
    ]
}

fn initial_window() -> Parameter {
    const HELP: &str =
        "TCP, QUIC, SCTP: the initial congestion window in packets; default: ten (QUIC: 12000 B)";
    Parameter::optional("initial-window", Kind::Count { min: 1 }, HELP)
}

fn rto_min() -> Parameter {
    const HELP: &str = "TCP: the minimum margin of the retransmission timeout above the smoothed \
                        round-trip time; default: 200 ms. SCTP: the minimum timeout; default: 1 s";
    Parameter::optional("rto-min", Kind::Time, HELP)
}

/// The options of TCP's stack.
pub fn tcp() -> Vec<Parameter> {
    const ECN: &str = "TCP: request ECN (explicit congestion notification); default: accept it when the peer \
         requests it";
    const SEND_BUFFER: &str =
        "TCP: the size of the send buffer, 2304 B to 1 GiB; default: the stack's";
    const RECEIVE_BUFFER: &str =
        "TCP: the size of the receive buffer, 2304 B to 1 GiB; default: the stack's";
    const KEEPALIVE: &str = "TCP: the idle time before keepalive probes; default: no probes";
    const MSS: &str = "TCP: the maximum segment size, options included, 536 B to 65495 B; default: from the \
         link's MTU";
    const SACK: &str = "TCP: selective acknowledgments and RACK-TLP; default: true";
    vec![
        Parameter::with_default("hystart", Kind::Choice(HyStart::NAMES), "true", HYSTART),
        Parameter::optional("ecn", Kind::Flag, ECN),
        Parameter::optional("send-buffer", Kind::Size, SEND_BUFFER),
        Parameter::optional("receive-buffer", Kind::Size, RECEIVE_BUFFER),
        Parameter::optional("keepalive", Kind::Time, KEEPALIVE),
        initial_window(),
        Parameter::optional("mss", Kind::Size, MSS),
        Parameter::optional("sack", Kind::Flag, SACK),
        rto_min(),
    ]
}

const HYSTART: &str = "CUBIC (over QUIC also Reno) leaves slow start when the delay grows: true: at once, as \
                       Linux over TCP and Chromium over QUIC; rfc9406: as HyStart++; default over QUIC: false";

/// The idle timeout, which every protocol has.
pub fn idle_timeout() -> Vec<Parameter> {
    const HELP: &str = "a connection is closed when nothing arrives for this long; other protocols \
                        than QUIC only count while they wait for an answer; default: 30 s over \
                        QUIC, otherwise none";
    vec![Parameter::optional("idle-timeout", Kind::Time, HELP)]
}

const SCHEDULER: &str = "MPTCP, mpquic: which path carries the next data; the kernel supports only \
     linux; mpquic supports minrtt (its default) and roundrobin";

type Names = LazyLock<Vec<&'static str>>;

fn names_of(is_wanted: impl Fn(CongestionOf) -> bool) -> Vec<&'static str> {
    congestion().iter().filter(|entry| is_wanted(entry.of)).map(|entry| entry.name).collect()
}

/// A value of the right kind that the protocol does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// The parameter.
    pub parameter: &'static str,
    /// What is wrong, and what to write.
    pub why: String,
}

impl TransportParameters {
    /// The settings from the values of a protocol's [`parameters`](crate::Protocol::parameters);
    /// defaults for parameters that it does not list.
    ///
    /// # Errors
    /// If a value is beyond what the protocol allows.
    pub fn read(arguments: &Arguments) -> Result<TransportParameters, ParameterError> {
        let mut transport =
            TransportParameters { arguments: arguments.clone(), ..TransportParameters::default() };
        let congestion = arguments.get::<&str>("congestion");
        transport.congestion = congestion.map_or(transport.congestion, str::to_owned);
        let tcp = &mut transport.tcp;
        tcp.hystart = arguments.get("hystart").and_then(HyStart::from_name).unwrap_or(tcp.hystart);
        tcp.ecn = arguments.get("ecn");
        let buffer = |name| Ok(bytes_in(arguments, name, BUFFER_SIZES)?.map(|size| size as usize));
        tcp.send_buffer = buffer("send-buffer")?;
        tcp.receive_buffer = buffer("receive-buffer")?;
        let is_zero = |name: &&&str| arguments.get(name) == Some(Duration::ZERO);
        if let Some(name) = ["keepalive", "idle-timeout"].iter().find(is_zero) {
            return refuse(name, "no connection would last: write a time above 0 ms");
        }
        tcp.keepalive = arguments.get("keepalive");
        tcp.initial_window = arguments.get("initial-window").map(small);
        tcp.mss = bytes_in(arguments, "mss", MSS_MIN..=MSS_MAX)?;
        tcp.rto_min = arguments.get("rto-min");
        set(arguments, "sack", &mut tcp.sack);
        if arguments.get::<ByteSize>("packet-size").is_some_and(|size| size.as_bytes() > 0) {
            bytes_in(arguments, "packet-size", PACKET_MIN..=PACKET_MAX)?;
        }
        if let Some(beta) = arguments.get::<Ratio>("beta").map(Ratio::as_f64)
            && !(beta > 0.0 && beta < 1.0)
        {
            let why =
                "the share kept after a loss must be above 0 % and below 100 %: write 50 % or 0.7";
            return refuse("beta", why);
        }
        let tuned = [
            ("initial-window", arguments.get::<u64>("initial-window").is_some()),
            ("beta", arguments.get::<Ratio>("beta").is_some()),
            ("hystart", arguments.get::<&str>("hystart").is_some()),
        ];
        let ignored = tuned.into_iter().find(|(_, is_set)| *is_set && transport.congestion == BBR);
        if let Some((parameter, _)) = ignored {
            let why =
                format!("{BBR} ignores this key: remove it, or set congestion to cubic or reno");
            return refuse(parameter, why);
        }
        tcp.multipath = arguments.get::<&str>("scheduler").map(|scheduler| {
            let mut multipath =
                Multipath { scheduler: scheduler.to_owned(), ..Multipath::default() };
            set(arguments, "opportunistic", &mut multipath.opportunistic);
            set(arguments, "checksum", &mut multipath.checksum);
            multipath
        });
        transport.encapsulation = named(arguments, "encapsulation", Encapsulation::from_name);
        transport.sctp = SctpParameters::read(arguments)?;
        transport.coap = CoapParameters::read(arguments)?;
        transport.mqtt = MqttParameters {
            version: named(arguments, "mqtt-version", MqttVersion::from_name),
            qos: named(arguments, "mqtt-qos", MqttQos::from_name),
            answer: named(arguments, "mqtt-answer", MqttAnswer::from_name),
        };
        transport.idle_timeout = arguments.get("idle-timeout");
        if let Some(window) = bytes(arguments, "window") {
            transport.window = u32::try_from(window)
                .or_else(|_| refuse("window", "the maximum window is 4294967295 B"))?;
        }
        Ok(transport)
    }
}

impl SctpParameters {
    fn read(arguments: &Arguments) -> Result<SctpParameters, ParameterError> {
        let mut sctp = SctpParameters::default();
        // SCTP's bounds do not apply to TCP's `rto-min`.
        let Some(rto_initial) = arguments.get("rto-initial") else { return Ok(sctp) };
        sctp.rto_initial = rto_initial;
        set(arguments, "rto-min", &mut sctp.rto_min);
        set(arguments, "rto-max", &mut sctp.rto_max);
        set(arguments, "sack-delay", &mut sctp.sack_delay);
        set(arguments, "immediate-sack", &mut sctp.immediate_sack);
        sctp.max_burst = arguments.get("max-burst").map_or(sctp.max_burst, small);
        sctp.initial_window = arguments.get("initial-window").map_or(sctp.initial_window, small);
        if sctp.rto_min < MILLISECOND {
            return refuse("rto-min", "the minimum retransmission timeout is 1 ms");
        }
        if !(sctp.rto_min..=sctp.rto_max).contains(&sctp.rto_initial) {
            return refuse("rto-initial", "it must be between `rto-min` and `rto-max`");
        }
        if !(MILLISECOND..=SACK_DELAY_MAX).contains(&sctp.sack_delay) {
            return refuse("sack-delay", "it must be 1 ms to 500 ms (RFC 9260 section 6.2)");
        }
        Ok(sctp)
    }
}

impl CoapParameters {
    fn read(arguments: &Arguments) -> Result<CoapParameters, ParameterError> {
        let mut coap = CoapParameters::default();
        set(arguments, "confirmable", &mut coap.confirmable);
        set(arguments, "cookie", &mut coap.cookie);
        set(arguments, "block-wise", &mut coap.block_wise);
        if let Some(block) = bytes(arguments, "block-size") {
            if !block.is_power_of_two() || !(16..=1_024).contains(&block) {
                let why = format!(
                    "a block size must be 16, 32, 64, 128, 256, 512 or 1024 B (RFC 7959 section \
                     2.2), not {block} B"
                );
                return refuse("block-size", why);
            }
            // It is 1,024 at most.
            coap.block_size = block as u16;
        }
        if let Some(count) = arguments.get::<u64>("nstart") {
            coap.outstanding_max = small(count);
        }
        Ok(coap)
    }
}

/// Sets `field` if the protocol has such a parameter, and it has a value.
fn set<T: FromValue>(arguments: &Arguments, name: &str, field: &mut T) {
    if let Some(value) = arguments.get(name) {
        *field = value;
    }
}

/// The value that `name` selects by its name, or the default.
fn named<T: Default>(arguments: &Arguments, name: &str, from: fn(&str) -> Option<T>) -> T {
    arguments.get(name).and_then(from).unwrap_or_default()
}

/// A size within `range`.
pub(crate) fn bytes_in(
    arguments: &Arguments,
    name: &'static str,
    range: RangeInclusive<u32>,
) -> Result<Option<u32>, ParameterError> {
    let Some(size) = arguments.get::<ByteSize>(name) else { return Ok(None) };
    let fits = u32::try_from(size.as_bytes()).ok().filter(|bytes| range.contains(bytes));
    fits.map(Some).ok_or_else(|| {
        let why = format!("{name} must be {} B to {} B, not {size}", range.start(), range.end());
        ParameterError { parameter: name, why }
    })
}

pub(crate) fn refuse<T>(
    parameter: &'static str,
    why: impl Into<String>,
) -> Result<T, ParameterError> {
    Err(ParameterError { parameter, why: why.into() })
}

fn small(count: u64) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}

fn bytes(arguments: &Arguments, name: &str) -> Option<usize> {
    let size: ByteSize = arguments.get(name)?;
    Some(usize::try_from(size.as_bytes()).unwrap_or(usize::MAX))
}

/// The controller of QUIC that is a library's, without parameters.
const BBR: &str = "bbr3";
const MILLISECOND: Duration = Duration::from_millis(1);
/// RFC 9260 section 6.2.
const SACK_DELAY_MAX: Duration = Duration::from_millis(500);
/// What every host takes (RFC 9293 section 3.7.1), and the longest IP packet less its headers.
const MSS_MIN: u32 = 536;
const MSS_MAX: u32 = 65_495;
/// What QUIC needs (RFC 9000 section 14), and the longest that UDP carries.
const PACKET_MIN: u32 = 1_200;
const PACKET_MAX: u32 = 65_527;
