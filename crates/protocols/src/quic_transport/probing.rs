//! Probes of a client whose handshake does not go on while early data is under way.
//!
//! A server may send three times what it has received until it knows the client's address
//! (RFC 9000 section 8.1). If its first flight is lost after that, only the client can go on: it
//! must keep a probe timer until the handshake is confirmed, even if the server has acknowledged
//! every Initial packet (RFC 9002 section 6.2.2.1), and its probes are not held back by the
//! congestion window (section 7.5), which early data may have filled. The engine keeps no such
//! timer while early data is in flight, and both ends would wait for their idle timeouts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use noq::{PathId, WeakConnectionHandle};
use trackbed_substrate::sleep;

use crate::nursery::yield_now;

/// A connection's leave to send one packet that its congestion window does not allow.
#[derive(Clone, Debug, Default)]
pub(super) struct Leave(Arc<AtomicBool>);

impl Leave {
    pub(super) fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Uses it up.
    pub(super) fn take(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Probes whenever the engine has been silent for longer than its own timers ever are, until the
/// handshake is confirmed or the connection is gone: what the handshake has to send goes first,
/// and a PING in any case.
pub(super) async fn probe(connection: WeakConnectionHandle, leave: Leave) {
    let mut sent_before = 0;
    loop {
        sleep(SILENCE).await;
        // A handle of its own would keep a connection open that nobody else wants.
        let Some(connection) = connection.upgrade() else { return };
        if connection.handshake_confirmed().now_or_never().is_some() {
            return;
        }
        let sent = connection.stats().udp_tx.datagrams;
        if sent == sent_before {
            let Some(path) = connection.path(PathId::ZERO) else { return };
            leave.give();
            // It fails where the path is closed; then the handshake fails as well.
            let _ = path.ping();
            yield_now().await;
        }
        sent_before = connection.stats().udp_tx.datagrams;
    }
}

/// The engine lets at most 2 s pass between two probes, unless round trips take longer.
const SILENCE: Duration = Duration::from_millis(2_001);
