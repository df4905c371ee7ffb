//! Pipes from another process: pipe(7).

use std::future::poll_fn;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::handle::Handle;
use super::source::{Detail, Source, Way};
use crate::executor::SocketKind;

/// Resolves when the last writer of `pipe` is closed, or the run ends. Its data is discarded.
pub(super) async fn closed(run: u64, pipe: OwnedFd) -> io::Result<()> {
    let pipe = Handle::new(run, SocketKind::Pipe, Source::new(pipe, Detail::Pipe))?;
    let end = |source: &mut Source| drain(source.descriptor()?);
    poll_fn(|cx| pipe.poll("for the end of", Way::Read, cx, end)).await
}

/// Reads until the end, or until no data is left. The pipe may be blocking and in use elsewhere, so
/// its mode is not changed; it is polled first.
fn drain(pipe: BorrowedFd<'_>) -> io::Result<()> {
    loop {
        let mut asked = [PollFd::new(&pipe, PollFlags::IN)];
        if poll(&mut asked, Some(&Timespec::default()))? == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        match rustix::io::read(pipe, &mut [0_u8; 512]) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(why.into()),
        }
    }
}
