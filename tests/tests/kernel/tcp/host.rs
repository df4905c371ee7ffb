//! A host whose TCP is the engine: one connection with its application, in real time.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;

use trackbed_core::packet::TooBig;
use trackbed_emulator::Resident;
use trackbed_tcp::{Connection, QuotedSegment, reset_reply};

use crate::app::{App, Failure, Stream};
use crate::engine::{Ended, socket};
use crate::*;

/// The host. It opens or accepts one connection.
#[derive(Debug)]
pub struct Host {
    config: Config,
    /// What the engine's clock shows at the start of the emulation.
    clock_offset: Duration,
    numbers: Rng,
    /// The ends of the connection that it opens at the start.
    pub dial: Option<(SocketAddr, SocketAddr)>,
    pub port: Option<u16>,
    connection: Option<Connection>,
    app: App,
    outgoing: VecDeque<Packet>,
    ends: Sender<Ended<Stats>>,
    reported: bool,
}

impl Host {
    /// A host that reports the result of its connection on `ends`: when the application is done
    /// and everything is acknowledged, or when the host ends.
    pub fn new(
        config: Config,
        clock_offset: Duration,
        numbers: Rng,
        app: App,
        ends: Sender<Ended<Stats>>,
    ) -> Host {
        Host {
            config,
            clock_offset,
            numbers,
            dial: None,
            port: None,
            connection: None,
            app,
            outgoing: VecDeque::new(),
            ends,
            reported: false,
        }
    }

    fn engine_time(&self, now: Time) -> Time {
        now + self.clock_offset
    }

    fn isn(&mut self) -> u32 {
        // Close to the wrap in one case of four.
        let number = self.numbers.next_u64();
        match number % 4 {
            0 => u32::MAX - (number >> 32) as u32 % 65_536,
            _ => (number >> 32) as u32,
        }
    }

    fn take(&mut self, time: Time, segment: Segment) {
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK);
        match &mut self.connection {
            Some(connection) if !connection.is_closed() => {
                connection.handle_segment(time, segment);
            }
            None if opens && self.port == Some(segment.destination.port()) => {
                let isn = self.isn();
                self.connection = Some(Connection::accept(time, &self.config, &segment, isn));
            }
            _ => self.outgoing.extend(reset_reply(&segment)),
        }
    }

    fn work(&mut self, time: Time) {
        self.step(time);
        self.settle(false);
    }

    fn stats(&self, connection: &Connection) -> Stats {
        connection.stats()
    }
}

impl Resident for Host {
    fn receive(&mut self, now: Time, packet: Packet) {
        let time = self.engine_time(now);
        if let Ok(segment) = Segment::parse(&packet) {
            self.take(time, segment);
        } else if let Ok(message) = TooBig::parse(&packet)
            && let Some(quoted) = QuotedSegment::parse(&message)
            && let Some(connection) = &mut self.connection
        {
            connection.handle_too_big(time, message.mtu, quoted.sequence);
        }
        self.work(time);
    }

    fn advance(&mut self, now: Time) {
        let time = self.engine_time(now);
        if let Some((local, remote)) = self.dial.take() {
            let isn = self.isn();
            self.connection = Some(Connection::connect(time, &self.config, local, remote, isn));
        }
        if let Some(connection) = &mut self.connection
            && connection.poll_timeout().is_some_and(|at| at <= time)
        {
            connection.handle_timeout(time);
        }
        self.work(time);
    }

    fn poll_transmit(&mut self) -> Option<Packet> {
        self.outgoing.pop_front()
    }

    fn next_wake(&self) -> Option<Time> {
        let Some(connection) = &self.connection else { return self.dial.map(|_| Time::ZERO) };
        let timers = [connection.poll_timeout(), self.app.next_wake()].into_iter().flatten();
        timers.map(|at| Time::ZERO + (at - (Time::ZERO + self.clock_offset))).min()
    }
}

socket!(Connection);
