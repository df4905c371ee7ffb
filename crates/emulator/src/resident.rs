//! Hosts inside the emulation: no namespace, no kernel, only packets.

use std::fmt;

use trackbed_core::{Packet, Time};

/// A host without a kernel: it makes its own packets and takes those that reach it, in real time.
/// It runs on the emulation's thread, so it must not block; and two residents that answer each
/// other need a link with a delay between them, or no time passes.
///
/// After every call the emulation drains [`Resident::poll_transmit`], then calls
/// [`Resident::next_wake`], and [`Resident::advance`] when that time has come. Times never
/// decrease.
pub trait Resident: fmt::Debug + Send {
    /// Takes a packet that has reached the host.
    fn receive(&mut self, now: Time, packet: Packet);

    /// Does what is due at or before `now`.
    fn advance(&mut self, now: Time);

    /// The next packet to send, from one of the host's own addresses.
    fn poll_transmit(&mut self) -> Option<Packet>;

    /// When to call [`Resident::advance`]; `None` for not before the next packet.
    fn next_wake(&self) -> Option<Time>;
}
