//! Descriptors that a process finds open when it starts.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

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
