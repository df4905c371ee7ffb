//! What a standard gives for the recovery of a lost packet, and whether a run took longer.
//!
//! The timers are those of the standards, from the packets that a run without the fault sent, and not from what
//! the ends say of themselves.

use std::time::Duration;

use trackbed_connection::Transport;
use trackbed_core::Time;
use trackbed_measure::drops::{DropVerdict, DropsCell, Passed, Pattern, Place};

impl Bound {
    /// The shortest time after which a sender without a sample may send again, in milliseconds: CoAP draws it from
    /// a range.
    pub fn least_ms(&self) -> f64 {
        if self.ms == COAP_LONGEST_MS { self.ms / 1.5 } else { self.ms }
    }
}

/// ACK_TIMEOUT x ACK_RANDOM_FACTOR (RFC 7252 section 4.8).
const COAP_LONGEST_MS: f64 = 3e3;

/// The packets of a run, as the link saw them.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Those that entered it, in order.
    pub sent: Vec<Entered>,
    /// When packets left it, at the server and at the phones.
    pub arrived: [Vec<Time>; 2],
    /// How many met the fault.
    pub met: usize,
}

/// A packet that entered the link.
#[derive(Clone, Debug)]
pub struct Entered {
    /// When.
    pub at: Time,
    /// Which one.
    pub place: Place,
    /// Its size, IP header included.
    pub bytes: u64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Its work was complete after this many milliseconds.
    Complete(f64),
    /// Both ends waited without end.
    Stalled(String),
    /// It failed.
    Failed(String),
}

/// A time that a standard gives, in milliseconds, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// In milliseconds.
    pub ms: f64,
    /// The timer and its section.
    pub rule: &'static str,
}

impl Trace {
    /// The time from the first packet of the part that begins at `start` until the first answer.
    pub fn round_trip(&self, start: Time) -> Option<Duration> {
        let first = self.sent.iter().find(|sent| sent.at >= start && sent.place.up)?.at;
        let answer = self.arrived[1].iter().find(|at| **at > first)?;
        Some(*answer - first)
    }

    /// The smoothed round-trip time and its variation that the sender of packet `index` had when it sent it, in
    /// milliseconds, on a path with this round-trip time (RFC 6298 section 2, RFC 9002 section 5.3). None before
    /// the first sample.
    fn estimate(&self, index: usize, (start, rtt): (Time, Duration)) -> Option<(f64, f64)> {
        let Entered { at: until, place: Place { up, .. }, .. } = &self.sent[index];
        let own = self.sent[..index].iter().filter(|sent| sent.place.up == *up && sent.at >= start);
        let own: Vec<Time> = own.map(|sent| sent.at).collect();
        let arrived = &self.arrived[usize::from(*up)];
        let (shortest, longest) = (rtt.mul_f64(0.95), rtt.mul_f64(1.25) + MAX_ACK_DELAY);
        let (mut sampled, mut estimate) = (0, None);
        for arrival in arrived.iter().take_while(|at| *at <= until) {
            // The newest packet that this one may acknowledge.
            let newest = own.partition_point(|at| *at + shortest <= *arrival);
            if newest <= sampled {
                continue;
            }
            sampled = newest;
            let sample = *arrival - own[newest - 1];
            if sample > longest {
                continue;
            }
            let sample = ms(sample);
            estimate = Some(match estimate {
                None => (sample, sample / 2.0),
                Some((smoothed, variation)) => (
                    0.875 * smoothed + 0.125 * sample,
                    0.75 * variation + 0.25 * f64::abs(smoothed - sample),
                ),
            });
        }
        estimate
    }

    /// What a server may wait for its peer's address to be validated, where it has to send more than three datagrams
    /// (RFC 9000 section 8.1), in milliseconds: a round trip for each three of them.
    fn validating(&self, rtt: Duration) -> f64 {
        let flight = self.sent.iter().filter(|sent| {
            !sent.place.up && sent.place.content.contains("Handshake") && sent.bytes > 3 * ACK_ONLY
        });
        f64::from((flight.count() / 3) as u32) * ms(rtt)
    }

    /// How long after packet `index` its sender still sent others that restart a probe timeout (RFC 9002 section
    /// 6.2.1), before they could show that it was lost.
    fn restarted(&self, index: usize, rtt: Duration) -> Duration {
        let Entered { at, place: Place { up, .. }, .. } = &self.sent[index];
        let until = *at + rtt.mul_f64(1.05);
        let later = self.sent[index + 1..].iter().take_while(|sent| sent.at <= until);
        let eliciting = later.filter(|sent| sent.place.up == *up && sent.bytes > ACK_ONLY);
        eliciting.last().map_or(Duration::ZERO, |sent| sent.at - *at)
    }

    /// How long after packet `index` its sender still heard what may acknowledge earlier data and so restarts its
    /// timer: within a round trip and `delay`, by which acknowledgments may wait.
    fn acknowledged(&self, index: usize, rtt: Duration, delay: Duration) -> f64 {
        let Entered { at, place, .. } = &self.sent[index];
        let until = *at + rtt.mul_f64(1.05) + delay;
        let mut arrived = self.arrived[usize::from(place.up)].iter();
        arrived.rfind(|time| *at < **time && **time <= until).map_or(0.0, |last| ms(*last - *at))
    }

    /// After how many milliseconds a sender that had no sample, and heard nothing since `start`, sent packet `index`
    /// again.
    pub fn repeated(&self, index: usize, (start, rtt): (Time, Duration)) -> Option<f64> {
        let Entered { at, place, .. } = self.sent.get(index)?;
        if self.estimate(index, (start, rtt)).is_some() {
            return None;
        }
        let kind = |place: &Place| place.content.split('+').next().map(str::to_owned);
        // What leaves at once belongs to the same flight.
        let flight = *at + rtt / 2;
        let again = self.sent[index + 1..].iter().find(|sent| {
            sent.place.up == place.up && sent.at > flight && kind(&sent.place) == kind(place)
        })?;
        let arrived = &self.arrived[usize::from(place.up)];
        // A server has heard what it answers.
        let since = if place.up { start } else { *at };
        let has_heard = arrived.iter().any(|time| since < *time && *time <= again.at);
        (!has_heard).then(|| ms(again.at - *at))
    }

    /// How long the sender of packet `index` may wait before it sends it again, in the part that begins at
    /// `start`. None where no timer does that.
    pub fn bound(
        &self,
        index: usize,
        transport: Transport,
        (start, rtt): (Time, Duration),
    ) -> Option<Bound> {
        let content = self.sent[index].place.content.as_str();
        let mut estimate = self.estimate(index, (start, rtt));
        if content.contains("Handshake") || transport == Transport::Tcp {
            // Most packets of the handshake carry acknowledgments only, which give no further samples. Linux's TCP
            // takes one sample in each round trip, and lets the variation fall by a part of the difference.
            estimate =
                estimate.map(|(smoothed, variation)| (smoothed, variation.max(smoothed / 2.0)));
        }
        let timeout = estimate.map_or(0.0, |(smoothed, variation)| smoothed + 4.0 * variation);
        let is_of =
            |names: &str| content.split('+').any(|part| names.split(", ").any(|name| name == part));
        let (ms, rule) = if is_of("Initial, 0-RTT, Handshake, Retry, 1-RTT") {
            let delay = if content == "1-RTT" { MAX_ACK_DELAY } else { Duration::ZERO };
            let (restarted, delay) = (ms(self.restarted(index, rtt)), ms(delay));
            match estimate {
                None => match self.validating(rtt) {
                    0.0 => (FIRST_PTO_MS, "first PTO, RFC 9002 6.2.2"),
                    more => (
                        FIRST_PTO_MS + more,
                        "first PTO, RFC 9002 6.2.2, and address validation, RFC 9000 8.1",
                    ),
                },
                Some(_) if restarted > 1.0 => {
                    (timeout + delay + restarted, "PTO, restarted by other packets, RFC 9002 6.2.1")
                }
                Some(_) => (timeout + delay, "PTO, RFC 9002 6.2.1"),
            }
        } else if transport == Transport::Tcp {
            match self.acknowledged(index, rtt, DELAYED_ACK) {
                0.0 => (timeout.max(1e3), "RTO, RFC 6298 2.1 and 2.4"),
                restarted => {
                    let rule = "RTO, restarted by an acknowledgment, RFC 6298 2.4 and 5.3";
                    (timeout.max(1e3) + restarted, rule)
                }
            }
        } else if is_of(DTLS_HANDSHAKE) {
            (1e3, "first timer, RFC 9147 5.8.2")
        } else if is_of("COOKIE ECHO") || (transport == Transport::Sctp && content == "DTLS data") {
            // Nothing else may be sent between COOKIE ECHO and COOKIE ACK.
            (timeout.max(1e3) + ms(rtt), "T1 and a round trip, RFC 9260 5.1")
        } else if transport == Transport::Sctp {
            match self.acknowledged(index, rtt, SACK_DELAY) {
                0.0 => (timeout.max(1e3), "RTO, RFC 9260 6.3.1"),
                restarted => {
                    (timeout.max(1e3) + restarted, "RTO, restarted by a SACK, RFC 9260 6.3.2 R3")
                }
            }
        } else if content.starts_with("NON") {
            return None;
        } else {
            (COAP_LONGEST_MS, "ACK_TIMEOUT x ACK_RANDOM_FACTOR, RFC 7252 4.8")
        };
        Some(Bound { ms, rule })
    }
}

/// Packets of QUIC up to this size, in bytes with the header of IP, carry at most acknowledgments.
const ACK_ONLY: u64 = 80;
/// RFC 9002 section 6.2.2: 333 ms, which vary by half.
const FIRST_PTO_MS: f64 = 3.0 * 333.0;

/// RFC 9000 section 18.2.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// By which Linux delays acknowledgments, with a tick of its clock.
const DELAYED_ACK: Duration = Duration::from_millis(45);
/// RFC 9260 section 6.2.
const SACK_DELAY: Duration = Duration::from_millis(200);

const DTLS_HANDSHAKE: &str = "ClientHello, HelloRetryRequest, HelloVerifyRequest, ServerHello, Certificate, \
     ServerKeyExchange, ServerHelloDone, ClientKeyExchange, ChangeCipherSpec, Finished, encrypted handshake";

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The bound of two losses, of which the second may be the repetition of the first: each standard doubles the
/// timer then. After a SYN that was repeated, the next timer of TCP lasts three seconds.
pub fn in_a_row(first: (&Place, Bound), second: Bound) -> Bound {
    let (place, first) = first;
    let second = match place.content.starts_with("SYN") {
        true => Bound { ms: second.ms.max(3e3), rule: "RTO after a lost SYN, RFC 6298 5.7" },
        false => second,
    };
    let repeated = Bound { ms: 2.0 * first.ms, ..first };
    let second = if second.ms > repeated.ms { second } else { repeated };
    Bound { ms: first.ms + second.ms, ..second }
}

/// The verdict on a run in which the packets of `places` met a fault; without it, the work took `untroubled`
/// milliseconds. `slack` is what may be added to the bound: time on the wire and, in real time, of the machine.
pub fn judge(
    places: Vec<Place>,
    (ended, met): (&Ended, usize),
    bound: Option<Bound>,
    (untroubled, slack): (f64, f64),
) -> Pattern {
    let (later_ms, reason) = match ended {
        Ended::Complete(took) => (Some(took - untroubled), None),
        Ended::Stalled(why) | Ended::Failed(why) => (None, Some(why.clone())),
    };
    let verdict = match (ended, later_ms, bound) {
        _ if met < places.len() => DropVerdict::NotMet,
        (Ended::Stalled(_), ..) => DropVerdict::Stalls,
        (Ended::Failed(_), ..) => DropVerdict::Fails,
        (_, Some(later), Some(bound)) if later > bound.ms + slack => DropVerdict::Late,
        (_, _, Some(_)) => DropVerdict::InTime,
        (_, _, None) => DropVerdict::Completes,
    };
    Pattern {
        packets: places,
        verdict,
        later_ms,
        bound_ms: bound.map(|bound| bound.ms),
        rule: bound.map(|bound| bound.rule.to_owned()),
        reason,
    }
}

/// The packets of a trace from `start` to `end`, with times from the first.
pub fn passed(trace: &Trace, (start, end): (Time, Time)) -> Vec<(usize, Passed)> {
    let within =
        trace.sent.iter().enumerate().filter(|(_, sent)| start <= sent.at && sent.at < end);
    let packet = |(index, sent): (usize, &Entered)| {
        let Entered { at, place, bytes } = sent;
        (index, Passed { place: place.clone(), at_ms: ms(*at - start), bytes: *bytes })
    };
    within.map(packet).collect()
}

/// The answer in a sentence.
pub fn answer(fault: &str, cells: &[DropsCell]) -> String {
    let all: Vec<(&DropsCell, &Pattern)> =
        cells.iter().flat_map(|cell| cell.patterns.iter().map(move |one| (cell, one))).collect();
    let red: Vec<_> = all.iter().filter(|(_, one)| one.verdict.is_red()).collect();
    let pairs = all.iter().filter(|(_, one)| one.packets.len() > 1).count();
    let singles = all.len() - pairs;
    let what = match fault {
        "loss" => "losses",
        "duplication" => "copies",
        _ => "delays",
    };
    let mut count = format!("{singles} single {what}");
    if pairs > 0 {
        count.push_str(&format!(" and {pairs} pairs"));
    }
    let name = |cell: &DropsCell| match cells.len() {
        1 => String::new(),
        _ => format!("{}: ", cell.name),
    };
    let worst = |of: &[&(&DropsCell, &Pattern)]| {
        let later = |one: &Pattern| one.later_ms.unwrap_or(f64::INFINITY);
        let worst = of.iter().max_by(|one, other| later(one.1).total_cmp(&later(other.1)));
        worst.map(|(cell, one)| {
            let cost = match (one.later_ms, one.bound_ms) {
                (None, _) => one.verdict.words().to_lowercase(),
                (Some(later), Some(bound)) => {
                    let rule = one.rule.as_deref().unwrap_or_default();
                    format!("{later:.1} ms later, where {bound:.1} ms are given ({rule})")
                }
                (Some(later), None) => format!("{later:.1} ms later"),
            };
            format!(" The worst: {}{}: {cost}.", name(cell), one.words())
        })
    };
    match red.is_empty() {
        _ if all.is_empty() => "No packet passed the link, so nothing was lost.".to_owned(),
        true => {
            let all: Vec<_> = all.iter().collect();
            let unclear = all.iter().filter(|(_, one)| {
                matches!(one.verdict, DropVerdict::NotMet | DropVerdict::NotReproducible)
            });
            let unclear = match unclear.count() {
                0 => String::new(),
                count => format!(" ({count} could not be judged)"),
            };
            format!(
                "All {count} are recovered in the time that the standards give{unclear}.{}",
                worst(&all).unwrap_or_default()
            )
        }
        false => {
            let of = |verdict| red.iter().filter(|(_, one)| one.verdict == verdict).count();
            let kinds = [
                (DropVerdict::Late, "late"),
                (DropVerdict::Early, "repeated too early"),
                (DropVerdict::Stalls, "stalled"),
                (DropVerdict::Fails, "failed"),
            ];
            let kinds = kinds.map(|(verdict, word)| (of(verdict), word));
            let kinds: Vec<String> = kinds
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, word)| format!("{count} {word}"))
                .collect();
            format!(
                "{} of {count} are not recovered in the time that the standards give: {}.{}",
                red.len(),
                kinds.join(", "),
                worst(&red).unwrap_or_default()
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    /// Packets of the client and, a millisecond after each arrival, of the server, at these milliseconds.
    fn trace(packets: &[(u64, bool, &str)]) -> Trace {
        let mut trace = Trace::default();
        for (at, up, content) in packets {
            let at = Time::from_millis(*at);
            let place = Place { up: *up, content: (*content).to_owned(), number: 1 };
            trace.sent.push(Entered { at, place, bytes: 100 });
            trace.arrived[usize::from(!up)].push(at + RTT / 2);
        }
        trace
    }

    /// 40 and 80 ms: smoothed 45, varied by 0.75 * 20 + 0.25 * 40 = 25 (RFC 6298 section 2.3). The second sample
    /// is too long to be one on this path, so nothing is learnt from it.
    #[test]
    fn bounds_are_those_of_the_samples_that_a_sender_can_have() {
        let quic = trace(&[(0, true, "Initial"), (20, false, "Initial"), (40, true, "1-RTT")]);
        let bound = |index| quic.bound(index, Transport::Udp, (Time::ZERO, RTT)).unwrap().ms;
        assert_eq!([bound(0), bound(1), bound(2)], [999.0, 999.0, 40.0 + 80.0 + 25.0]);
        let late = trace(&[
            (0, true, "SYN"),
            (20, false, "SYN-ACK"),
            (40, true, "data"),
            (900, false, "data"),
            (920, true, "data"),
        ]);
        assert_eq!(late.estimate(4, (Time::ZERO, RTT)), Some((40.0, 20.0)));
        let bound = late.bound(4, Transport::Tcp, (Time::ZERO, RTT)).unwrap();
        assert_eq!((bound.ms, bound.rule), (1e3, "RTO, RFC 6298 2.1 and 2.4"));
    }

    #[test]
    fn a_sender_without_a_sample_that_repeats_is_found() {
        let repeated = trace(&[(0, true, "SYN"), (300, true, "SYN")]);
        assert_eq!(repeated.repeated(0, (Time::ZERO, RTT)), Some(300.0));
        // Both halves of a long ClientHello, and an answer to one of them.
        let flight = trace(&[
            (0, true, "Initial"),
            (1, true, "Initial"),
            (21, false, "Initial"),
            (45, true, "Initial"),
        ]);
        assert_eq!(flight.repeated(0, (Time::ZERO, RTT)), None);
    }

    #[test]
    fn verdicts_follow_from_how_a_run_ended() {
        let place = trace(&[(0, true, "SYN")]).sent[0].place.clone();
        let bound = Some(Bound { ms: 1e3, rule: "RTO" });
        let verdict = |ended: &Ended, met, bound| {
            judge(vec![place.clone()], (ended, met), bound, (100.0, 5.0)).verdict
        };
        for (ended, met, bound, expected) in [
            (Ended::Complete(1_105.0), 1, bound, DropVerdict::InTime),
            (Ended::Complete(1_106.0), 1, bound, DropVerdict::Late),
            (Ended::Complete(9_999.0), 1, None, DropVerdict::Completes),
            (Ended::Complete(100.0), 0, bound, DropVerdict::NotMet),
            (Ended::Stalled("both wait".to_owned()), 1, bound, DropVerdict::Stalls),
            (Ended::Failed("reset".to_owned()), 1, None, DropVerdict::Fails),
        ] {
            assert_eq!(verdict(&ended, met, bound), expected, "{ended:?}");
        }
    }
}
