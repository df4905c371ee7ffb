//! File descriptors of this process: inherited ones, and their limit.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::sys;

/// Takes over a descriptor that our parent left open and whose number it passed. Our own children
/// do not inherit it. The original stays open, unused, until the process ends.
///
/// # Errors
/// If there is no descriptor with this number.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers, and any number is allowed.
    sys::check(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: the descriptor is open, as the call above has shown, and it is borrowed only until
    // the end of this function; no code in this process owns or closes it.
    unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()
}

/// Raises this process's limit of open descriptors from the 1,024 with which shells start programs
/// to its maximum (getrlimit(2), `RLIMIT_NOFILE`), and returns the new limit.
pub fn allow_descriptors() -> u64 {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If this is refused, the limit is unchanged.
    let _refused = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_may_be_open_are_allowed() {
        let allowed = allow_descriptors();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!((current, current.unwrap_or(u64::MAX)), (maximum, allowed));
    }
}
