//! A socket as its user has it: its number in the world of its run.

use std::io;
use std::task::{Context, Poll};

use super::source::{Source, Way};
use super::world;
use crate::executor::{SocketKind, note_pending};

/// Closes the socket when it is dropped.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) run: u64,
    kind: SocketKind,
    key: u32,
}

impl Handle {
    pub(super) fn new(run: u64, kind: SocketKind, source: Source) -> io::Result<Handle> {
        let key = world::reach(run, |world| world.insert(source))??;
        Ok(Handle { run, kind, key })
    }

    /// Runs an operation that may have to wait, which `what` names in a diagnosis.
    pub(super) fn poll<T>(
        &self,
        what: &'static str,
        way: Way,
        cx: &mut Context<'_>,
        act: impl FnMut(&mut Source) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        let polled = world::reach(self.run, |world| world.poll(self.key, way, cx, act))?;
        note_pending(polled, what, self.kind, self.key)
    }

    /// Calls `act` with the socket; `None` if this thread no longer executes its run.
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut Source) -> R) -> Option<R> {
        world::with(self.run, |world| act(world.source(self.key)))
    }

    /// The same; an error if this thread no longer executes its run.
    pub(super) fn reach<R>(&self, act: impl FnOnce(&mut Source) -> R) -> io::Result<R> {
        world::reach(self.run, |world| act(world.source(self.key)))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        world::with(self.run, |world| world.remove(self.key));
    }
}
