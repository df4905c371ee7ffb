//! Wishes about the paths of connections, from whoever knows what is ahead of them.

use std::cell::RefCell;
use std::fmt;
use std::net::IpAddr;
use std::rc::{Rc, Weak};

use trackbed_substrate::{PathWish, TcpPath};

use super::stream::Layers;

/// A handle on the paths of all connections of one end of a run: clones share it.
#[derive(Clone, Default)]
pub struct PathControl(Rc<RefCell<Vec<Weak<RefCell<Layers>>>>>);

impl PathControl {
    /// Says what is to become of the paths from or to the address `end`, of every open connection.
    /// False if there are none.
    pub fn set_path(&self, end: IpAddr, wish: PathWish) -> bool {
        let open = self.open();
        open.iter().fold(false, |any, layers| any | layers.borrow().tcp().set_path(end, wish))
    }

    /// The paths of every open connection.
    pub fn paths(&self) -> Vec<TcpPath> {
        self.open().iter().flat_map(|layers| layers.borrow().tcp().paths()).collect()
    }

    /// Lets a new connection be heard of.
    pub(super) fn enter(&self, connection: &Rc<RefCell<Layers>>) {
        self.0.borrow_mut().push(Rc::downgrade(connection));
    }

    fn open(&self) -> Vec<Rc<RefCell<Layers>>> {
        let mut all = self.0.borrow_mut();
        all.retain(|connection| connection.strong_count() > 0);
        all.iter().filter_map(Weak::upgrade).collect()
    }
}

impl fmt::Debug for PathControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PathControl").field(&self.0.borrow().len()).finish()
    }
}
