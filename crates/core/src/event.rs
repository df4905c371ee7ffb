//! What a run reports: events with their time. Every metric is computed from them.

mod load;
mod playback;
mod verification;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Time;
pub use load::{Load, RoleLoad};
pub use playback::Playback;
pub use verification::{Judgement, UnitAccount, Verification};

/// Something that happened in a run.
///
/// `phone` numbers the clients from 0, `connection` and `message` count from 0 on each phone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Event {
    /// The measured part begins: sessions are warmed up, the first connection is about to open.
    Started,
    /// The measured part is over: all that was to be sent is answered or given up.
    Finished,
    /// From here on, an answer later than this after its message's intended time misses the
    /// deadline.
    DeadlineSet {
        /// The span between the intended time and the last moment in time.
        after: Duration,
    },
    /// Of messages that are sent by a schedule, only those of this span are measured; nothing is
    /// recorded of the others.
    WindowSet {
        /// The first moment at which a message that counts may be to be sent.
        from: Time,
        /// The first moment after the last.
        until: Time,
    },
    /// A phone begins to open a connection.
    ConnectStarted {
        /// Which client.
        phone: u32,
        /// Its how-manieth connection.
        connection: u32,
    },
    /// The connection can carry a request.
    Connected {
        /// Which client.
        phone: u32,
        /// Its how-manieth connection.
        connection: u32,
    },
    /// What the peers agreed upon, known once the handshake is complete.
    Secured {
        /// Which client.
        phone: u32,
        /// Its how-manieth connection.
        connection: u32,
        /// The negotiated version and cipher, for example `TLS 1.3 aes128gcm`.
        suite: String,
        /// An earlier session was taken up again.
        resumed: bool,
        /// The server accepted early data.
        early: bool,
    },
    /// A message was handed to the protocol.
    Sent {
        /// Which client.
        phone: u32,
        /// Its how-manieth message.
        message: u32,
        /// When the schedule wanted it sent; not later than the event itself.
        intended: Time,
        /// Bytes of the message.
        bytes: u64,
    },
    /// The whole answer to a message arrived.
    Answered {
        /// Which client.
        phone: u32,
        /// Its how-manieth message.
        message: u32,
        /// The status: 200 to 299 taken, 400 to 499 refused as malformed.
        status: u16,
    },
    /// A message came to nothing, in a workload that goes on regardless.
    Lost {
        /// Which client.
        phone: u32,
        /// Its how-manieth message.
        message: u32,
        /// When the schedule wanted it sent.
        intended: Time,
        /// How it was lost.
        loss: Loss,
    },
    /// A phone has come to the end of its schedule.
    Scheduled {
        /// Which client.
        phone: u32,
        /// How many messages the schedule had in the measured window: each was answered or lost.
        messages: u64,
    },
    /// The server took in a whole, well-formed message.
    Received {
        /// Which client sent it.
        phone: u32,
        /// The client's how-manieth message.
        message: u32,
    },
    /// A listener was told of a message that the server has accepted: all of it arrived.
    Warned {
        /// Which client listens.
        listener: u32,
        /// Which client sent it.
        phone: u32,
        /// That client's how-manieth message.
        message: u32,
    },
    /// Something was given up: a connection or a message.
    Failed {
        /// Which client.
        phone: u32,
        /// Its how-manieth message.
        message: u32,
        /// Why, in words.
        reason: String,
    },
    /// A phone loses its connection, or its address, on purpose.
    Disturbed {
        /// Which client.
        phone: u32,
        /// What happens to it.
        disturbance: Disturbance,
    },
    /// After a disturbance that cost a connection, the first byte arrived over the next one: at the
    /// phone, or at the server where the phone is the one that sends.
    Resumed {
        /// Which client.
        phone: u32,
    },
    /// A connection has outlived a disturbance, and the next one, or the end, has come.
    Outlived {
        /// Which client.
        phone: u32,
        /// The longest time in between in which no byte arrived at the end that receives.
        silence: Duration,
    },
    /// A bulk transfer's last byte arrived.
    Transferred {
        /// Which client.
        phone: u32,
        /// Bytes that arrived.
        bytes: u64,
        /// The digest of what arrived is that of what was sent.
        intact: bool,
    },
    /// Data of a flow has arrived.
    Flowing {
        /// Which client.
        phone: u32,
        /// When the last of it came.
        last: Time,
        /// Bytes since the event of this kind before.
        bytes: u64,
    },
    /// A flow has come to its end.
    Flowed {
        /// Which client.
        phone: u32,
        /// Bytes in all.
        bytes: u64,
        /// The longest time without an arrival, from the first byte to the end.
        silence: Duration,
    },
    /// A link changes its cell during the run. All that will is recorded at the start.
    Handover {
        /// The how-manieth path it is, from 0.
        path: u32,
        /// When nothing passes any more.
        from: Time,
        /// When data flows again.
        until: Time,
    },
    /// An object of a page became known: it is the page itself, or is named in what has arrived.
    ObjectFound {
        /// Which client.
        phone: u32,
        /// Its place on the page, from 0; that is the document.
        object: u32,
        /// Where it is.
        path: String,
        /// What it is: html, css, js, image, font or other.
        kind: String,
        /// The bytes of its content.
        bytes: u64,
        /// Nothing is painted before it is there.
        blocking: bool,
    },
    /// An object was requested; again, if the connection broke.
    ObjectRequested {
        /// Which client.
        phone: u32,
        /// Its place on the page.
        object: u32,
        /// The how-manieth connection of the client it is requested on.
        connection: u32,
    },
    /// The head of the response with an object arrived.
    ObjectBegun {
        /// Which client.
        phone: u32,
        /// Its place on the page.
        object: u32,
    },
    /// The last byte of an object arrived.
    ObjectDone {
        /// Which client.
        phone: u32,
        /// Its place on the page.
        object: u32,
    },
    /// An object was parsed or executed, and what it names is known.
    ObjectReady {
        /// Which client.
        phone: u32,
        /// Its place on the page.
        object: u32,
    },
    /// A browser that is not ours has shown something of a page for the first time.
    PagePainted {
        /// Which client.
        phone: u32,
    },
    /// Every object of a page is ready.
    PageLoaded {
        /// Which client.
        phone: u32,
    },
    /// A step of a player of streamed media.
    Playback {
        /// Which client.
        phone: u32,
        /// What happened.
        step: Playback,
    },
    /// A step of a unit that verifies signed messages.
    Verification(Verification),
    /// A client that is not ours came to its end, with success.
    Completed {
        /// Which client.
        phone: u32,
    },
    /// Inference beside the communication was done with a frame.
    Inferred {
        /// Its how-manieth frame, from 1.
        frame: u64,
        /// When it began with it.
        begin: Time,
    },
    /// What the machine and the processes of the run have used since the reading before.
    Load(Load),
    /// A sender's own account of its packets over the whole run.
    Transport {
        /// Whose account it is.
        role: Role,
        /// Packets or segments that carried anything, retransmissions included.
        packets_sent: u64,
        /// Of these, TCP segments sent again, or QUIC packets declared lost.
        packets_lost: u64,
    },
    /// What an end's process has used by its end, where ends are processes of their own.
    Used {
        /// Whose process.
        role: Role,
        /// Processor time, in user and system mode.
        processor: Duration,
        /// The most memory that was resident at once, in bytes.
        memory_bytes: u64,
        /// Datagrams that arrived and were lost because its sockets had no room.
        dropped_datagrams: u64,
    },
    /// A link's account of one of its directions over the whole run.
    Link {
        /// The link and its direction, for example `link/down`.
        name: String,
        /// Packets that entered.
        offered_packets: u64,
        /// Bytes that entered, IP headers included.
        offered_bytes: u64,
        /// Packets dropped by random or scheduled loss.
        lost_packets: u64,
        /// Packets dropped because a queue was full or a queue law said so.
        queue_dropped_packets: u64,
    },
}

/// What happens to a phone on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Disturbance {
    /// It drops its connection and opens another one.
    Reconnection,
    /// It moves to another network: its address changes.
    Move,
}

/// How a message was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loss {
    /// It was not sent: as many as may be were waiting for their answers.
    Overflow,
    /// It was not sent: there was no connection.
    Unconnected,
    /// It was sent, and no answer came in time.
    Unanswered,
    /// The connection that it was sent on broke.
    Broken,
}

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The end that opens connections: a phone.
    Client,
    /// The end that accepts them.
    Server,
}

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When.
    pub at: Time,
    /// What.
    pub event: Event,
}

/// The growing list of a run's events: a handle that everyone in the run shares.
#[derive(Clone, Debug, Default)]
pub struct EventLog(Rc<RefCell<Vec<Record>>>);

impl EventLog {
    /// Adds an event; calls come in order of time.
    pub fn record(&self, at: Time, event: Event) {
        self.0.borrow_mut().push(Record { at, event });
    }

    /// Takes all events out, oldest first.
    pub fn take(&self) -> Vec<Record> {
        self.0.take()
    }
}
