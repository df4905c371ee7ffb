//! Common parts of system calls.

use std::io;

/// The result of a system call that returns -1 and sets `errno` on failure.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}
