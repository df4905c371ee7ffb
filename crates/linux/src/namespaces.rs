//! Namespaces of the calling thread and of its future children: unshare(2).

use std::io;

use crate::sys;

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Users and capabilities. Only a single-threaded process can get a new one.
    User,
    /// Interfaces, addresses, routes, ports.
    Network,
    /// Mounts.
    Mount,
    /// Process identifiers; the first child of the caller becomes their init.
    Pid,
}

/// Moves the calling thread into a new namespace of each kind, all at once.
///
/// # Errors
/// If the caller has no permission, or the kernel does not support one of them.
pub fn unshare(kinds: &[Kind]) -> io::Result<()> {
    let flags = kinds.iter().fold(0, |flags, kind| {
        flags
            | match kind {
                Kind::User => libc::CLONE_NEWUSER,
                Kind::Network => libc::CLONE_NEWNET,
                Kind::Mount => libc::CLONE_NEWNS,
                Kind::Pid => libc::CLONE_NEWPID,
            }
    });
    // SAFETY: the call takes no pointers, and the flags do not include those that would unshare
    // descriptors or memory from other threads.
    sys::check(unsafe { libc::unshare(flags) }).map(drop)
}
