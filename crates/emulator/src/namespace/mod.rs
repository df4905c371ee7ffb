//! Network namespaces: separate machines as far as the network is concerned, which vanish with the
//! last process and descriptor that uses them.

mod error;
mod interface;
mod privileges;

use std::fs::File;
use std::os::fd::AsFd;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use trackbed_linux::namespaces::{Kind, unshare};

pub use error::{NamespaceError, Step};
pub(crate) use interface::EVERYTHING;
pub use interface::{Address, Interface, Route, Veth, set_sysctl};
pub use privileges::{Privileges, acquire};

/// A network namespace. It lasts as long as this value or any process or socket inside.
#[derive(Debug)]
pub struct NetNamespace {
    handle: File,
}

impl NetNamespace {
    /// A new namespace with only a loopback interface, which is up.
    ///
    /// # Errors
    /// If this process may not create one; call [`acquire`] first.
    pub fn new() -> Result<NetNamespace, NamespaceError> {
        let make = || {
            unshare(&[Kind::Network]).map_err(|why| NamespaceError::new(Step::Network, why))?;
            NetNamespace::current()
        };
        let namespace = in_thread(make)?;
        namespace.run(|| Interface::named("lo")?.set_up())??;
        Ok(namespace)
    }

    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is missing.
    pub fn current() -> Result<NetNamespace, NamespaceError> {
        let handle = File::open("/proc/thread-self/ns/net");
        let handle = handle.map_err(|why| NamespaceError::new(Step::Proc, why))?;
        Ok(NetNamespace { handle })
    }

    /// Another handle on the same namespace.
    ///
    /// # Errors
    /// If no descriptors are left.
    pub fn try_clone(&self) -> Result<NetNamespace, NamespaceError> {
        let handle = self.handle.try_clone();
        Ok(NetNamespace { handle: handle.map_err(|why| NamespaceError::new(Step::Enter, why))? })
    }

    /// Moves the calling thread here for good: its sockets and children are created here from now
    /// on.
    ///
    /// # Errors
    /// If the process may not.
    pub fn enter(&self) -> Result<(), NamespaceError> {
        move_into_link_name_space(self.handle.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|why| NamespaceError::new(Step::Enter, why.into()))
    }

    /// Calls `action` on a separate thread in this namespace.
    ///
    /// # Errors
    /// If the thread cannot enter it.
    pub fn run<T: Send>(&self, action: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        in_thread(|| {
            self.enter()?;
            Ok(action())
        })
    }
}

impl AsFd for NetNamespace {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Calls `action` on a new thread, whose namespaces may change without affecting others.
fn in_thread<T: Send>(
    action: impl FnOnce() -> Result<T, NamespaceError> + Send,
) -> Result<T, NamespaceError> {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().spawn_scoped(scope, action);
        let spawned = spawned.map_err(|why| NamespaceError::new(Step::Thread, why))?;
        spawned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
