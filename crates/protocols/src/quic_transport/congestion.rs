//! The congestion controllers of QUIC: one line each in [`QUIC_CONGESTION`].

use std::sync::Arc;
use std::time::Instant;

use noq::congestion::{Bbr3Config, Controller, ControllerFactory};
use trackbed_connection::{Error, Result};

use super::cubic::Cubic;
use super::pacing::Paced;
use super::probing::Leave;
use super::reno::Reno;
use super::tuning::Tuning;
use crate::config::TransportParameters;

pub(crate) struct QuicCongestion {
    /// The name that scenarios use.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Whether a run with it can be repeated from its seed. BBRv3 draws the times of its bandwidth
    /// probes from the operating system and the engine offers no way to seed them, so transfers of
    /// more than about two seconds differ a little from run to run.
    pub repeatable: bool,
    build: Build,
}

/// Makes the controller of a path that begins now, whose datagrams have this many bytes.
type Build = fn(&Tuning, Instant, u16) -> Box<dyn Controller>;

pub(crate) const QUIC_CONGESTION: &[QuicCongestion] = &[
    QuicCongestion {
        name: "cubic",
        summary: "CUBIC (RFC 9438)",
        repeatable: true,
        build: |tuning, _, mtu| Box::new(Cubic::new(tuning, mtu)),
    },
    QuicCongestion {
        name: "reno",
        summary: "NewReno (RFC 9002 section 7)",
        repeatable: true,
        build: |tuning, now, mtu| Box::new(Reno::new(tuning, now, mtu)),
    },
    QuicCongestion {
        name: "bbr3",
        summary: "BBR version 3 (draft-ietf-ccwg-bbr)",
        repeatable: false,
        build: |_, now, mtu| Arc::new(Bbr3Config::default()).build(now, mtu),
    },
];

/// Builds the controllers of a connection's paths, paced.
#[derive(Clone)]
pub(super) struct Controllers {
    build: Build,
    pub(super) tuning: Tuning,
    /// Lets the connection's probes go.
    pub(super) leave: Leave,
}

impl Controllers {
    pub(super) fn of(
        protocol: &'static str,
        parameters: &TransportParameters,
    ) -> Result<Controllers> {
        let name = parameters.congestion.as_str();
        let entry = QUIC_CONGESTION.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<_> = QUIC_CONGESTION.iter().map(|entry| entry.name).collect();
            let advice =
                format!("unknown congestion controller `{name}`: use {}", names.join(", "));
            Error::unsupported(protocol, advice)
        })?;
        let tuning = Tuning::of(&parameters.arguments);
        Ok(Controllers { build: entry.build, tuning, leave: Leave::default() })
    }
}

impl ControllerFactory for Controllers {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Paced::new((self.build)(&self.tuning, now, mtu), self.leave.clone()))
    }
}
