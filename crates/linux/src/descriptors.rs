//! Descriptors of this process: those that it finds open when it starts, and how many there may be.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::sys;

/// Takes over a descriptor that our parent has left open for us, and told us the number of. Our own
/// children will not get it. The original stays open, unused, as long as the process lives.
///
/// # Errors
/// If there is none of this number.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers and does not care what the number means.
    sys::check(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: the descriptor is open, as the call above has shown, and it is borrowed only until
    // the end of this function; nobody in this process owns or closes it.
    unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()
}

/// Raises this process's limit of open descriptors from the 1,024 with which shells start programs to the
/// most that it may have (getrlimit(2), `RLIMIT_NOFILE`), and returns what it is now.
pub fn allow_descriptors() -> u64 {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where it is refused, the limit stays as it is.
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
