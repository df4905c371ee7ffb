//! A load balancer in front of several operators: each connection takes one of them.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Connection, Dialer, Error};
use trackbed_core::Rng;

/// Dials by one of several dialers, drawn for each connection: routers hash addresses and ports, which
/// spreads connections as a draw does.
pub(crate) struct Balancer {
    dialers: [Rc<dyn Dialer>; 2],
    draws: RefCell<Rng>,
}

impl Balancer {
    pub fn new(dialers: [Rc<dyn Dialer>; 2], draws: Rng) -> Balancer {
        Balancer { dialers, draws: RefCell::new(draws) }
    }
}

impl Dialer for Balancer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>> {
        let chosen = self.draws.borrow_mut().below(2) as usize;
        self.dialers[chosen].connect(remote)
    }

    fn host_has_moved(&self) -> Result<(), Error> {
        self.dialers.iter().try_for_each(|dialer| dialer.host_has_moved())
    }
}
