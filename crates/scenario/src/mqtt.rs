//! How MQTT is spoken: its keys.

use std::sync::LazyLock;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_protocols::{MqttAnswer, MqttParameters, MqttQos, MqttVersion, Protocol};

use crate::ends::{Refusal, Settings};
use crate::plan::Programs;

/// What the keys of a combination say.
pub(crate) fn parameters_of(
    settings: &Settings<'_>,
    programs: &Programs,
) -> Result<MqttParameters, Refusal> {
    let defaults = MqttParameters::default();
    let version = settings.word("mqtt-version").and_then(MqttVersion::from_name);
    let qos = settings.word("mqtt-qos").and_then(MqttQos::from_name);
    let wanted = settings.word("mqtt-answer").and_then(MqttAnswer::from_name);
    let answer = match (&programs.server, wanted) {
        (None, wanted) => wanted.unwrap_or(MqttAnswer::Service),
        (Some(_), None | Some(MqttAnswer::Echo)) => MqttAnswer::Echo,
        (Some(server), Some(MqttAnswer::Service)) => {
            let name = server.name();
            let why = format!("{name} has no service behind it: write mqtt-answer = \"echo\"");
            return Err(Refusal { path: "mqtt-answer", why });
        }
    };
    Ok(MqttParameters {
        version: version.unwrap_or(defaults.version),
        qos: qos.unwrap_or(defaults.qos),
        answer,
    })
}

/// The keys that mean nothing to `protocol`.
pub(crate) fn ignored(protocol: &dyn Protocol) -> &'static [&'static str] {
    if protocol.name() == "mqtt" { &[] } else { &["mqtt-version", "mqtt-qos", "mqtt-answer"] }
}

/// The keys.
pub(crate) fn parameters() -> [Parameter; 3] {
    static VERSIONS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| MqttVersion::ALL.iter().map(|version| version.name()).collect());
    static LEVELS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| MqttQos::ALL.iter().map(|qos| qos.name()).collect());
    static ANSWERS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| MqttAnswer::ALL.iter().map(|answer| answer.name()).collect());
    [
        Parameter::with_default("mqtt-version", Kind::Choice(&VERSIONS), "5", VERSION),
        Parameter::with_default("mqtt-qos", Kind::Choice(&LEVELS), "1", QOS),
        Parameter::optional("mqtt-answer", Kind::Choice(&ANSWERS), ANSWER),
    ]
}

const VERSION: &str = "MQTT: the version that the client speaks";
const QOS: &str = "MQTT: how surely requests and answers are delivered";
const ANSWER: &str = "MQTT: who answers: the service behind our broker, or, as by default with brokers \
                      of others, the client itself, which is subscribed to what it publishes";
