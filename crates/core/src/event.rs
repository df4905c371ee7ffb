//! The events of a run, with their time. Every metric is computed from them.

mod verification;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Time;
pub use verification::{Decision, Judgement, UnitAccount, Verification};

/// Something that happened in a run.
///
/// `phone` numbers the clients from 0, `connection` and `message` count from 0 on each phone, and
/// `object` on each page, from 0, the document. `intended` is the scheduled time of a message. Spans
/// are from `from` until just before `until`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum Event {
    /// The measured part begins: sessions are warmed up, the first connection is about to open.
    Started,
    /// The measured part is over: every message is answered or given up.
    Finished,
    /// From here on, an answer later than this after its message's intended time misses the
    /// deadline.
    DeadlineSet { after: Duration },
    /// If messages are sent on a schedule, only those with an intended time in this span are
    /// measured; the others are not recorded.
    WindowSet { from: Time, until: Time },
    /// A phone begins to open a connection.
    ConnectStarted { phone: u32, connection: u32 },
    /// The connection can carry a request.
    Connected { phone: u32, connection: u32 },
    /// The result of the handshake, once it is complete.
    Secured {
        phone: u32,
        connection: u32,
        /// The negotiated version and cipher, for example `TLS 1.3 aes128gcm`.
        suite: String,
        /// Whether an earlier session was resumed.
        resumed: bool,
        /// Whether the server accepted early data.
        early: bool,
    },
    /// A message was handed to the protocol.
    Sent {
        phone: u32,
        message: u32,
        /// Its scheduled time; not later than the event itself.
        intended: Time,
        bytes: u64,
    },
    /// The complete answer to a message arrived.
    Answered {
        phone: u32,
        message: u32,
        /// The status: 200 to 299 accepted, any other refused.
        status: u16,
    },
    /// A message was lost, in a workload that continues regardless.
    Lost { phone: u32, message: u32, intended: Time, loss: Loss },
    /// A phone has finished its schedule.
    Scheduled {
        phone: u32,
        /// The number of messages scheduled in the measured window: each was answered or lost.
        messages: u64,
    },
    /// The server received a complete, well-formed message.
    Received { phone: u32, message: u32 },
    /// An accepted message of `phone` was forwarded to the client `listener`: it arrived completely.
    Warned { listener: u32, phone: u32, message: u32 },
    /// Something was given up: a connection or a message.
    Failed { phone: u32, message: u32, reason: String },
    /// A phone loses its connection, or its address, on purpose.
    Disturbed { phone: u32, disturbance: Disturbance },
    /// After a disturbance that broke a connection, the first byte arrived over the next one: at
    /// the phone, or at the server if the phone is the sender.
    Resumed { phone: u32 },
    /// A connection has survived a disturbance, and the next one, or the end, has come.
    Outlived {
        phone: u32,
        /// The longest time in between without a byte at the receiver.
        silence: Duration,
    },
    /// A bulk transfer's last byte arrived.
    Transferred {
        phone: u32,
        bytes: u64,
        /// Whether the received data is the sent data.
        intact: bool,
    },
    /// Data of a flow has arrived.
    Flowing {
        phone: u32,
        /// When the last of it arrived.
        last: Time,
        /// Bytes since the previous event of this kind.
        bytes: u64,
    },
    /// A flow has ended.
    Flowed {
        phone: u32,
        /// Bytes in all.
        bytes: u64,
        /// The longest time without an arrival, from the first byte to the end.
        silence: Duration,
    },
    /// A link changes its cell during the run, with an outage from `from` until `until`; `path`
    /// counts from 0. All handovers are recorded at the start.
    Handover { path: u32, from: Time, until: Time },
    /// An object of a page became known: the page itself, or one named in data that has arrived.
    ObjectFound {
        phone: u32,
        object: u32,
        path: String,
        /// Its kind: html, css, js, image, font or other.
        kind: String,
        /// The size of its content in bytes.
        bytes: u64,
        /// Whether it blocks painting.
        blocking: bool,
    },
    /// An object was requested; again, if the connection broke.
    ObjectRequested { phone: u32, object: u32, connection: u32 },
    /// The head of the response with an object arrived.
    ObjectBegun { phone: u32, object: u32 },
    /// The last byte of an object arrived.
    ObjectDone { phone: u32, object: u32 },
    /// An object was parsed or executed, and the objects it names are known.
    ObjectReady { phone: u32, object: u32 },
    /// A third-party browser has painted a page for the first time.
    PagePainted { phone: u32 },
    /// Every object of a page is ready.
    PageLoaded { phone: u32 },
    /// A step of a player of streamed media.
    Playback { phone: u32, step: Playback },
    /// A step of a unit that verifies signed messages.
    Verification(Verification),
    /// A third-party client ended successfully.
    Completed { phone: u32 },
    /// The inference beside the communication finished a frame.
    Inferred {
        /// The number of the frame, from 1.
        frame: u64,
        /// When the frame began.
        begin: Time,
    },
    /// The resources that the machine and the processes of the run have used since the previous
    /// reading.
    Load(Load),
    /// A sender's packet counters over the whole run.
    Transport {
        role: Role,
        /// Packets or segments with content, retransmissions included.
        packets_sent: u64,
        /// Of these, retransmitted TCP segments, or QUIC packets declared lost.
        packets_lost: u64,
        /// Bytes of these packets.
        bytes_sent: u64,
        /// Of these, path-MTU probes and padding of QUIC.
        filler_bytes: u64,
        /// How long servers of QUIC waited for clients to prove their addresses, in all connections.
        #[serde(default, skip_serializing_if = "Duration::is_zero")]
        address_validation: Duration,
    },
    /// The total resources of an endpoint's process, where endpoints are separate processes. For several
    /// processes with clients, `served` and `without_processor` are means, and the others sums.
    Used {
        role: Role,
        /// Processor time, in user and system mode.
        processor: Duration,
        /// Peak resident memory, in bytes.
        memory_bytes: u64,
        /// Datagrams that arrived but were dropped because its socket buffers were full.
        dropped_datagrams: u64,
        /// How often one of its tasks ran.
        served: u64,
        /// How long tasks that were ready waited for others, all added up.
        tasks_waited: Duration,
        /// How long it was ready to run while others had the processors.
        without_processor: Duration,
    },
    /// The load of the shared link, in the direction with more bytes; only with groups.
    Loaded {
        /// For how long its rate worked on packets.
        busy: Duration,
        /// From the first of them to the end of the last one.
        span: Duration,
        /// Quantiles of the times that packets waited for their turn, evenly spread.
        waits: Vec<Duration>,
    },
    /// How a group shared the network with the others, over the whole run.
    Shared {
        /// Bytes that its clients sent and received, IP headers included.
        bytes: u64,
        /// Those of the clients of all groups.
        bytes_of_all: u64,
        /// The rate of each member of every group, group by group: its bytes over its measured part;
        /// 0 where there was none.
        rates_bps: Vec<u64>,
        /// From the last beginning of a flow to the end of the first second with fair shares.
        convergence: Option<Duration>,
    },
    /// The counters of one direction of a link over the whole run.
    Link {
        /// The link and its direction, for example `link/down`.
        name: String,
        /// Packets that entered, less those that were still inside a minute after the run.
        offered_packets: u64,
        /// Bytes that entered, IP headers included.
        offered_bytes: u64,
        /// Packets dropped by random or scheduled loss.
        lost_packets: u64,
        /// Packets dropped by a full queue or by its algorithm.
        queue_dropped_packets: u64,
    },
}

/// A deliberate disturbance of a phone.
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
    /// It was not sent: the maximum number of messages was waiting for answers.
    Overflow,
    /// It was not sent: there was no connection.
    Unconnected,
    /// It was sent, and no answer came in time.
    Unanswered,
    /// The connection on which it was sent broke.
    Broken,
}

/// An endpoint of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The endpoint that opens connections: a phone.
    Client,
    /// The endpoint that accepts them.
    Server,
}

/// An event and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The time.
    pub at: Time,
    /// The event.
    pub event: Event,
}

/// The growing list of a run's events: a handle shared by the whole run.
#[derive(Clone, Debug, Default)]
pub struct EventLog(Rc<RefCell<Vec<Record>>>);

impl EventLog {
    /// Adds an event; calls come in order of time.
    pub fn record(&self, at: Time, event: Event) {
        self.0.borrow_mut().push(Record { at, event });
    }

    /// Removes and returns all events, oldest first.
    pub fn take(&self) -> Vec<Record> {
        self.0.take()
    }
}

/// A reading of the used resources. What the machine does not report is `None`.
///
/// Shares are in thousandths of a percent of one core: 400,000 is four full cores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// The start of the span that shares are averaged over; it ends with the reading.
    pub since: Time,
    /// The processes of the clients.
    pub client: RoleLoad,
    /// Those of the server, if it is on this machine.
    pub server: RoleLoad,
    /// Those of the inference, if there is one.
    pub inference: RoleLoad,
    /// Processor time of the whole machine.
    pub machine_millipercent: Option<u64>,
    /// The machine's memory in bytes.
    pub memory_total_bytes: Option<u64>,
    /// The busiest graphics processor, in thousandths of a percent of its time.
    pub gpu_millipercent: Option<u64>,
    /// The highest temperature, in thousandths of a degree Celsius.
    pub temperature_millicelsius: Option<i64>,
    /// The highest power, in milliwatts. Supplies may overlap, so it is not a sum.
    pub power_milliwatts: Option<u64>,
}

/// The resources used by the processes of a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleLoad {
    /// Processor time.
    pub millipercent: Option<u64>,
    /// Memory in bytes at the time of the reading.
    pub memory_bytes: Option<u64>,
}

/// A step of a player, which requests one piece of media after the other, a second each.
///
/// `piece` numbers the requests from 0 on, including those after seeks back; `second` is a place in
/// the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum Playback {
    /// A piece was requested; again under the same number if its connection was lost.
    Requested {
        piece: u32,
        /// The second of the media.
        second: u32,
        /// Its resolution, as lines of a picture: 720, 1080 or 1440.
        lines: u32,
    },
    /// The last byte of the piece has arrived.
    Loaded { piece: u32, bytes: u64 },
    /// The viewer left before the piece had arrived.
    Abandoned { piece: u32 },
    /// Playback starts, for the first time or again.
    Playing,
    /// The buffer ran empty during playback.
    Stalled,
    /// The viewer jumped; the buffer was discarded.
    Sought { second: u32 },
    /// The session is over.
    Ended { played: Duration },
}
