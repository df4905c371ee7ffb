//! Expected round trips: how long a run must take on a clean link by the protocols' specifications,
//! computed before anything is measured.

use std::time::Duration;

use trackbed_connection::Transport;
use trackbed_protocols::TlsSettings;

use crate::plan::{Cell, Endpoint};

/// The minimum duration of a cell's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Round trips from the first packet to the last response.
    pub round_trips: u32,
    /// The round trips times the path's round-trip time, without serialisation.
    pub completion: Duration,
}

/// The expectation for a cell whose workload proceeds in lockstep and whose delay is constant.
pub fn of(cell: &Cell) -> Option<Expected> {
    if cell.endpoint.programs.client.is_some() {
        // Its round trips are unknown.
        return None;
    }
    if cell.endpoint.tls_settings != TlsSettings::default() {
        // A HelloRetryRequest, the window or an unproved address may cost round trips.
        return None;
    }
    let lockstep = cell.workload.expectation()?;
    let round_trip_time = cell.network.round_trip_time()?;
    let Endpoint { protocol, tls, handshake, transport, .. } = &cell.endpoint;
    let of = |handshake| u64::from(protocol.set_up_round_trips(*tls, handshake, transport));
    let later = u64::from(lockstep.connections.saturating_sub(1));
    let set_up = of(handshake.first()) + of(handshake.later()) * later;
    // Blocks follow one another, each a round trip (RFC 7959 section 2.5). With COOKIE ECHO goes one packet (RFC 9260
    // section 5.1).
    let (each, flight_bytes) = match protocol.capabilities().transport {
        Transport::Coap if transport.coap.block_wise => {
            (lockstep.longest.div_ceil(transport.coap.block_size.into()).max(1), u64::MAX)
        }
        Transport::Coap => (1, u64::MAX),
        Transport::Sctp => (1, PACKET_BYTES),
        Transport::Tcp | Transport::Udp => (1, FIRST_FLIGHT_BYTES),
    };
    if lockstep.longest > flight_bytes {
        return None;
    }
    let round_trips = u32::try_from(set_up + each * u64::from(lockstep.exchanges)).ok()?;
    Some(Expected { round_trips, completion: round_trip_time.checked_mul(round_trips)? })
}

/// What fits a packet beside all headers.
const PACKET_BYTES: u64 = 1_100;
/// What fits the first flight of TCP and QUIC: ten packets (RFC 6928; RFC 9002 section 7.2), of which the end of the
/// handshake, HTTP's settings and headers take four.
const FIRST_FLIGHT_BYTES: u64 = 6_500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Override, Plan, Source};

    /// The built-in `vru` with these settings.
    fn plan(settings: &[&str]) -> Plan {
        let overrides: Vec<Override> = settings.iter().map(|text| text.parse().unwrap()).collect();
        crate::load(&Source::named("vru"), &overrides).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Round trips until the end, of each combination that `settings` leave.
    fn round_trips(settings: &[&str]) -> Vec<Option<u32>> {
        let expected = |cell| of(cell).map(|expected| expected.round_trips);
        plan(settings).cells.iter().map(expected).collect()
    }

    /// One message: TCP with TLS 1.3 takes 3 round trips until the first response, with TLS 1.2 4
    /// (3 if resumed), QUIC 2 (1 with early data), and plain TCP 2.
    #[test]
    fn the_first_answer_takes_what_the_specifications_say() {
        let one = |protocol: &str, tls: &str, handshake: &str| {
            let settings = [("protocol", protocol), ("tls", tls), ("handshake", handshake)];
            let [a, b, c] = settings.map(|(key, value)| format!("{key}={value}"));
            round_trips(&[&a, &b, &c, "workload.count=1"])
        };
        assert_eq!(one("http2", "1.3", "new"), [Some(3)]);
        assert_eq!(one("http2", "1.3", "resumed"), [Some(3)]);
        assert_eq!(one("http2", "1.3", "early"), [Some(2)]);
        assert_eq!(one("http2", "1.2", "new"), [Some(4)]);
        assert_eq!(one("http2", "1.2", "resumed"), [Some(3)]);
        assert_eq!(one("quic", "1.3", "new"), [Some(2)]);
        assert_eq!(one("http3", "1.3", "early"), [Some(1)]);
        assert_eq!(round_trips(&["protocol=tcp", "workload.count=1"]), [Some(2)]);
        let chain = ["protocol=quic", "handshake=new", "workload.count=1", "chain=p256"];
        assert_eq!(round_trips(&chain), [None]);
        let large = |protocol, size| round_trips(&[protocol, size, "workload.count=1"]);
        assert_eq!(large("protocol=coap", "workload.size=10kB"), [Some(10)]);
        assert_eq!(large("protocol=sctp", "workload.size=1400B"), [None]);
        assert_eq!(large("protocol=tcp", "workload.size=9kB"), [None]);
    }

    #[test]
    fn each_message_takes_one_more_and_a_new_connection_its_own() {
        let quic = ["protocol=quic", "tls=1.3", "handshake=new"];
        let with = |more: &[&str]| round_trips(&[&quic, more].concat());
        assert_eq!(with(&["workload.count=25"]), [Some(26)]);
        assert_eq!(with(&["workload.count=25", "workload.connection=each"]), [Some(50)]);
        assert_eq!(with(&["workload.rate=10 /s"]), [None], "messages do not wait for responses");
        let then_early =
            ["handshake=new-then-early", "workload.count=25", "workload.connection=each"];
        assert_eq!(with(&then_early), [Some(26)], "only the first one takes an extra round trip");
        let random = "link.delay={ uniform = { least = \"1 ms\", most = \"2 ms\" } }";
        assert_eq!(with(&[random]), [None], "the delay is random");
    }

    #[test]
    fn the_time_is_that_many_round_trips_over_all_links() {
        let plan = plan(&["protocol=quic", "tls=1.3", "handshake=new", "access.delay=2ms"]);
        assert_eq!(of(&plan.cells[0]).unwrap().completion, Duration::from_millis(11 * 14));
    }
}
