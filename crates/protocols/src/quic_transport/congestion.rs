//! The congestion controllers of QUIC: one line each in [`QUIC_CONGESTION`].

use std::sync::Arc;

use noq::congestion::{Bbr3Config, ControllerFactory};
use trackbed_connection::Error;
use trackbed_connection::error::Result;

use super::cubic::CubicFactory;
use super::pacing::PacedFactory;
use super::probing::Leave;
use super::reno::RenoFactory;
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
    factory: fn(Tuning) -> Arc<dyn ControllerFactory + Send + Sync>,
}

pub(crate) const QUIC_CONGESTION: &[QuicCongestion] = &[
    QuicCongestion {
        name: "cubic",
        summary: "CUBIC (RFC 9438)",
        repeatable: true,
        factory: |tuning| Arc::new(CubicFactory(tuning)),
    },
    QuicCongestion {
        name: "reno",
        summary: "NewReno (RFC 9002 section 7)",
        repeatable: true,
        factory: |tuning| Arc::new(RenoFactory(tuning)),
    },
    QuicCongestion {
        name: "bbr3",
        summary: "BBR version 3 (draft-ietf-ccwg-bbr)",
        repeatable: false,
        factory: |_| Arc::new(Bbr3Config::default()),
    },
];

/// The controller of a connection's paths, and its tuning.
#[derive(Clone, Copy)]
pub(super) struct Controllers {
    factory: fn(Tuning) -> Arc<dyn ControllerFactory + Send + Sync>,
    tuning: Tuning,
}

impl Controllers {
    /// Those that `parameters` ask for.
    ///
    /// # Errors
    /// If there are none of this name.
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
        Ok(Controllers { factory: entry.factory, tuning: Tuning::of(&parameters.arguments) })
    }

    /// Builds the controllers of connections whose probes `leave` lets go.
    pub(super) fn paced(&self, leave: Leave) -> Arc<PacedFactory> {
        Arc::new(PacedFactory::new((self.factory)(self.tuning), leave))
    }

    /// The size of every full datagram; `None` to look for the path's.
    pub(super) fn datagram(&self) -> Option<u16> {
        self.tuning.datagram
    }
}
