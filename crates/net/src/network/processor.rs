//! The processor time of sending and receiving on a host.

use std::fmt;

use trackbed_core::{Packet, Time};

use super::tap::Count;
use super::{Delivery, Network, NodeId};

/// A machine whose processor takes time for the packets of one host, or of several that stand for its
/// programs. A packet that a host sends enters its link when it has been handled, and one that reaches
/// a host is delivered then; packets of a host to itself, and what a host's own link answers, take
/// nothing.
///
/// The contract: after [`Processor::take`] and [`Processor::advance`], what has been handled is
/// taken with [`Processor::next_handled`] until there is nothing more, and [`Processor::next_wake`]
/// is called again. Times never decrease, and none is passed that is later than the next wake.
pub trait Processor: fmt::Debug + Send {
    /// Takes a packet to handle; a processor without cost finishes it at once.
    ///
    /// # Errors
    /// The packet, which is lost, if too many wait.
    fn take(&mut self, now: Time, node: NodeId, way: Way, packet: Packet) -> Result<(), Packet>;

    /// Advances the time to `now`.
    fn advance(&mut self, now: Time);

    /// The next packet that has been handled, in the order in which they have been.
    fn next_handled(&mut self) -> Option<Handled>;

    /// When [`Processor::advance`] must be called next; `None` while it is idle.
    fn next_wake(&self) -> Option<Time>;
}

/// Where a packet goes, seen from a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the network.
    Out,
    /// To the host's sockets.
    In,
}

/// A packet that a [`Processor`] has handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handled {
    /// The host whose packet it is.
    pub node: NodeId,
    /// Where it goes.
    pub way: Way,
    /// The packet, as it was taken.
    pub packet: Packet,
}

/// A processor and whose it is.
#[derive(Debug)]
pub(super) struct Busy {
    /// In their order.
    nodes: Vec<NodeId>,
    processor: Box<dyn Processor>,
    refused: Count,
}

impl Network {
    /// From now on `processor` handles the packets of these hosts, which share it. They must not have
    /// another one.
    pub fn add_processor(&mut self, mut nodes: Vec<NodeId>, processor: Box<dyn Processor>) {
        nodes.sort();
        self.busy.push(Busy { nodes, processor, refused: Count::default() });
    }

    /// Packets that the [`Processor`]s had no room for.
    pub fn refused(&self) -> Count {
        self.busy.iter().map(|busy| busy.refused).sum()
    }

    pub(super) fn processor_wake(&self) -> Option<Time> {
        self.busy.iter().filter_map(|busy| busy.processor.next_wake()).min()
    }

    /// Advances the processors to `now`, in their order.
    pub(super) fn wake_processors(&mut self, now: Time) {
        self.busy.iter_mut().for_each(|busy| busy.processor.advance(now));
        (0..self.busy.len()).for_each(|index| self.release(index));
        self.settle();
    }

    pub(super) fn leave(&mut self, node: NodeId, packet: Packet) {
        if let Some(packet) = self.handle(self.clock, node, Way::Out, packet) {
            self.depart(node, packet);
        }
    }

    /// A packet has reached the host to which it is addressed.
    pub(super) fn reach(&mut self, at: Time, node: NodeId, packet: Packet) {
        if let Some(packet) = self.handle(at, node, Way::In, packet) {
            self.deliveries.push_back(Delivery { at, node, packet });
        }
    }

    /// Passes a packet to the host's processor; returns it if the host has none.
    fn handle(&mut self, at: Time, node: NodeId, way: Way, packet: Packet) -> Option<Packet> {
        let is_its = |busy: &Busy| busy.nodes.binary_search(&node).is_ok();
        let Some(index) = self.busy.iter().position(is_its) else { return Some(packet) };
        let busy = &mut self.busy[index];
        if let Err(packet) = busy.processor.take(at, node, way, packet) {
            busy.refused.add(&packet);
        }
        self.release(index);
        None
    }

    fn release(&mut self, index: usize) {
        while let Some(handled) = self.busy[index].processor.next_handled() {
            let Handled { node, way, packet } = handled;
            match way {
                Way::Out => self.depart(node, packet),
                Way::In => {
                    self.deliveries.push_back(Delivery { at: self.clock, node, packet });
                }
            }
        }
    }

    /// A packet leaves a host through the interface that has its source address.
    fn depart(&mut self, node: NodeId, packet: Packet) {
        match self.routes.owner(packet.source()) {
            Some(channel) if self.routes.begin(channel) == node => {
                self.transmit(self.clock, channel, packet);
            }
            _ => self.discard(self.clock, node, &packet),
        }
    }
}
