//! Pipes from another process: pipe(7).

use std::future::poll_fn;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::task::{Context, Poll};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::source::{Detail, Source, Way};
use super::world;
use crate::executor::{SocketKind, note_pending};

struct Pipe {
    run: u64,
    key: u32,
}

/// Resolves when the last writer of `pipe` is closed; data written until then is discarded. It also
/// resolves when the run ends.
pub(super) async fn closed(run: u64, pipe: OwnedFd) -> io::Result<()> {
    let source = Source::new(pipe, Detail::Pipe);
    let key = world::reach(run, |world| world.insert(source))??;
    let pipe = Pipe { run, key };
    poll_fn(|cx| pipe.poll_closed(cx)).await
}

impl Pipe {
    fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = world::reach(self.run, |world| {
            world.poll(self.key, Way::Read, cx, |source| drain(source.descriptor()?))
        })?;
        note_pending(polled, "for the end of", SocketKind::Pipe, self.key)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        world::with(self.run, |world| world.remove(self.key));
    }
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
