//! A host with Multipath TCP on a [`Course`](super::course::Course).

use trackbed_core::{Packet, Rng, Time};
use trackbed_tcp::Segment;
use trackbed_tcp::multipath::{Key, MultipathConfig, MultipathConnection, join_token};

use super::course::Station;

/// One end: a client that reads, or a server that writes without end once it is connected.
pub struct Ends {
    pub connection: Option<MultipathConnection>,
    config: MultipathConfig,
    rng: Rng,
    writes: bool,
    next_port: u16,
    received: u64,
}

impl Ends {
    pub fn client(connection: MultipathConnection, rng: Rng) -> Ends {
        let config = MultipathConfig::default();
        Ends {
            connection: Some(connection),
            config,
            rng,
            writes: false,
            next_port: 40_001,
            received: 0,
        }
    }

    pub fn server(config: MultipathConfig, rng: Rng) -> Ends {
        Ends { connection: None, config, rng, writes: true, next_port: 40_001, received: 0 }
    }
}

impl Station for Ends {
    fn handle_packet(&mut self, now: Time, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        let Some(connection) = &mut self.connection else {
            let (key, isn) = (Key(self.rng.next_u64()), self.rng.next_u64() as u32);
            let accepted = MultipathConnection::accept(now, &self.config, &segment, key, isn);
            self.connection = Some(accepted);
            return;
        };
        if join_token(&segment).is_some() && !segment.has(trackbed_tcp::Flags::ACK) {
            let (isn, nonce) = (self.rng.next_u64() as u32, self.rng.next_u64() as u32);
            connection.accept_join(now, &segment, isn, nonce).expect("there is room");
        } else {
            connection.handle_segment(now, segment);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let connection = self.connection.as_mut()?;
        while let Some(request) = connection.poll_join() {
            let (isn, nonce) = (self.rng.next_u64() as u32, self.rng.next_u64() as u32);
            connection.join(now, &request, self.next_port, isn, nonce);
            self.next_port += 1;
        }
        if self.writes && connection.is_writable() {
            let mut data = super::ZEROS.clone();
            connection.write_bytes(now, &mut data).expect("it is open");
        }
        while let Some(data) = connection.read(now, usize::MAX).expect("no error") {
            self.received += data.len() as u64;
        }
        connection.poll_transmit(now)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.connection.as_ref()?.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some(connection) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }

    fn received(&self) -> u64 {
        self.received
    }
}
