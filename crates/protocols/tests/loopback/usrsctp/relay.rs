//! Stands between a client and a server, and loses datagrams.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::support::*;

/// Relays the datagrams of one client until it is dropped.
pub struct Relay {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// A relay to `server` that loses one datagram in `loss`, chosen at random, in either
    /// direction.
    pub fn to(server: SocketAddr, loss: Option<u64>) -> Relay {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        // The thread checks periodically whether it is still needed.
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let address = socket.local_addr().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ended);
        let mut rng: Rng = Seed::of_run(1, 0).stream("relay");
        let relay = move || {
            let mut client = None;
            let mut buffer = [0; 9_216];
            while !seen.load(Ordering::Relaxed) {
                let Ok((len, from)) = socket.recv_from(&mut buffer) else { continue };
                let to = match from == server {
                    true => client,
                    false => {
                        client = Some(from);
                        Some(server)
                    }
                };
                if loss.is_some_and(|loss| rng.below(loss) == 0) {
                    continue;
                }
                if let Some(to) = to {
                    // A client that is gone does not receive it.
                    let _gone = socket.send_to(&buffer[..len], to);
                }
            }
        };
        Relay { address, ended, thread: Some(thread::spawn(relay)) }
    }

    /// Where the client sends to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
