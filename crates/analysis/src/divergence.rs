//! Where two runs of the same plan diverge: the first packet that one sends and the other does not.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use trackbed_core::packet::protocol;
use trackbed_core::{Packet, Time};
use trackbed_net::Direction;

/// A packet, as its sender handed it to a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When, since the first packet of the run.
    pub at: Time,
    /// Forward is up: from a phone to the server.
    pub direction: Direction,
    /// 0 is the shared link, 1 the second one.
    pub link: usize,
    /// What was in it.
    pub content: Content,
    /// Why the link lost it, if so.
    pub lost: Option<&'static str>,
}

/// What of a packet does not depend on random numbers and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The number of the connection, in order of appearance.
    pub flow: usize,
    /// Bytes after the TCP or UDP header.
    pub payload: u32,
    /// The TCP header, if it is TCP.
    pub tcp: Option<Tcp>,
}

/// What of a TCP header is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// The control bits (RFC 9293 section 3.1).
    pub flags: u8,
    /// Sequence number, counted from that of the flow's first segment in this direction.
    pub sequence: u32,
    /// Acknowledgment number, counted from the first sequence number of the other direction.
    pub acknowledgment: u32,
    /// The window in the header, not scaled.
    pub window: u16,
}

/// How two runs diverge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The direction in which they diverge.
    pub direction: Direction,
    /// The packets of this connection, direction and link that both sent before.
    pub common: usize,
    /// What each sent next; one may have sent nothing more.
    pub next: [Option<Sent>; 2],
    /// Bytes that had been sent in this direction of the TCP connection when each sent this next packet, less
    /// those whose acknowledgment the other side had sent.
    pub in_flight: [Option<u32>; 2],
    /// The run that sends nothing more, while the other goes on, if that is the only difference: the one in
    /// virtual time ends with its traffic, and does not wait until connections are closed.
    pub ended: Option<usize>,
}

/// What congestion control knew about a path of the first TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When, since the first packet of the run.
    pub at: Time,
    /// The direction in which its end sends.
    pub direction: Direction,
    /// The number of the path; 0, unless it is Multipath TCP.
    pub path: usize,
    /// Bytes allowed in flight.
    pub bytes: u64,
    /// The smoothed round-trip time; `None` before the first sample.
    pub rtt: Option<Duration>,
}

/// The last windows noted until `at`, one for each direction and path, in this order.
pub fn windows_at(windows: &[Window], at: Time) -> Vec<Window> {
    let before = windows.iter().filter(|window| window.at <= at);
    let mut last = BTreeMap::new();
    for window in before {
        let place =
            last.entry((window.direction == Direction::Backward, window.path)).or_insert(*window);
        if window.at >= place.at {
            *place = *window;
        }
    }
    last.into_values().collect()
}

/// Turns packets into what can be compared, in the order in which they are sent.
#[derive(Debug, Default)]
pub struct Reader {
    flows: Vec<Flow>,
    first: Option<Time>,
}

#[derive(Debug)]
struct Flow {
    ends: [(IpAddr, u16); 2],
    /// The first sequence number from the first end, and from the second.
    bases: [Option<u32>; 2],
}

impl Reader {
    /// When the first packet was handed over, in the time of [`Reader::read`].
    pub fn first(&self) -> Option<Time> {
        self.first
    }

    /// The packet that was handed to `link` at `at`. A super-packet gives one entry for each packet that a
    /// cable carries for it.
    pub fn read(
        &mut self,
        (at, link): (Time, usize),
        direction: Direction,
        packet: &Packet,
    ) -> Vec<Sent> {
        let first = *self.first.get_or_insert(at);
        let data = packet.transport();
        let half =
            |at: usize| data.get(at..at + 2).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
        let word = |at: usize| (u32::from(half(at)) << 16) | u32::from(half(at + 2));
        let is_tcp = packet.protocol() == protocol::TCP && data.len() >= TCP_HEADER;
        let header = if is_tcp { usize::from(data[12] >> 4) * 4 } else { UDP_HEADER };
        let ends = [(packet.source(), half(0)), (packet.destination(), half(2))];
        let (flow, from) = self.flow(ends);
        let tcp = is_tcp.then(|| {
            let bases = &mut self.flows[flow].bases;
            let base = *bases[from].get_or_insert(word(4));
            Tcp {
                flags: data[13],
                sequence: word(4).wrapping_sub(base),
                acknowledgment: word(8).wrapping_sub(bases[1 - from].unwrap_or(0)),
                window: half(14),
            }
        });
        let payload = data.len().saturating_sub(header) as u32;
        let whole = Content { flow, payload, tcp };
        let segment = packet.longest_segment().saturating_sub(packet.segment_header_len()).max(1);
        let pieces = pieces(whole, if packet.segments() > 1 { segment as u32 } else { u32::MAX });
        let at = Time::ZERO + (at - first);
        pieces.map(|content| Sent { at, direction, link, content, lost: None }).collect()
    }

    /// The number of the flow between these ends, and whether the first sends (0) or the second (1).
    fn flow(&mut self, [source, destination]: [(IpAddr, u16); 2]) -> (usize, usize) {
        let place = self.flows.iter().enumerate().find_map(|(number, flow)| {
            let is_known = |ends| flow.ends == ends;
            let from =
                [[source, destination], [destination, source]].into_iter().position(is_known)?;
            Some((number, from))
        });
        place.unwrap_or_else(|| {
            self.flows.push(Flow { ends: [source, destination], bases: [None; 2] });
            (self.flows.len() - 1, 0)
        })
    }
}

/// A payload in pieces of at most `most` bytes.
fn pieces(whole: Content, most: u32) -> impl Iterator<Item = Content> {
    let count = whole.payload.div_ceil(most).max(1);
    (0..count).map(move |number| {
        let offset = number * most.min(whole.payload);
        let tcp = whole.tcp.map(|tcp| Tcp { sequence: tcp.sequence.wrapping_add(offset), ..tcp });
        Content { payload: (whole.payload - offset).min(most), tcp, ..whole }
    })
}

/// Where two runs diverge; `None` if each sends what the other does. Compares each direction of each connection
/// on each link by itself, because the order in which packets of several meet is a matter of microseconds.
/// Sequence numbers and sizes may differ by [`SLACK`]. What a segment acknowledges depends on microseconds too:
/// the numbers of pure acknowledgments may differ by [`ACK_SLACK`], and those beside data by any amount.
pub fn divergence(first: &[Sent], second: &[Sent]) -> Option<Divergence> {
    let when = |found: &Divergence| found.next.iter().flatten().map(|sent| sent.at).min();
    let lanes = lanes(first, second);
    let each = lanes.iter().cloned();
    let all: Vec<_> = each.filter_map(|(direction, runs)| of_lane(direction, runs)).collect();
    // The other run has sent all that both sent before it sends more.
    let is_over = |side: &usize| {
        let other = 1 - side;
        let last = lanes.iter().filter_map(|(_, runs)| runs[other][..common(runs)].last());
        let last = last.map(|sent| sent.at).max();
        all.iter().all(|found| {
            let more = found.next[other].as_ref();
            found.next[*side].is_none() && more.is_some_and(|more| Some(more.at) >= last)
        })
    };
    let ended = (0..2).find(is_over);
    let found = all.into_iter().min_by_key(when)?;
    let in_flight = [(first, &found.next[0]), (second, &found.next[1])]
        .map(|(run, next)| in_flight(run, next.as_ref()?));
    Some(Divergence { in_flight, ended, ..found })
}

/// The first packet that both sent, but more than [`LATE`] apart, before they diverge. `None` if there is none.
pub fn first_late(first: &[Sent], second: &[Sent]) -> Option<[Sent; 2]> {
    let late = |(_, [first, second]): (Direction, [Vec<Sent>; 2])| {
        let mut common =
            first.into_iter().zip(second).take_while(|(one, other)| is_same(one, other));
        common.find(|(one, other)| (one.at - other.at).max(other.at - one.at) > LATE)
    };
    let found = lanes(first, second).into_iter().filter_map(late);
    found.min_by_key(|(one, _)| one.at).map(|(one, other)| [one, other])
}

/// The packets of both runs by direction, link and connection.
fn lanes(first: &[Sent], second: &[Sent]) -> Vec<(Direction, [Vec<Sent>; 2])> {
    let mut lanes: BTreeMap<(bool, usize, usize), [Vec<Sent>; 2]> = BTreeMap::new();
    for (side, run) in [first, second].into_iter().enumerate() {
        for sent in run {
            let is_backward = sent.direction == Direction::Backward;
            let lane = lanes.entry((is_backward, sent.link, sent.content.flow)).or_default();
            lane[side].push(sent.clone());
        }
    }
    let direction = |is_backward| match is_backward {
        true => Direction::Backward,
        false => Direction::Forward,
    };
    lanes.into_iter().map(|((is_backward, ..), runs)| (direction(is_backward), runs)).collect()
}

/// How many packets of a lane both runs send alike.
fn common([first, second]: &[Vec<Sent>; 2]) -> usize {
    first.iter().zip(second).take_while(|(one, other)| is_same(one, other)).count()
}

fn of_lane(direction: Direction, runs: [Vec<Sent>; 2]) -> Option<Divergence> {
    let common = common(&runs);
    let next = runs.map(|run| run.get(common).cloned());
    let is_end = next.iter().all(Option::is_none);
    (!is_end).then_some(Divergence { direction, common, next, in_flight: [None; 2], ended: None })
}

fn is_same(one: &Sent, other: &Sent) -> bool {
    let near = |a: u32, b: u32| a.wrapping_sub(b) <= SLACK || b.wrapping_sub(a) <= SLACK;
    let is_pure = one.content.payload == 0;
    let is_same_tcp = match (one.content.tcp, other.content.tcp) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            (a.flags ^ b.flags) & COMPARED_FLAGS == 0
                && near(a.sequence, b.sequence)
                && (!is_pure || a.acknowledgment.abs_diff(b.acknowledgment) <= ACK_SLACK)
        }
        _ => false,
    };
    is_same_tcp
        && one.lost == other.lost
        && near(one.content.payload, other.content.payload)
        && (one.content.payload == 0) == (other.content.payload == 0)
}

/// What the flow of `next` had sent before it and not been told of.
fn in_flight(run: &[Sent], next: &Sent) -> Option<u32> {
    next.content.tcp?;
    let of_flow = run.iter().filter(|it| it.content.flow == next.content.flow && it.at <= next.at);
    let (mut sent_to, mut told) = (0, 0);
    for sent in of_flow {
        let Some(tcp) = sent.content.tcp else { continue };
        if sent.direction != next.direction {
            let acknowledges = tcp.flags & ACK > 0;
            told = if acknowledges { told.max(tcp.acknowledgment) } else { told };
        } else if sent == next {
            break;
        } else {
            sent_to = sent_to.max(tcp.sequence.wrapping_add(sent.content.payload));
        }
    }
    Some(sent_to.saturating_sub(told))
}

/// Signatures and certificates differ by a few bytes from run to run.
pub const SLACK: u32 = 24;

/// Less than a full segment.
pub const ACK_SLACK: u32 = 500;

/// More than a busy machine delays a packet, and less than a round trip.
pub const LATE: Duration = Duration::from_millis(1);

/// FIN, SYN and RST. When PSH is set is the sender's choice.
const COMPARED_FLAGS: u8 = 0b0000_0111;
const ACK: u8 = 0b0001_0000;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;

#[cfg(test)]
mod tests;
