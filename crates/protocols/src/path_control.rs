//! Requests about the paths of connections, from a component that can predict them.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::{Rc, Weak};

use trackbed_substrate::{PathWish, TcpPath};

/// A handle on the paths of all connections of one end of a run: clones share it.
#[derive(Clone, Debug, Default)]
pub struct PathControl(Rc<RefCell<Vec<Weak<dyn Steered>>>>);

/// A connection that accepts path requests.
pub(crate) trait Steered {
    /// Applies a request to the paths from or to the address `end`. False if there are none.
    fn set_path(&self, end: IpAddr, wish: PathWish) -> bool;

    /// The paths; none for a connection with a single path.
    fn paths(&self) -> Vec<TcpPath>;
}

impl PathControl {
    /// Applies a request to the paths from or to the address `end`, of every open connection. False
    /// if there are none.
    pub fn set_path(&self, end: IpAddr, wish: PathWish) -> bool {
        self.open().iter().fold(false, |any, connection| any | connection.set_path(end, wish))
    }

    /// The paths of every open connection.
    pub fn paths(&self) -> Vec<TcpPath> {
        self.open().iter().flat_map(|connection| connection.paths()).collect()
    }

    pub(crate) fn enter(&self, connection: Weak<dyn Steered>) {
        self.0.borrow_mut().push(connection);
    }

    fn open(&self) -> Vec<Rc<dyn Steered>> {
        let mut all = self.0.borrow_mut();
        all.retain(|connection| connection.strong_count() > 0);
        all.iter().filter_map(Weak::upgrade).collect()
    }
}
