//! Limits on what a broker accepts from unknown clients.

use std::time::Duration;

/// The limits of a broker on state and time. Excess is refused with the reason that each field
/// names, or dropped and [counted](super::Counters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections, including those before CONNECT. More are not opened.
    pub connections: usize,
    /// Sessions, with or without a connection: quota exceeded.
    pub sessions: usize,
    /// The length of a packet in bytes: packet too large.
    pub packet_len: usize,
    /// The length of a client identifier in bytes: client identifier not valid.
    pub client_id_len: usize,
    /// The length of a topic name or filter in bytes: topic name, or topic filter, invalid.
    pub topic_len: usize,
    /// The maximum number of levels of a topic name or filter.
    pub topic_levels: usize,
    /// The subscriptions of a session: quota exceeded.
    pub subscriptions: usize,
    /// Messages of QoS 2 that a client has not released: receive maximum exceeded.
    pub receive_maximum: u16,
    /// The topic aliases of a connection: topic alias invalid.
    pub topic_aliases: u16,
    /// Messages of QoS 1 and 2 that a session has not acknowledged; more are queued.
    pub in_flight: usize,
    /// Messages of QoS 1 and 2 that wait in a session's queue; more are dropped.
    pub queue_len: usize,
    /// The memory of a session's messages in bytes, in flight or queued; more are dropped.
    pub queue_bytes: usize,
    /// Bytes that wait to be sent on a connection. Beyond it messages of QoS 1 and 2 are queued,
    /// those of QoS 0 dropped.
    pub output_bytes: usize,
    /// The memory of all messages on their way in bytes: beyond it a connection with more than a few has no
    /// [room](super::Broker::has_room), and gets no further messages of QoS 1 and 2.
    pub waiting_bytes: usize,
    /// Retained messages: quota exceeded.
    pub retained: usize,
    /// The memory of retained messages in bytes: quota exceeded.
    pub retained_bytes: usize,
    /// How long a client may take to send CONNECT, from the beginning of its connection.
    pub connect_timeout: Duration,
    /// How long a packet may take from its first byte to its last.
    pub packet_timeout: Duration,
    /// How long a session is kept without a connection; a client that asks for more is told this
    /// limit.
    pub session_expiry: Duration,
}

/// For a broker with unknown clients and a few hundred megabytes of free memory.
impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 10_000,
            sessions: 10_000,
            packet_len: 1 << 20,
            client_id_len: 1_024,
            topic_len: 8_192,
            topic_levels: 128,
            subscriptions: 1_000,
            receive_maximum: 1_024,
            topic_aliases: 64,
            in_flight: 1_024,
            queue_len: 10_000,
            queue_bytes: 16 << 20,
            output_bytes: 1 << 20,
            waiting_bytes: usize::MAX,
            retained: 10_000,
            retained_bytes: 64 << 20,
            connect_timeout: Duration::from_secs(10),
            packet_timeout: Duration::from_secs(60),
            session_expiry: Duration::from_secs(86_400),
        }
    }
}
