//! What both sides may put on the wire, compared with the capture.

use trackbed_core::packet::Ecn;
use trackbed_tcp::Seq;

use super::ground::Setup;
use crate::capture::Seen;
use crate::*;

pub fn problems(setup: &Setup, packets: &[Seen]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut engine = Sender::new(setup.engine.config.mtu as usize);
    let mut kernel = Sender::new(setup.kernel.mtu as usize);
    for seen in packets {
        let Ok(segment) = Segment::parse(&seen.packet) else { continue };
        let mut told = |who: &str, found: Option<String>| {
            if let Some(what) = found
                && problems.len() < MOST
            {
                problems.push(format!("{:.6} s: {who} {what}", seen.at.as_secs_f64()));
            }
        };
        match (seen.direction, seen.point) {
            (Direction::Forward, Point::Entered) => {
                told("the engine", engine.sends(&segment, seen.packet.len()));
                told("the engine", engine.keeps_its_window(&segment));
                told("the engine", engine.stays_in_window(&segment));
                told("the engine", engine.sends_ecn_as_allowed(&segment));
            }
            (Direction::Backward, Point::Entered) => {
                told("the kernel", kernel.sends(&segment, seen.packet.len()));
            }
            (Direction::Forward, Point::Delivered) => kernel.hears(&segment),
            (Direction::Backward, Point::Delivered) => engine.hears(&segment),
            _ => {}
        }
    }
    problems.extend(options(setup, packets));
    problems
}

/// Segments of one direction, in the order in which they were sent.
pub fn sent(packets: &[Seen], direction: Direction) -> impl Iterator<Item = (&Seen, Segment)> {
    at(packets, direction, Point::Entered)
}

/// Segments of one direction at one point. Damaged segments are left out.
pub fn at(
    packets: &[Seen],
    direction: Direction,
    point: Point,
) -> impl Iterator<Item = (&Seen, Segment)> {
    let there = packets.iter().filter(move |it| (it.direction, it.point) == (direction, point));
    there.filter_map(|seen| Some((seen, Segment::parse(&seen.packet).ok()?)))
}

/// Options that one side did not offer are not used by either.
fn options(setup: &Setup, packets: &[Seen]) -> Vec<String> {
    let config = &setup.engine.config;
    let on = |name: &str, by_default: &str| {
        let set = setup.kernel.settings.iter().find(|(known, _)| *known == name);
        set.map_or(by_default, |(_, value)| value) != "0"
    };
    let timestamps = config.timestamps && on("tcp_timestamps", "1");
    let sack = config.sack && on("tcp_sack", "1");
    let ecn = config.ecn != EcnMode::Off && on("tcp_ecn", "2");
    let mut problems = Vec::new();
    for direction in [Direction::Forward, Direction::Backward] {
        for (seen, segment) in sent(packets, direction).filter(|(_, s)| !s.has(Flags::SYN)) {
            let at = format!("{:.6} s, {direction:?}", seen.at.as_secs_f64());
            let stray = !timestamps && segment.options.timestamps.is_some();
            let missing = timestamps && !segment.has(Flags::RST);
            if stray || (missing && segment.options.timestamps.is_none()) {
                problems.push(format!("{at}: timestamps should be used: {timestamps}"));
            }
            if !sack && !segment.options.sack.is_empty() {
                problems.push(format!("{at}: SACK blocks that were not agreed upon"));
            }
            if !ecn && segment.ecn != Ecn::NotCapable {
                problems.push(format!("{at}: ECN that was not agreed upon"));
            }
        }
    }
    problems.truncate(MOST);
    problems
}

/// One side: its knowledge of its peer, and what it has sent.
struct Sender {
    mtu: usize,
    scales: [Option<u8>; 2],
    /// The largest payload that the peer takes, options included.
    peer_mss: usize,
    /// The end of the peer's window, as last received by this side.
    window_end: Option<Seq>,
    /// The end of the window that this side has offered.
    offered_end: Option<Seq>,
    /// The end of what it has sent.
    next: Option<Seq>,
}

const OWN: usize = 0;
const PEER: usize = 1;

impl Sender {
    fn new(mtu: usize) -> Sender {
        let (scales, peer_mss) = ([None; 2], 536);
        Sender { mtu, scales, peer_mss, window_end: None, offered_end: None, next: None }
    }

    /// The shift of one side's windows (RFC 7323 section 2.2: both scale or neither does).
    fn scale(&self, side: usize) -> u8 {
        match self.scales {
            [Some(_), Some(_)] => self.scales[side].unwrap_or(0),
            _ => 0,
        }
    }

    fn window(&self, segment: &Segment, side: usize) -> u32 {
        let scale = if segment.has(Flags::SYN) { 0 } else { self.scale(side) };
        u32::from(segment.window) << scale
    }

    /// The sizes that this side and its peer can take.
    fn sends(&mut self, segment: &Segment, len: usize) -> Option<String> {
        if segment.has(Flags::SYN) {
            self.scales[OWN] = segment.options.window_scale;
        }
        if segment.has(Flags::RST) || !segment.has(Flags::ACK) {
            return None;
        }
        let transport = len - if segment.source.is_ipv4() { 20 } else { 40 };
        let room = self.peer_mss + 20;
        // RFC 9293 section 3.7.1: the MSS does not count options, so a sender takes them off.
        if len > self.mtu || transport > room {
            return Some(format!("sends {len} bytes to a peer that takes {room} behind IP"));
        }
        None
    }

    /// A window is not taken back (RFC 9293 section 3.8.6, SHLD-14). The kernel does, at times.
    fn keeps_its_window(&mut self, segment: &Segment) -> Option<String> {
        if segment.has(Flags::RST) || !segment.has(Flags::ACK) {
            return None;
        }
        let end = segment.acknowledgment + self.window(segment, OWN);
        let by = self.offered_end.map_or(0, |offered| offered.since(end));
        self.offered_end = Some(self.offered_end.map_or(end, |offered| offered.max(end)));
        (by > 0).then(|| format!("takes {by} bytes of its window back"))
    }

    fn stays_in_window(&mut self, segment: &Segment) -> Option<String> {
        if segment.has(Flags::RST) || segment.has(Flags::SYN) || segment.sequence_len() == 0 {
            return None;
        }
        let over = self.window_end.map_or(u32::MAX, |limit| segment.end().since(limit));
        (over > 0).then(|| format!("sends {over} bytes or a FIN more than the window"))
    }

    /// RFC 3168: only new data is ECN-capable (sections 6.1.4 to 6.1.6).
    fn sends_ecn_as_allowed(&mut self, segment: &Segment) -> Option<String> {
        let old = self.next.is_some_and(|next| segment.sequence.before(next));
        if !segment.has(Flags::RST) {
            let end = segment.end();
            self.next = Some(self.next.map_or(end, |next| next.max(end)));
        }
        let plain = segment.payload.is_empty() && !segment.has(Flags::FIN);
        let marked = segment.ecn != Ecn::NotCapable;
        (marked && (old || plain)).then(|| "marks a segment as ECN-capable that is not new".into())
    }

    fn hears(&mut self, segment: &Segment) {
        if segment.has(Flags::SYN) {
            self.scales[PEER] = segment.options.window_scale;
            self.peer_mss = segment.options.mss.map_or(536, usize::from);
        }
        if segment.has(Flags::ACK) && !segment.has(Flags::RST) {
            let end = segment.acknowledgment + self.window(segment, PEER);
            self.window_end = Some(self.window_end.map_or(end, |known| known.max(end)));
        }
    }
}

/// The maximum number of reported problems.
const MOST: usize = 5;
