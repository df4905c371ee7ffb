//! What drives the executor on the kernel's sockets: the machine's clock, and epoll.

use std::time::Duration;

use trackbed_core::Time;

use super::origin::Origin;
use super::world::{self, World};
use crate::clock;
use crate::executor::{Reactor, SocketRef, StallReason, describe_tasks, next_timer, stamp_ready};
use crate::run::Cancel;
use crate::run::diagnosis::{Lines, name_of, when};

pub(super) struct KernelReactor<'a> {
    pub(super) run: u64,
    pub(super) origin: Origin,
    pub(super) time_limit: Time,
    pub(super) cancel: &'a Cancel,
    /// Tasks run since the kernel was last polled for events.
    pub(super) since_look: u32,
}

impl Reactor for KernelReactor<'_> {
    fn park(&mut self, deadline: Option<Time>) -> Result<u64, StallReason> {
        self.since_look = 0;
        loop {
            let now = self.read_clock();
            self.check(now)?;
            let due = |now| deadline.is_some_and(|deadline| deadline <= now);
            let timeout = if due(now) { Duration::ZERO } else { LOOK_AT_LEAST_EVERY };
            let waited = self.with_world(|world| {
                if deadline.is_none() && !world.is_awaiting() {
                    return Err(StallReason::NothingLeft);
                }
                if !due(now) {
                    world.wake_by(now, deadline.unwrap_or(Time::MAX).min(self.time_limit));
                }
                Ok(world.collect(timeout))
            });
            let events = waited?;
            let (began, now) = (now, self.read_clock());
            self.with_world(|world| {
                world.watch.found(began, now, events);
                if let Some(deadline) = deadline.filter(|_| due(now)) {
                    world.watch.timer(now.since(deadline));
                }
            });
            if events > 0 || due(now) {
                return Ok(events);
            }
        }
    }

    fn tick(&mut self) -> Result<bool, StallReason> {
        let now = self.read_clock();
        // What the last task woke waits from its end on: most of it goes on with the same work.
        stamp_ready(now);
        world::refill();
        self.since_look += 1;
        if self.since_look < TASKS_PER_LOOK {
            return Ok(false);
        }
        self.since_look = 0;
        self.check(now)?;
        self.with_world(|world| {
            let events = world.collect(Duration::ZERO);
            world.watch.found(now, self.read_clock(), events);
        });
        Ok(true)
    }

    fn runs(&mut self, waited: Duration) {
        self.with_world(|world| world.watch.task(waited));
    }

    fn diagnose(&self) -> String {
        let name =
            |world: &World, socket: SocketRef| name_of(world.sources.get(socket.key as usize));
        let tasks = describe_tasks(&|socket| self.with_world(|world| name(world, socket)));
        let mut sockets = Lines::default();
        self.with_world(|world| world.sources.iter().for_each(|(_, source)| sockets.add(source)));
        let next = when(next_timer());
        format!("tasks:\n{tasks}sockets:\n{sockets}next events:\n  a timer: {next}\n")
    }
}

impl KernelReactor<'_> {
    fn read_clock(&self) -> Time {
        let now = self.origin.elapsed();
        clock::set(now);
        now
    }

    fn check(&self, now: Time) -> Result<(), StallReason> {
        if self.cancel.is_cancelled() {
            return Err(StallReason::Cancelled);
        }
        if now >= self.time_limit { Err(StallReason::TimeLimit) } else { Ok(()) }
    }

    fn with_world<R>(&self, action: impl FnOnce(&mut World) -> R) -> R {
        world::with(self.run, action).expect("the world lives as long as its run")
    }
}

/// The maximum delay until a run notices that it is cancelled.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_millis(50);

/// The number of tasks run before the kernel is polled although others are ready, like tokio's
/// `event_interval`.
const TASKS_PER_LOOK: u32 = 61;
