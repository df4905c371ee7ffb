//! What drives the executor in the virtual substrate: a clock that jumps from event to event.

use trackbed_core::Time;

use super::world::{self, World};
use crate::clock;
use crate::executor::{Reactor, SocketKind, SocketRef, StallReason, describe_tasks, next_timer};
use crate::run::Cancel;
use crate::run::diagnosis::{Lines, name_of, when};

pub(super) struct SimulatedReactor<'a> {
    pub(super) run: u64,
    pub(super) time_limit: Time,
    pub(super) cancel: &'a Cancel,
}

impl Reactor for SimulatedReactor<'_> {
    fn park(&mut self, deadline: Option<Time>) -> Result<u64, StallReason> {
        if self.cancel.is_cancelled() {
            return Err(StallReason::Cancelled);
        }
        self.with_world(|world| {
            // Packets that the tasks sent may have arrived at once.
            let events = world.deliver();
            if events > 0 {
                return Ok(events);
            }
            let next = [world.next_wake(), deadline].into_iter().flatten().min();
            let now = next.ok_or(StallReason::NothingLeft)?.max(clock::now());
            if now > self.time_limit {
                return Err(StallReason::TimeLimit);
            }
            clock::set(now);
            Ok(world.advance(now))
        })
    }

    fn diagnose(&self) -> String {
        let tasks = describe_tasks(&|socket| self.with_world(|world| socket_name(world, socket)));
        let sockets = self.with_world(|world| describe_sockets(world));
        let next = self.with_world(|world| {
            format!(
                "  a timer: {}\n  a packet on a link: {}\n  a TCP timer: {}\n",
                when(next_timer()),
                when(world.network.next_wake()),
                when(world.tcp_timers.next()),
            )
        });
        format!("tasks:\n{tasks}sockets:\n{sockets}next events:\n{next}")
    }
}

impl SimulatedReactor<'_> {
    fn with_world<R>(&self, action: impl FnOnce(&mut World) -> R) -> R {
        world::with(self.run, action).expect("the world lives as long as its run")
    }
}

fn socket_name(world: &World, socket: SocketRef) -> String {
    let key = socket.key as usize;
    match socket.kind {
        SocketKind::Udp => name_of(world.udp.get(key)),
        SocketKind::Tcp => name_of(world.tcp.get(key)),
        SocketKind::Listener => name_of(world.listeners.get(key)),
        SocketKind::Pipe => unreachable!("nothing here comes from another process"),
    }
}

fn describe_sockets(world: &World) -> String {
    let mut lines = Lines::default();
    world.listeners.iter().for_each(|(_, socket)| lines.add(socket));
    world.udp.iter().for_each(|(_, socket)| lines.add(socket));
    world.tcp.iter().for_each(|(_, socket)| lines.add(socket));
    lines.to_string()
}
