//! Probes of a client that waits for the server's first flight with early data under way.
//!
//! A server may send three times what it has received until it knows the client's address
//! (RFC 9000 section 8.1). If its first flight is lost after that, only the client can go on: it
//! must keep a probe timer until the server is known to have validated its address, even if the
//! server has acknowledged every Initial packet (RFC 9002 section 6.2.2.1). The engine keeps none
//! while early data is in flight, and both ends would wait for their idle timeouts.

use std::time::Duration;

use futures_util::future::{Either, select};
use noq::{PathId, WeakConnectionHandle, ZeroRttAccepted};
use trackbed_substrate::sleep;

/// Sends a PING for each probe timeout until the handshake is complete or the connection is gone.
pub(super) async fn probe(connection: WeakConnectionHandle, mut accepted: ZeroRttAccepted) {
    let mut timeout = INITIAL_TIMEOUT;
    loop {
        match select(accepted, sleep(timeout)).await {
            Either::Left(_) => return,
            Either::Right((_, rest)) => accepted = rest,
        }
        let connection = connection.upgrade();
        let Some(path) = connection.and_then(|connection| connection.path(PathId::ZERO)) else {
            return;
        };
        // It fails where the path is closed; then the handshake fails as well.
        let _ = path.ping();
        timeout = (timeout * 2).min(TIMEOUT_MAX);
    }
}

/// Three times the initial round-trip time of 333 ms (RFC 9002 sections 6.2.2 and 6.2.1).
const INITIAL_TIMEOUT: Duration = Duration::from_millis(999);

/// The engine's own limit for the time between two probes.
const TIMEOUT_MAX: Duration = Duration::from_secs(2);
