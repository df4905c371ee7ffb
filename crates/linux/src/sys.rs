//! What all system calls have in common.

use std::io;

/// The result of a system call that gives -1 and sets `errno` when it fails.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}
