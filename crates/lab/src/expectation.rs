//! The arithmetic of round trips: what the protocols' specifications say a run must take on a
//! clean link, before anything is measured.

use std::time::Duration;

use trackbed_protocols::{Handshake, TlsVersion, Transport};

use crate::scenario::{Cell, Endpoint};

/// How long a cell's run takes at the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Round trips from the first packet to the last answer.
    pub round_trips: u32,
    /// That many times the path's round-trip time, without serialisation.
    pub completion: Duration,
}

/// What to expect of a cell, if its workload proceeds in lockstep and its delay is constant.
pub fn of(cell: &Cell) -> Option<Expected> {
    let lockstep = cell.workload.expectation()?;
    let round_trip_time = cell.network.round_trip_time()?;
    let connections = u64::from(lockstep.connections);
    let set_up = u64::from(connection_round_trips(&cell.endpoint)) * connections;
    let round_trips = u32::try_from(set_up + u64::from(lockstep.exchanges)).ok()?;
    Some(Expected { round_trips, completion: round_trip_time.checked_mul(round_trips)? })
}

/// Round trips from the first packet of a connection until a request may leave.
///
/// TCP: one for the three-way handshake (RFC 9293 section 3.5). TLS 1.3: one more, none for early
/// data (RFC 8446 sections 2 and 2.3). TLS 1.2: two more, one if a session is resumed (RFC 5246
/// section 7.3). QUIC: one for everything, none with 0-RTT (RFC 9001 section 4).
pub fn connection_round_trips(endpoint: &Endpoint) -> u32 {
    let transport = match endpoint.protocol.capabilities().transport {
        Transport::Tcp => 1,
        Transport::Udp => 0,
    };
    let security = match (endpoint.tls, endpoint.handshake) {
        (None, _) => 0,
        (Some(TlsVersion::Tls13), Handshake::Early) => 0,
        (Some(TlsVersion::Tls13), Handshake::New | Handshake::Resumed) => 1,
        (Some(TlsVersion::Tls12), Handshake::Resumed) => 1,
        (Some(TlsVersion::Tls12), Handshake::New | Handshake::Early) => 2,
    };
    transport + security
}
