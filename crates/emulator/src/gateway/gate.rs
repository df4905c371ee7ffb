//! Decides which packets from the link may pass, and which wait for the gateway: in the emulator's
//! thread, without locks, and without system calls except for the first packet of a flow.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use rustc_hash::FxHashMap;
use trackbed_core::Packet;

use super::addresses::{Addresses, DOORS_MAX, tell_full};
use super::wire::{Opening, opening};

/// Holds packets back until there is a socket for them.
#[derive(Debug)]
pub(crate) struct Gate {
    addresses: Addresses,
    doors: FxHashMap<Door, State>,
    knocks: SyncSender<Knock>,
    /// Wakes the worker, also when the gate is gone.
    bell: Arc<OwnedFd>,
}

/// What packets pass through once it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Door {
    /// For one TCP connection.
    Connection { from: SocketAddr, to: SocketAddr },
    /// For all datagrams to one destination.
    Datagrams { to: SocketAddr },
}

/// A message to the worker.
#[derive(Debug)]
pub(super) enum Knock {
    /// This packet is the first to wait at a door.
    At(Door, Packet),
    /// A ping to an outside host.
    Echo(Packet),
}

/// A message from the worker to the gate, or to the emulator around it.
#[derive(Debug)]
pub(crate) enum Order {
    /// Packets at the door, now and later, may pass.
    Open(Door),
    /// Packets at a door are dropped, and later ones knock again.
    Close(Door),
    /// This packet goes back through the link.
    Answer(Packet),
}

#[derive(Debug)]
enum State {
    Asked(Vec<Packet>),
    Open,
}

impl Gate {
    pub(super) fn new(addresses: Addresses, knocks: SyncSender<Knock>, bell: Arc<OwnedFd>) -> Gate {
        Gate { addresses, doors: FxHashMap::default(), knocks, bell }
    }

    /// Takes a packet that has passed the link, and returns it if it may pass immediately.
    pub(crate) fn admit(&mut self, packet: Packet) -> Option<Packet> {
        let Some(opening) = opening(&packet) else { return Some(packet) };
        let door = match opening {
            Opening::Datagram { to, .. } => Door::Datagrams { to },
            Opening::Connection { from, to } => Door::Connection { from, to },
            // The kernel answers for itself.
            Opening::Echo
                if self.addresses.own.contains(&packet.destination())
                    || !self.is_between(&packet) =>
            {
                return Some(packet);
            }
            Opening::Echo => {
                self.knock(Knock::Echo(packet));
                return None;
            }
        };
        match self.doors.get_mut(&door) {
            Some(State::Open) => Some(packet),
            Some(State::Asked(waiting)) => {
                // One SYN is as good as its repetitions; a full queue loses the newest datagram.
                if matches!(door, Door::Datagrams { .. }) && waiting.len() < WAITING_MAX {
                    waiting.push(packet);
                }
                None
            }
            None => self.ask(door, packet),
        }
    }

    /// Whether this comes from behind the link and goes to an address that a gateway can reach.
    fn is_between(&self, packet: &Packet) -> bool {
        self.addresses.are_inside(packet.source())
            && self.addresses.are_outside(packet.destination())
    }

    fn ask(&mut self, door: Door, packet: Packet) -> Option<Packet> {
        if !self.is_between(&packet) {
            return Some(packet);
        }
        if self.doors.len() >= DOORS_MAX {
            // TCP repeats its SYN, and by then there may be room.
            tell_full(DOORS_MAX);
            return None;
        }
        if self.knock(Knock::At(door, packet.clone())) {
            self.doors.insert(door, State::Asked(vec![packet]));
        }
        None
    }

    /// False if the worker is overloaded: the packet is lost, as in any full queue.
    fn knock(&self, knock: Knock) -> bool {
        let heard = self.knocks.try_send(knock).is_ok();
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
        heard
    }

    pub(crate) fn open(&mut self, door: Door) -> Vec<Packet> {
        match self.doors.insert(door, State::Open) {
            Some(State::Asked(waiting)) => waiting,
            Some(State::Open) | None => Vec::new(),
        }
    }

    /// Whether datagrams wait for a socket that is being opened.
    pub(crate) fn holds_datagrams(&self) -> bool {
        let waits = |(door, state): (&Door, &State)| {
            matches!((door, state), (Door::Datagrams { .. }, State::Asked(_)))
        };
        self.doors.iter().any(waits)
    }

    pub(crate) fn close(&mut self, door: Door) {
        self.doors.remove(&door);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // The worker notices it by the closed channel a moment later; the channel is replaced by
        // one without a reader, so that the worker does not check too early.
        let (closed, _) = std::sync::mpsc::sync_channel(0);
        self.knocks = closed;
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
    }
}

/// Maximum datagrams that wait at one door.
const WAITING_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use rustix::event::{EventfdFlags, eventfd};
    use trackbed_core::packet::{Ecn, UdpDatagram};

    use super::*;

    fn gate() -> (Gate, Receiver<Knock>) {
        let addresses = Addresses {
            own: ["100.64.0.1".parse().unwrap(), "fd74:7261::1".parse().unwrap()],
            inside: [("100.64.0.0".parse().unwrap(), 10), ("fd74:7261::".parse().unwrap(), 32)],
        };
        let (knocks, knocked) = sync_channel(8);
        let bell = Arc::new(eventfd(0, EventfdFlags::NONBLOCK).unwrap());
        (Gate::new(addresses, knocks, bell), knocked)
    }

    fn datagram(to: &str, payload: &[u8]) -> Packet {
        let from = if to.starts_with('[') { "[fd74:7261::2]:9" } else { "100.64.0.2:9" };
        UdpDatagram::emit(from.parse().unwrap(), to.parse().unwrap(), Ecn::NotCapable, payload)
    }

    #[test]
    fn packets_wait_in_order_until_the_door_opens() {
        let (mut gate, knocked) = gate();
        for to in ["192.0.2.1:53", "[2001:db8::1]:53", "100.64.0.1:7"] {
            let door = Door::Datagrams { to: to.parse().unwrap() };
            let packets: Vec<Packet> = (0..3).map(|n| datagram(to, &[n])).collect();
            for packet in &packets {
                assert_eq!(gate.admit(packet.clone()), None);
            }
            assert!(matches!(knocked.try_recv(), Ok(Knock::At(at, _)) if at == door));
            assert!(knocked.try_recv().is_err(), "it knocks once");
            assert_eq!(gate.open(door), packets);
            assert_eq!(gate.admit(packets[0].clone()), Some(packets[0].clone()));
            gate.close(door);
            assert_eq!(gate.admit(packets[0].clone()), None);
            assert!(knocked.try_recv().is_ok(), "and again after it was closed");
        }
    }

    #[test]
    fn what_is_not_for_the_world_is_left_to_the_kernel() {
        let (mut gate, knocked) = gate();
        for to in ["100.72.0.2:5", "239.255.255.250:1900", "[ff05::2]:5", "[fd74:7261:2000::2]:5"] {
            assert!(gate.admit(datagram(to, b"")).is_some(), "{to}");
        }
        let outsider = "10.0.0.1:5".parse().unwrap();
        let to = "192.0.2.1:53".parse().unwrap();
        assert!(gate.admit(UdpDatagram::emit(outsider, to, Ecn::NotCapable, b"")).is_some());
        assert!(knocked.try_recv().is_err());
    }

    #[test]
    fn the_worker_hears_that_the_gate_is_gone() {
        let (gate, knocked) = gate();
        drop(gate);
        assert!(matches!(knocked.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected)));
    }
}
