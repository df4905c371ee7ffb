//! The network of link models on the real clock: packets enter from the ports, and leave when their
//! time has come.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use rustix::time::ClockId;
use trackbed_core::time::nanos;
use trackbed_core::{Packet, Time};
use trackbed_linux::scheduling::run_before_others;
use trackbed_net::{Network, NodeId};

use crate::alarm::{Alarm, Woken};
use crate::certificate::Certificate;
use crate::clock::{Clock, now};
use crate::gateway::gate::{Gate, Order};
use crate::port::Port;
use crate::remote::{Command, Remote};
use crate::resident::Resident;

/// Carries packets between ports through the link models of a network.
#[derive(Debug)]
pub struct Emulator {
    network: Network,
    ports: Vec<Attachment>,
    /// The port of each node.
    port_of: Vec<Option<usize>>,
    residents: Vec<(NodeId, Box<dyn Resident>)>,
    clock: Clock,
    certificate: Certificate,
    commands: Receiver<Command>,
    wake: Arc<OwnedFd>,
    lead: Lead,
    /// What leaves at this edge passes this gate.
    gate: Option<(NodeId, Gate)>,
    /// When to end even if packets are still in flight.
    patience: Option<Time>,
    spares_processor: bool,
    takes_precedence: bool,
}

/// A port, and the network edges that it represents.
#[derive(Debug)]
pub struct Attachment {
    /// Where packets enter and leave.
    pub port: Port,
    /// The edges of its packets.
    pub edges: Edges,
}

/// The edges behind one port.
#[derive(Clone, Debug)]
pub enum Edges {
    /// One edge, whatever the addresses of its packets.
    One(NodeId),
    /// Several edges, distinguished by the source address of their packets. A packet from any other
    /// address is discarded.
    ByAddress(BTreeMap<IpAddr, NodeId>),
}

impl Edges {
    fn all(&self) -> Vec<NodeId> {
        match self {
            Edges::One(node) => vec![*node],
            Edges::ByAddress(nodes) => nodes.values().copied().collect(),
        }
    }

    fn sender(&self, packet: &Packet) -> Option<NodeId> {
        match self {
            Edges::One(node) => Some(*node),
            Edges::ByAddress(nodes) => nodes.get(&packet.source()).copied(),
        }
    }
}

/// The results of an emulation.
#[derive(Debug)]
pub struct Finished {
    /// The network, with its counters.
    pub network: Network,
    /// Whether this machine kept up.
    pub certificate: Certificate,
}

impl Emulator {
    /// Connects the edges of `network` to ports; `clock` is its clock.
    ///
    /// # Errors
    /// If no descriptors are left.
    pub fn new(
        network: Network,
        ports: Vec<Attachment>,
        clock: Clock,
    ) -> io::Result<(Emulator, Remote)> {
        let mut port_of = vec![None; network.nodes().len()];
        for (index, attachment) in ports.iter().enumerate() {
            attachment.edges.all().iter().for_each(|node| port_of[node.index()] = Some(index));
        }
        let (sender, commands) = mpsc::channel();
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let remote = Remote::new(sender, Arc::clone(&wake));
        let emulator = Emulator {
            network,
            ports,
            port_of,
            residents: Vec::new(),
            clock,
            certificate: Certificate::default(),
            commands,
            wake,
            lead: Lead::default(),
            spares_processor: false,
            takes_precedence: false,
            gate: None,
            patience: None,
        };
        Ok((emulator, remote))
    }

    /// Passes what leaves at `node` through `gate` before it reaches the port.
    pub(crate) fn guard(&mut self, node: NodeId, gate: Gate) {
        self.gate = Some((node, gate));
    }

    /// Makes `resident` the host `node`, which must have no port.
    pub fn accommodate(&mut self, node: NodeId, resident: Box<dyn Resident>) {
        self.residents.push((node, resident));
    }

    /// Trades precision for processor time: the thread does not spin before a packet is due, so
    /// packets are late by the kernel's wake-up latency. For many emulations at a time on one
    /// machine.
    pub fn spare_processor(&mut self) {
        self.spares_processor = true;
    }

    /// Runs before other threads, if this machine allows it: a packet that is due does not wait for
    /// the end of another thread's time slice. Not for several emulations at a time on one machine,
    /// because each spins before packets are due.
    pub fn take_precedence(&mut self) {
        let processors = std::thread::available_parallelism();
        // A single processor is left to the communicating programs.
        self.takes_precedence = processors.is_ok_and(|count| count.get() > 1);
    }

    /// Runs until the remote stops it.
    ///
    /// # Errors
    /// If waiting for packets fails.
    pub fn run(mut self) -> io::Result<Finished> {
        if self.takes_precedence {
            // Without permission, packets are late more often.
            let _ = run_before_others();
        }
        // Otherwise the kernel may add 50 us to every wait; if it refuses, it does.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let alarm = Alarm::new(self.clock)?;
        alarm.watch(&self.wake)?;
        for attachment in &self.ports {
            attachment.port.sources().into_iter().try_for_each(|source| alarm.watch(source))?;
        }
        let (begun, used) = (self.clock.now(), now(ClockId::ThreadCPUTime));
        let mut arrivals = Vec::new();
        while self.obey() && !self.is_finished() {
            self.receive(&mut arrivals);
            let now = self.clock.now();
            self.network.advance(now);
            self.deliver();
            self.wait(&alarm)?;
        }
        for attachment in &mut self.ports {
            self.certificate.overflow += attachment.port.take_overflow()?;
        }
        self.certificate.elapsed = self.clock.now() - begun;
        self.certificate.processor = now(ClockId::ThreadCPUTime).saturating_sub(used);
        Ok(Finished { network: self.network, certificate: self.certificate })
    }

    fn obey(&mut self) -> bool {
        loop {
            match self.commands.try_recv() {
                Ok(Command::Change(link, direction, change)) => {
                    let now = self.clock.now();
                    self.network.change(now, link, direction, &change);
                }
                Ok(Command::Withdraw(address)) => {
                    self.network.withdraw(self.clock.now(), address);
                }
                Ok(Command::Finish(patience)) => self.patience = Some(self.clock.now() + patience),
                Ok(Command::Gate(order)) => self.obey_gateway(order),
                Ok(Command::Stop) | Err(mpsc::TryRecvError::Disconnected) => return false,
                Err(mpsc::TryRecvError::Empty) => return true,
            }
        }
    }

    /// Whether the end was requested and all packets have arrived, or the patience is over.
    fn is_finished(&mut self) -> bool {
        let Some(patience) = self.patience else { return false };
        let waits = self.gate.as_ref().is_some_and(|(_, gate)| gate.holds_datagrams());
        let is_empty = self.next_wake().is_none() && !self.is_ready() && !waits;
        is_empty || self.clock.now() >= patience
    }

    fn obey_gateway(&mut self, order: Order) {
        let Some((node, gate)) = &mut self.gate else { return };
        match order {
            Order::Open(door) => {
                let Some(port) = self.port_of[node.index()] else { return };
                let port = &mut self.ports[port].port;
                gate.open(door).into_iter().for_each(|packet| port.queue(packet));
                port.flush();
            }
            Order::Close(door) => gate.close(door),
            Order::Answer(packet) => self.network.send(self.clock.now(), *node, packet),
        }
    }

    /// Takes packets that have arrived since the last call, in the order and at the times of their
    /// arrival: their time in the ring makes no difference.
    fn receive(&mut self, arrivals: &mut Vec<(Time, NodeId, Packet)>) {
        if !self.is_ready() {
            return;
        }
        let calendar = self.clock.calendar();
        for Attachment { port, edges } in &mut self.ports {
            let received = std::iter::from_fn(|| port.receive(calendar)).take(BURST);
            let known = received
                .filter_map(|(at, packet)| edges.sender(&packet).map(|node| (at, node, packet)));
            arrivals.extend(known);
        }
        arrivals.sort_by_key(|(at, _, _)| *at);
        let now = self.clock.now();
        for (at, node, packet) in arrivals.drain(..) {
            // The time of day may have been set in between.
            self.network.send(at.min(now), node, packet);
        }
    }

    /// Delivers packets that have left the network, and takes the residents' answers.
    fn deliver(&mut self) {
        let mut delivered = false;
        loop {
            let mut now = None;
            while let Some(delivery) = self.network.poll_delivery() {
                let now = *now.get_or_insert_with(|| self.clock.now());
                let node = delivery.node;
                if let Some(port) = self.port_of[node.index()] {
                    self.certificate.note(now.since(delivery.at), delivery.packet.segments());
                    let packet = match &mut self.gate {
                        Some((guarded, gate)) if *guarded == node => gate.admit(delivery.packet),
                        _ => Some(delivery.packet),
                    };
                    packet.into_iter().for_each(|packet| self.ports[port].port.queue(packet));
                    delivered = true;
                } else if let Some((_, resident)) =
                    self.residents.iter_mut().find(|(home, _)| *home == node)
                {
                    self.certificate.note(now.since(delivery.at), delivery.packet.segments());
                    resident.receive(now, delivery.packet);
                }
            }
            if !self.listen_to_residents() {
                break;
            }
        }
        if delivered {
            self.ports.iter_mut().for_each(|attachment| attachment.port.flush());
        }
    }

    /// Runs residents that are due, and sends their packets; true if there were any.
    fn listen_to_residents(&mut self) -> bool {
        let mut sent = false;
        for (node, resident) in &mut self.residents {
            let now = self.clock.now();
            if resident.next_wake().is_some_and(|at| at <= now) {
                resident.advance(now);
            }
            while let Some(packet) = resident.poll_transmit() {
                self.network.send(now, *node, packet);
                sent = true;
            }
        }
        sent
    }

    fn next_wake(&self) -> Option<Time> {
        let residents = self.residents.iter().filter_map(|(_, resident)| resident.next_wake());
        residents.chain(self.network.next_wake()).min()
    }

    /// Waits until a packet arrives or is due. It spins just before one is due, because the kernel
    /// wakes a thread tens of microseconds late.
    fn wait(&mut self, alarm: &Alarm) -> io::Result<()> {
        let due = self.next_wake();
        if self.is_ready() || self.is_finished() {
            return Ok(());
        }
        let lead = if self.spares_processor { 0 } else { self.lead.nanos() };
        let rise = due.map(|due| Time::from_nanos(due.as_nanos().saturating_sub(lead)));
        let rise = rise.into_iter().chain(self.patience).min();
        if rise.is_none_or(|rise| rise > self.clock.now()) {
            let woken = alarm.wait(rise)?;
            match (woken, rise) {
                (Woken::InTime, Some(rise)) => self.lead.learn(self.clock.now().since(rise)),
                // It may be a command; `obey` reads it.
                _ => drop(rustix::io::read(&*self.wake, &mut [0; 8])),
            }
        }
        while !self.spares_processor && self.is_close(due) && !self.is_ready() {
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Whether the next due time is near enough for spinning.
    fn is_close(&self, due: Option<Time>) -> bool {
        let now = self.clock.now();
        due.is_some_and(|due| due > now && due.since(now).as_nanos() <= self.lead.nanos().into())
    }

    fn is_ready(&mut self) -> bool {
        self.ports.iter_mut().any(|attachment| attachment.port.is_ready())
    }
}

/// Packets taken from one port before the others get their turn.
const BURST: usize = 128;

/// How long before a packet is due to wake up: the kernel's wake-up latency, except for its slowest
/// one percent. On a virtual machine this may be a quarter of a millisecond.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// A moving estimate of a high quantile of the wake-up latency, in nanoseconds.
    late: u64,
}

impl Lead {
    pub(crate) fn nanos(&self) -> u64 {
        self.late.clamp(LEAD_MIN, LEAD_MAX)
    }

    /// Adds the latency of a wake-up.
    ///
    /// Steps up are larger than steps down, so that they balance at the quantile.
    pub(crate) fn learn(&mut self, late: Duration) {
        let late = nanos(late);
        let step = self.late / 16 + 1_000;
        self.late = match late > self.late {
            true => self.late + step,
            false => self.late - step.min(self.late) / 32,
        };
    }
}

const LEAD_MIN: u64 = 20_000;
const LEAD_MAX: u64 = 500_000;
