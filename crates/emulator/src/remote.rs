//! Commands to an emulator that runs on a thread of its own.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use trackbed_net::{Change, Direction, LinkId};

use crate::gateway::gate::Order;

/// Controls a running [`Emulator`](crate::Emulator) from outside. Clones control the same one.
#[derive(Clone, Debug)]
pub struct Remote {
    commands: Sender<Command>,
    wake: Arc<OwnedFd>,
}

#[derive(Debug)]
pub(crate) enum Command {
    Stop,
    Change(LinkId, Direction, Change),
    Withdraw(IpAddr),
    Gate(Order),
    Finish(Duration),
}

impl Remote {
    /// Sends commands, and wakes the emulator by this event.
    pub(crate) fn new(commands: Sender<Command>, wake: Arc<OwnedFd>) -> Remote {
        Remote { commands, wake }
    }

    /// Ends the emulation; packets in flight are lost.
    pub fn stop(&self) {
        self.tell(Command::Stop);
    }

    /// Ends the emulation when no packet is in flight, or after `patience` at the latest.
    pub fn finish(&self, patience: Duration) {
        self.tell(Command::Finish(patience));
    }

    /// Replaces a parameter of one direction of a link from now on; a link without this parameter
    /// is unchanged.
    pub fn change(&self, link: LinkId, direction: Direction, change: Change) {
        self.tell(Command::Change(link, direction, change));
    }

    /// Removes an address for good, as [`Network::withdraw`](trackbed_net::Network::withdraw) does: its host has left that network.
    pub fn withdraw(&self, address: IpAddr) {
        self.tell(Command::Withdraw(address));
    }

    pub(crate) fn order(&self, order: Order) {
        self.tell(Command::Gate(order));
    }

    fn tell(&self, command: Command) {
        // An emulator that has ended does not read it, which is harmless.
        let _ = self.commands.send(command);
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
    }
}
