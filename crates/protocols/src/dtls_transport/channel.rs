//! The channel: records between the engine and the channel below.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use dimpl::{Dtls, Output, ProtocolVersion};
use trackbed_connection::{Error, Result, Security, Step};
use trackbed_core::Time;
use trackbed_substrate::{from_std_instant, now, to_std_instant};

use super::hello::chosen_suite;
use super::{Peer, meaning};
use crate::alarm::Alarm;
use crate::datagrams::Channel;
use crate::tls::Randomness;

/// A channel whose datagrams are records of DTLS in the channel below.
pub(crate) struct DtlsChannel {
    below: Rc<dyn Channel>,
    state: RefCell<State>,
}

struct State {
    protocol: &'static str,
    dtls: Dtls,
    randomness: Randomness,
    peer: Peer,
    is_trusted: bool,
    connected: bool,
    /// The number of the cipher suite in the last ServerHello of the handshake.
    suite: Option<u16>,
    incoming: VecDeque<Bytes>,
    outgoing: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
    /// When the engine wants to be called again.
    due: Option<Time>,
    alarm: Alarm,
    end: Option<Error>,
}

impl DtlsChannel {
    pub(super) fn new(
        protocol: &'static str,
        dtls: Dtls,
        below: Rc<dyn Channel>,
        peer: Peer,
        randomness: &Randomness,
    ) -> DtlsChannel {
        let buffer = vec![0; below.room().max(BUFFER_LEN)];
        let mut state = State {
            protocol,
            dtls,
            randomness: randomness.clone(),
            is_trusted: matches!(peer, Peer::AnyClient),
            peer,
            connected: false,
            suite: None,
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            buffer,
            due: None,
            alarm: Alarm::default(),
            end: None,
        };
        state.call(|dtls| dtls.handle_timeout(to_std_instant(now())));
        DtlsChannel { below, state: RefCell::new(state) }
    }

    /// Ready when the handshake is over.
    pub(super) fn poll_connected(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.state.borrow_mut();
        self.drive(&mut state, cx);
        match &state.end {
            Some(error) => Poll::Ready(Err(error.clone())),
            None if state.connected => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    }

    pub(crate) fn security(&self) -> Option<Security> {
        let (version, cipher) = meaning(self.state.borrow().suite?)?;
        Some(Security { version, cipher, resumed: false, early_data: false })
    }

    /// Feeds the engine what another one had received and answered; the responses are dropped.
    pub(super) fn recall(&self, datagram: &[u8]) {
        let mut state = self.state.borrow_mut();
        state.receive(datagram);
        state.outgoing.clear();
    }

    fn drive(&self, state: &mut State, cx: &mut Context<'_>) {
        let mut read = 0;
        loop {
            while state.end.is_none()
                && let Poll::Ready(received) = self.below.poll_recv(cx)
            {
                read += 1;
                match received {
                    Ok(datagram) => state.receive(&datagram),
                    Err(error) => {
                        state.fail(Error::transient(state.protocol, Step::Receive, error))
                    }
                }
                if read == TURN {
                    cx.waker().wake_by_ref();
                    break;
                }
            }
            self.flush(state, cx);
            if !state.poll_timer(cx) {
                return;
            }
        }
    }

    /// Passes records to the channel below; false if some have to wait.
    fn flush(&self, state: &mut State, cx: &mut Context<'_>) -> bool {
        while let Some(record) = state.outgoing.front() {
            // A record that the host refuses is a lost one.
            let Poll::Ready(_sent) = self.below.poll_send(cx, record) else { return false };
            state.outgoing.pop_front();
        }
        true
    }
}

impl Channel for DtlsChannel {
    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let mut state = self.state.borrow_mut();
        if let Some(datagram) = state.incoming.pop_front() {
            return Poll::Ready(Ok(datagram));
        }
        self.drive(&mut state, cx);
        match (state.incoming.pop_front(), &state.end) {
            (Some(datagram), _) => Poll::Ready(Ok(datagram)),
            (None, Some(error)) => Poll::Ready(Err(io::Error::other(error.clone()))),
            (None, None) => Poll::Pending,
        }
    }

    fn poll_send(&self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>> {
        let mut state = self.state.borrow_mut();
        if !self.flush(&mut state, cx) {
            return Poll::Pending;
        }
        if let Some(error) = &state.end {
            return Poll::Ready(Err(io::Error::other(error.clone())));
        }
        state.call(|dtls| dtls.send_application_data(datagram).map(drop));
        self.flush(&mut state, cx);
        Poll::Ready(Ok(()))
    }

    fn room(&self) -> usize {
        let overhead = match self.state.borrow().dtls.protocol_version() {
            Some(ProtocolVersion::DTLS1_2) => RECORD_OVERHEAD_12,
            _ => RECORD_OVERHEAD_13,
        };
        self.below.room() - overhead
    }

    fn close(&self) {
        let mut state = self.state.borrow_mut();
        if state.end.is_none() {
            state.call(|dtls| dtls.close());
            // A peer that is gone need not be notified.
            self.flush(&mut state, &mut Context::from_waker(std::task::Waker::noop()));
        }
        self.below.close();
    }
}

impl State {
    /// Calls the engine, then takes what it has.
    fn call(&mut self, action: impl FnOnce(&mut Dtls) -> Result<(), dimpl::Error>) {
        self.randomness.clone().scope(|| {
            if let Err(error) = action(&mut self.dtls) {
                self.broken(&error);
            }
            self.drain();
        });
    }

    fn receive(&mut self, datagram: &[u8]) {
        self.note_suite(datagram);
        self.call(|dtls| {
            dtls.handle_timeout(to_std_instant(now()))?;
            dtls.handle_packet(datagram)
        });
    }

    /// Reads the server's choice, which the engine does not report.
    fn note_suite(&mut self, datagram: &[u8]) {
        if !self.connected {
            self.suite = chosen_suite(datagram).or(self.suite);
        }
    }

    fn drain(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut refused = None;
        while self.end.is_none() || self.connected {
            match self.dtls.poll_output(&mut buffer) {
                Output::Packet(record) => {
                    self.note_suite(record);
                    self.outgoing.push_back(record.to_vec());
                }
                Output::BufferTooSmall { needed } => buffer.resize(needed, 0),
                Output::PeerCert(certificate) => match self.peer.is(certificate) {
                    true => self.is_trusted = true,
                    false => refused = Some("'s certificate is not the trusted one"),
                },
                Output::Connected if !self.is_trusted => {
                    refused.get_or_insert(" sent no certificate");
                }
                Output::Connected => self.connected = true,
                Output::ApplicationData(data) => {
                    self.incoming.push_back(Bytes::copy_from_slice(data));
                }
                Output::CloseNotify => {
                    let reason = "the peer closed the connection";
                    self.fail(Error::transient(self.protocol, Step::Receive, reason));
                }
                Output::Timeout(at) => {
                    self.due = Some(from_std_instant(at));
                    break;
                }
                // Keys for other protocols.
                _ => {}
            }
        }
        if let Some(why) = refused {
            // A peer that believes itself connected learns of it.
            let _no_keys = self.dtls.close();
            while let Output::Packet(record) = self.dtls.poll_output(&mut buffer) {
                self.outgoing.push_back(record.to_vec());
            }
            self.fail(self.lasting(&format!("the {}{why}", self.peer.role())));
        }
        self.buffer = buffer;
    }

    /// Converts an error of the engine. Before the end of the handshake the peer is notified.
    fn broken(&mut self, error: &dimpl::Error) {
        if matches!(error, dimpl::Error::ReceiveQueueFull | dimpl::Error::TransmitQueueFull) {
            // As if the datagram had been lost.
            return;
        }
        if matches!(error, dimpl::Error::Timeout(_)) {
            let reason = "the peer does not answer";
            return self.fail(Error::transient(self.protocol, Step::Handshake, reason));
        }
        if !self.connected && !matches!(self.peer, Peer::Server(_)) {
            self.outgoing.push_back(HANDSHAKE_FAILURE.to_vec());
        }
        self.fail(self.lasting(&error.to_string()));
    }

    fn lasting(&self, reason: &str) -> Error {
        Error::lasting(self.protocol, Step::Handshake, reason)
    }

    fn fail(&mut self, error: Error) {
        self.end.get_or_insert(error);
    }

    /// Sets the timer, and returns whether it has fired.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let has_fired = self.alarm.has_fired(self.due.filter(|_| self.end.is_none()), cx);
        if has_fired {
            self.due = None;
            self.call(|dtls| dtls.handle_timeout(to_std_instant(now())));
        }
        has_fired
    }
}

/// What a record of DTLS 1.3 adds to a datagram: a header with a sequence number of two bytes and a
/// length, the type of the content, and the tag (RFC 9147 section 4).
const RECORD_OVERHEAD_13: usize = 5 + 1 + 16;
/// The same of DTLS 1.2: the header, a nonce and the tag (RFC 6347 section 4.1, RFC 5288 section 3).
const RECORD_OVERHEAD_12: usize = 13 + 8 + 16;

/// The alert that no handshake is possible (RFC 8446 section 6.2), in a separate record. It is not
/// authenticated; it saves an honest peer the timeout.
pub(super) const HANDSHAKE_FAILURE: [u8; 15] =
    [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 2, 2, 40];

/// The buffer for records; the engine reports if one needs more.
pub(super) const BUFFER_LEN: usize = 2_048;

/// How many datagrams are read before other tasks get a turn.
const TURN: usize = 64;
