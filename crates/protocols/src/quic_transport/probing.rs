//! Probes of either side while data is under way and the handshake is not confirmed.
//!
//! A server may send three times what it has received until it knows the client's address
//! (RFC 9000 section 8.1). If its first flight is lost after that, only the client can go on: it
//! must keep a probe timer until the handshake is confirmed, even if the server has acknowledged
//! every Initial packet (RFC 9002 section 6.2.2.1). Its probes are not held back by the congestion
//! window (section 7.5), which data may have filled that the server cannot acknowledge before the
//! client's last flight has arrived. The engine keeps no such timer while data is in flight, and
//! both ends would wait for their idle timeouts.
//!
//! A server has sent more than its first flight if the request came as early data. Its answer may
//! fill the window while the Initial packet of that flight, known to be lost, waits for room in it;
//! the engine then probes with what the client cannot read without that packet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use noq::{PathId, WeakConnectionHandle};
use trackbed_substrate::{sleep, yield_now};

/// Permission for a connection to send one packet beyond its congestion window.
#[derive(Clone, Debug, Default)]
pub(super) struct Leave(Arc<AtomicBool>);

impl Leave {
    pub(super) fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// When the engine needs help with its probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// A client: it has sent nothing for longer than the engine's own timers ever take.
    Silence,
    /// A server: the handshake takes longer than that.
    Delay,
}

/// Probes on every such occasion until the handshake is confirmed or the connection is gone: what
/// the handshake has to send goes first, and a PING in any case.
pub(super) async fn probe(connection: WeakConnectionHandle, leave: Leave, occasion: Occasion) {
    let mut sent_before = 0;
    loop {
        sleep(SILENCE).await;
        // A separate handle would keep open a connection without other users.
        let Some(connection) = connection.upgrade() else { return };
        if connection.handshake_confirmed().now_or_never().is_some() {
            return;
        }
        let sent = connection.stats().udp_tx.datagrams;
        if sent == sent_before || occasion == Occasion::Delay {
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
