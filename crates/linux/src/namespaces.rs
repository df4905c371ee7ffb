//! Namespaces of the calling thread and of the children it will have: unshare(2).

use std::io;

use crate::sys;

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Users and capabilities. Only a process with a single thread can get a new one.
    User,
    /// Interfaces, addresses, routes, ports.
    Network,
    /// Mounts.
    Mount,
    /// Process identifiers; the first child of the caller becomes their init.
    Pid,
}

/// Gives the calling thread a new namespace of each kind, all at once.
///
/// # Errors
/// If the caller may not have one, or the kernel has none.
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
    // SAFETY: the call takes no pointers. Of the flags that there are, those that would take
    // descriptors or memory from other threads are not among ours.
    sys::check(unsafe { libc::unshare(flags) }).map(drop)
}
