//! Software that studies used, as values of ordinary keys: one entry each in [`presets()`].

use trackbed_core::parameter::{Parameter, Value};

use crate::protocol::Protocol;
use crate::registry::registry;

/// The values that make a protocol behave like other software, as far as the keys allow.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name that scenarios use.
    pub name: &'static str,
    /// The protocols that it is for.
    pub protocols: &'static [&'static str],
    /// What it is, and what it leaves out, in one line.
    pub summary: &'static str,
    /// Where its values come from.
    pub source: &'static str,
    /// Keys of its protocols, and their values as a scenario writes them.
    pub values: &'static [(&'static str, &'static str)],
}

/// Every preset, in the order of lists.
pub fn presets() -> &'static [Preset] {
    &[
        Preset {
            name: "quic-go-2020",
            protocols: &["http3", "mpquic", "quic"],
            summary: "quic-go of September 2020; its flow control windows are 6 MiB from the start",
            source: "quic-go v0.18: internal/congestion/cubic_sender.go, hybrid_slow_start.go, \
                     internal/protocol/params.go",
            values: &[
                ("congestion", "reno"),
                ("initial-window", "32"),
                ("beta", "70 %"),
                ("hystart", "true"),
                ("packet-size", "1252 B"),
                ("window", "6 MiB"),
            ],
        },
        Preset {
            name: "lksctp",
            protocols: &["sctp"],
            summary: "SCTP of the Linux kernel: no encapsulation, half of its default buffer as the \
                 window",
            source: "Linux: include/net/sctp/constants.h (timers), net/sctp/associola.c (4380 B, which \
                     are four packets; half of rmem_default, 212992 B)",
            values: &[
                ("encapsulation", "none"),
                ("rto-initial", "3 s"),
                ("initial-window", "4"),
                ("immediate-sack", "false"),
                ("window", "106496 B"),
            ],
        },
        Preset {
            name: "ns-3",
            protocols: &["mptcp", "tcp"],
            summary: "TCP of ns-3 before 3.28: segments of 536 B and 12 B of timestamps, no SACK",
            source: "ns-3.26: src/internet/model/tcp-socket.cc, tcp-socket-base.cc, \
                     tcp-l4-protocol.cc",
            values: &[
                ("congestion", "reno"),
                ("initial-window", "1"),
                ("mss", "548 B"),
                ("sack", "false"),
                ("rto-min", "1 s"),
                ("send-buffer", "131072 B"),
                ("receive-buffer", "131072 B"),
            ],
        },
    ]
}

impl Preset {
    /// The value of a protocol's parameter, if this preset has one.
    ///
    /// # Panics
    /// If the value is not of the parameter's kind.
    pub fn value(&self, parameter: &Parameter) -> Option<Value> {
        let (_, text) = self.values.iter().find(|(name, _)| *name == parameter.name)?;
        let value = parameter.kind.parse(text);
        Some(value.unwrap_or_else(|why| panic!("{}, {}: {why}", self.name, parameter.name)))
    }
}

/// The names of the presets of each protocol that has some.
pub fn presets_by_protocol() -> impl Iterator<Item = (&'static dyn Protocol, Vec<&'static str>)> {
    registry().iter().filter_map(|protocol| {
        let fits = |preset: &&Preset| preset.protocols.contains(&protocol.name());
        let names: Vec<_> = presets().iter().filter(fits).map(|preset| preset.name).collect();
        (!names.is_empty()).then_some((*protocol, names))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TransportParameters;
    use trackbed_core::Arguments;

    #[test]
    fn every_value_is_one_that_each_of_its_protocols_takes() {
        for preset in presets() {
            for name in preset.protocols {
                let protocol = crate::find(name).unwrap();
                let parameters = protocol.parameters();
                let value =
                    |parameter: &Parameter| Some((parameter.name, preset.value(parameter)?));
                let given: Vec<_> = parameters.iter().filter_map(value).collect();
                assert_eq!(given.len(), preset.values.len(), "{} for {name}", preset.name);
                let arguments = Arguments::read(&parameters, &given).unwrap();
                TransportParameters::read(&arguments).unwrap();
            }
        }
    }
}
