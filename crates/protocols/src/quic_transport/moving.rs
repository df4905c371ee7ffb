//! A client's endpoint follows its host to another network.
//!
//! The client's engine sends a small packet from the new address, and the server replies with a
//! PATH_CHALLENGE (RFC 9000 section 9). Until it has a PATH_RESPONSE it may send three times what
//! it has received from there (section 8.1). The challenge uses that up. If the challenge or the
//! response is lost, neither side can continue: the server may not send, and the engine gives up
//! validation after three probe timeouts without starting another. A client that receives nothing
//! more therefore migrates again, to another port, and the server starts a new validation.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use noq::Endpoint;
use trackbed_substrate::{Host, sleep};

use super::runtime::Socket;

/// Gives `endpoint` a socket at `local`, and further ones until a path is validated.
pub(super) fn follow(
    host: &Arc<dyn Host>,
    endpoint: &Endpoint,
    local: IpAddr,
) -> io::Result<Arrivals> {
    let arrivals = Arrivals::default();
    let socket = host.bind_udp(SocketAddr::new(local, 0))?.into();
    let socket = Socket { socket, source: None, arrivals: arrivals.clone() };
    endpoint.rebind_abstract(Box::new(socket))?;
    Ok(arrivals)
}

/// Makes the server validate the new path of `endpoint`; the counter holds the datagrams received
/// over it. `patience` is the time limit of a validation.
pub(super) async fn persist(
    host: Arc<dyn Host>,
    endpoint: Endpoint,
    mut arrivals: Arrivals,
    mut patience: Duration,
) {
    let Ok(mut local) = endpoint.local_addr() else { return };
    for _ in 0..ATTEMPTS_MAX {
        sleep(patience).await;
        let has_moved_on = endpoint.local_addr().ok() != Some(local);
        if has_moved_on || arrivals.are_of_a_valid_path() || endpoint.open_connections() == 0 {
            return;
        }
        // Without another port, the current one must suffice.
        let Ok(next) = follow(&host, &endpoint, local.ip()) else { return };
        let Ok(next_local) = endpoint.local_addr() else { return };
        (arrivals, local) = (next, next_local);
        patience *= 2;
    }
}

/// How many datagrams have arrived at a socket.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals(Arc<AtomicU64>);

impl Arrivals {
    pub(super) fn add(&self, datagrams: usize) {
        self.0.fetch_add(datagrams as u64, Ordering::Relaxed);
    }

    /// The first datagram has the challenge; another one comes when the server has the response.
    fn are_of_a_valid_path(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}

/// The least time that a validation is given: that of a connection's first packet (RFC 9002 section
/// 6.2.2, twice the initial round-trip time and more), as nothing is known of the new path.
pub(super) const PATIENCE_MIN: Duration = Duration::from_secs(1);

/// How many round trips of the old path a validation is given at the least.
pub(super) const PATIENCE_ROUND_TRIPS: u32 = 3;

/// The sixth attempt begins half a minute after the first, when the idle timeout is near.
const ATTEMPTS_MAX: u32 = 5;
