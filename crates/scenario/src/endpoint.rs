//! The two endpoints of a cell: what the chosen protocol supports, and which keys it ignores.

use std::sync::LazyLock;

use trackbed_connection::{Capabilities, CipherSuite, Handshake, TlsVersion, Transport};
use trackbed_core::ByteSize;
use trackbed_core::parameter::{ArgumentError, Arguments, Kind, Parameter, Value};
use trackbed_protocols::{
    Congestion, MqttAnswer, NONE, Protocol, TlsSettings, TransportParameters, WHOLE_MAX,
    congestion, registry,
};

use crate::ends::{Refusal, Resolved};
use crate::field::kebab;
use crate::ip::IpVersion;
use crate::plan::{Cell, Endpoint, Programs};
use crate::problem::Problems;
use crate::spec::Selected;
use crate::{foreign, inference_keys, preset, programs, silence};

/// The endpoints of a combination; `None` if the scenario names no protocol and an endpoint needs
/// one.
pub(crate) fn resolve(at: Selected<'_>) -> Option<Result<Resolved, Refusal>> {
    if silence::holds(at.spec) {
        let keys = parameters().into_iter().map(|parameter| parameter.name);
        let keys = keys.chain(preset::ignored(NONE)).collect();
        return Some(Ok(silence::ends(keys)));
    }
    let protocol = match at.word("protocol") {
        Some(name) => trackbed_protocols::find(name)?,
        None if programs::need_no_protocol(at.spec) => foreign::PROTOCOL,
        None => return None,
    };
    Some(at.endpoint(protocol))
}

/// Refuses messages that CoAP cannot send without block-wise transfer: each would be lost.
pub(crate) fn check_whole_requests(at: Selected<'_>, cell: &Cell, problems: &mut Problems) {
    let is_whole = !cell.endpoint.transport.coap.block_wise;
    let Some(setting) = at.spec.get(SIZE).filter(|_| is_whole) else { return };
    if at.get::<ByteSize>(SIZE).is_some_and(|size| size.as_bytes() > WHOLE_MAX as u64) {
        let message =
            format!("CoAP without block-wise transfer sends at most {WHOLE_MAX} B per message");
        let help = "write a smaller size, or remove block-wise";
        problems.add_with_help(&at.pick(setting).place, message, help);
    }
}

/// Refuses workloads that need more from a server than it returns of what it is sent.
pub(crate) fn check_echo(at: Selected<'_>, cell: &Cell, problems: &mut Problems) {
    let Endpoint { protocol, transport, .. } = &cell.endpoint;
    let is_echo = protocol.name() == "mqtt" && transport.mqtt.answer == MqttAnswer::Echo;
    let serves_nothing = cell.workload.site().is_ok_and(|it| it.objects().next().is_none());
    let Some(setting) = at.spec.get("workload.kind").filter(|_| is_echo && !serves_nothing) else {
        return;
    };
    let message = "MQTT with the answer \"echo\" returns only what a client publishes".to_owned();
    let help = "write mqtt-answer = \"service\", which needs the built-in broker, or the workload messages";
    problems.add_with_help(&at.pick(setting).place, message, help);
}

pub(crate) fn warning(endpoint: &Endpoint) -> Option<String> {
    let is_used = |entry: &&Congestion| {
        entry.of.fits(&endpoint.protocol.capabilities())
            && entry.name == endpoint.transport.congestion
    };
    let used = congestion().iter().find(is_used)?;
    (!used.repeatable).then(|| {
        format!(
            "runs of {} with {} vary slightly even with the same seed: not all of their randomness \
             comes from it",
            endpoint.protocol.name(),
            used.name
        )
    })
}

/// The value of a factor in cells whose endpoints ignore its key.
pub(crate) fn ignored_factor(path: &str, endpoint: &Endpoint) -> &'static str {
    match path {
        _ if silence::is_between(endpoint) => "none",
        // Without tickets every connection starts with a full handshake.
        "handshake" => Handshake::New.name(),
        // SCTP and CoAP each have the one congestion control of their specification.
        "congestion" => match endpoint.protocol.capabilities().transport {
            Transport::Coap => "rfc7252",
            Transport::Tcp | Transport::Udp | Transport::Sctp => "rfc9260",
        },
        _ => "none",
    }
}

/// The keys that are factors even with a single value.
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

impl Selected<'_> {
    fn endpoint(self, protocol: &'static dyn Protocol) -> Result<Resolved, Refusal> {
        let can = protocol.capabilities();
        let programs = programs::resolve(self, protocol)?;
        let foreign = programs.server.is_some() && programs.client.is_some();
        let tls = self.tls(protocol.name(), &can, foreign)?;
        let handshake = self.handshake(protocol.name(), &can, tls)?;
        let cipher = self.word("cipher").and_then(CipherSuite::from_name);
        let arguments = self.arguments(protocol)?;
        let tls_settings = TlsSettings::read(&arguments)?;
        check_version(&tls_settings, tls)?;
        let mut transport = TransportParameters::read(&arguments)?;
        self.check_foresight(protocol.name(), &can)?;
        if let Some(server) = &programs.server {
            transport.mqtt.answer = programs::mqtt_answer(server, &arguments)?;
        }
        let cipher = cipher.filter(|_| tls.is_some() || foreign);
        let mut ignored = ignored(protocol);
        ignored.extend(programs::ignored(self, &programs));
        let ip = self.ip(&programs)?;
        let endpoint =
            Endpoint { protocol, ip, tls, handshake, cipher, tls_settings, transport, programs };
        programs::check(&endpoint)?;
        Ok(Resolved { endpoint, ignored })
    }

    /// The TLS version; between two `foreign` endpoints only if the scenario sets it, as they
    /// negotiate freely.
    fn tls(
        self,
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

    fn ip(self, programs: &Programs) -> Result<IpVersion, Refusal> {
        let ip = self.word("ip").and_then(IpVersion::from_name).unwrap_or_default();
        if ip == IpVersion::V6 && !programs.is_empty() {
            let why = "third-party programs support IPv4 only".to_owned();
            return Err(Refusal { path: "ip", why });
        }
        Ok(ip)
    }

    fn handshake(
        self,
        protocol: &str,
        can: &Capabilities,
        tls: Option<TlsVersion>,
    ) -> Result<Handshake, Refusal> {
        let wanted = self.word("handshake").and_then(Handshake::from_name);
        let wanted = wanted.filter(|_| tls.is_some()).unwrap_or_default();
        let refuse = |why| Err(Refusal { path: "handshake", why });
        if wanted.sends_early_data() && tls == Some(TlsVersion::Tls12) {
            return refuse("early data needs TLS 1.3 (RFC 8446 section 2.3)".to_owned());
        }
        if tls.is_some() && !can.handshakes.contains(&wanted.later()) {
            let known: Vec<&str> = can.handshakes.iter().map(|known| known.name()).collect();
            let why = format!(
                "{protocol} does not support handshake {}; it supports {}",
                wanted.name(),
                known.join(", ")
            );
            return refuse(why);
        }
        Ok(wanted)
    }

    fn arguments(self, protocol: &dyn Protocol) -> Result<Arguments, Refusal> {
        let parameters = protocol.parameters();
        let preset = preset::chosen(self, protocol);
        let value = |parameter: &Parameter| {
            let written = self.value(&kebab(parameter.name)).cloned();
            let value = written.or_else(|| preset?.value(parameter))?;
            Some((parameter.name, value))
        };
        let given: Vec<(&str, Value)> = parameters.iter().filter_map(value).collect();
        Arguments::read(&parameters, &given).map_err(|error| match error {
            ArgumentError::Unfit { name, kind: Kind::Choice(words), value } => {
                let what = if name == "congestion" { "congestion control" } else { name };
                let (protocol, words) = (protocol.name(), words.join(", "));
                let why =
                    format!("{protocol} does not support {what} {value}; it supports {words}");
                Refusal { path: name, why }
            }
            error => Refusal { path: "protocol", why: error.to_string() },
        })
    }

    /// Only MPTCP's engine can send again what is in flight on a path that is left.
    fn check_foresight(self, protocol: &str, can: &Capabilities) -> Result<(), Refusal> {
        let is_quic = can.multipath && can.transport == Transport::Udp;
        if is_quic && self.word(FORESIGHT) == Some("reactive") {
            let why = format!(
                "{protocol} sends lost data again only after its own timers; foresight = \
                 \"reactive\" is for mptcp"
            );
            return Err(Refusal { path: FORESIGHT, why });
        }
        Ok(())
    }
}

/// Refuses what TLS 1.2 does not have.
fn check_version(settings: &TlsSettings, tls: Option<TlsVersion>) -> Result<(), Refusal> {
    let mut groups = [&settings.key_exchange, &settings.server_key_exchange].into_iter().flatten();
    let has_ml_kem = groups.any(|groups| groups.iter().any(|group| group.is_hybrid()));
    if tls == Some(TlsVersion::Tls12) && (has_ml_kem || settings.chain.has_ml_dsa()) {
        let why = "ML-KEM and ML-DSA need TLS 1.3: remove them, or set tls = \"1.3\"".to_owned();
        return Err(Refusal { path: "tls", why });
    }
    Ok(())
}

fn ignored(protocol: &dyn Protocol) -> Vec<&'static str> {
    let used = protocol.parameters();
    let is_used = |name| used.iter().any(|parameter| parameter.name == name);
    let all = trackbed_protocols::parameters().iter().map(|parameter| parameter.name);
    all.filter(|name| !is_used(*name)).chain(preset::ignored(protocol)).collect()
}

pub(crate) fn parameters() -> Vec<Parameter> {
    static PROTOCOLS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        registry().iter().chain([&NONE]).map(|protocol| protocol.name()).collect()
    });
    let ours = [
        Parameter::required("protocol", Kind::Choice(&PROTOCOLS), PROTOCOL),
        Parameter::optional("ip", Kind::Choice(IpVersion::NAMES), IP),
    ];
    [&ours, trackbed_protocols::parameters(), &programs::parameters()].concat()
}

const PROTOCOL: &str = "protocol to compare; none, with the workload idle, sends nothing";
const IP: &str = "IP version; default: 4";
const SIZE: &str = "workload.size";
/// Who foresees the radio's handovers.
const FORESIGHT: &str = "radio.foresight";
