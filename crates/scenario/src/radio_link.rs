//! Converts the timeline of a drive to a link.

use trackbed_net::LinkSpec;
use trackbed_net::models::delay::Timetable;
use trackbed_net::models::loss::LossTimetable;
use trackbed_net::models::{Delay, Flush, Loss, Outage, Pause, RateTimetable, Spells};
use trackbed_net::queue::DropTail;
use trackbed_net::spec::SpecError;
use trackbed_railway::radio::{LinkDirection, RadioTimeline, Service};

/// One direction of an operator's link during a drive: its rate behind `queue`, and all else in the
/// timeline. Without a queue what passes has been on a medium, which has the rate, queues and holds. An
/// error if the timeline's rows make no timetable, or a recorded drive has no rate.
pub(crate) fn radio_link(
    timeline: &RadioTimeline,
    direction: LinkDirection,
    queue: Option<DropTail>,
) -> Result<LinkSpec, SpecError> {
    let rates = timeline.rates(direction);
    if rates.is_empty() {
        let operator = &timeline.operator;
        let why = format!("no rate of {operator} {direction}; add a line for 0 s");
        return Err(SpecError::new(why));
    }
    let has_queue = queue.is_some();
    let mut link = LinkSpec::new();
    if let Some(queue) = queue {
        link = link.with(RateTimetable::new(rates, queue)?);
    }
    let delays = timeline.delays(direction);
    if !delays.is_empty() {
        // Packets keep their order when the delay decreases.
        link = link.with(Delay::new(Timetable::new(delays)?));
    }
    let losses = timeline.losses(direction);
    if losses.iter().any(|(_, loss)| !loss.is_zero()) {
        link = link.with(Loss::new(LossTimetable::new(losses)?));
    }
    let lost = timeline.spells(direction, Service::Lost);
    if !lost.is_empty() {
        link = link.with(Outage { down: Spells::new(lost)? });
    }
    let held = timeline.spells(direction, Service::Held);
    if !held.is_empty() && has_queue {
        link = link.with(Pause { down: Spells::new(held)? });
    }
    let flushes = timeline.flushes(direction);
    if !flushes.is_empty() && has_queue {
        link = link.with(Flush::new(flushes)?);
    }
    Ok(link)
}

#[cfg(test)]
mod tests {
    use trackbed_core::packet::{Ecn, UdpDatagram};
    use trackbed_core::{Packet, Seed, Time};
    use trackbed_net::{DropReason, Link, Outlet};
    use trackbed_railway::radio::timelines_from_text;

    use super::*;

    /// When packets arrive, by number, and why others are lost.
    #[derive(Default)]
    struct Seen {
        delivered: Vec<(u64, u8)>,
        dropped: Vec<(u64, u8, DropReason)>,
    }

    fn number(packet: &Packet) -> u8 {
        packet.transport()[8]
    }

    /// 1,500 bytes with this number.
    fn packet(number: u8) -> Packet {
        let socket = "10.0.0.1:9".parse().unwrap();
        let mut payload = [0; 1_472];
        payload[0] = number;
        UdpDatagram::emit(socket, socket, Ecn::NotCapable, &payload)
    }

    fn finish(link: &mut dyn Link, seen: &mut Seen) {
        while let Some(at) = link.next_wake() {
            link.advance(at, seen);
        }
    }

    impl Outlet for Seen {
        fn deliver(&mut self, at: Time, packet: Packet) {
            self.delivered.push((at.as_nanos() / 1_000_000, number(&packet)));
        }

        fn drop(&mut self, at: Time, packet: Packet, why: DropReason) {
            self.dropped.push((at.as_nanos() / 1_000_000, number(&packet), why));
        }
    }

    /// Twelve packets of 1,500 bytes at the beginning, 1 ms each at 12 Mbit/s, with 5 ms of delay.
    /// At 3 ms of the drive the queue loses 3,000 bytes and pauses for 10 ms; from 14 ms the delay
    /// is 20 ms; packets sent from 16 ms until just before 18 ms are lost; from 18 ms the rate is 6
    /// Mbit/s.
    #[test]
    fn everything_that_a_timeline_tells_happens_at_its_time() {
        let text = "at,operator,direction,change,value\n\
                    0 s,A,down,rate,12 Mbit/s\n0 s,A,down,delay,5 ms\n0 s,A,down,service,up\n\
                    3 ms,A,down,flush,3000 B\n3 ms,A,down,service,held\n13 ms,A,down,service,up\n\
                    14 ms,A,down,delay,20 ms\n16 ms,A,down,service,lost\n18 ms,A,down,service,up\n\
                    18 ms,A,down,rate,6 Mbit/s\n";
        let timeline = timelines_from_text(text).unwrap().swap_remove(0);
        let queue = DropTail::of_packets(50);
        let spec = radio_link(&timeline, LinkDirection::Down, Some(queue)).unwrap();
        let mut link = spec.build(&Seed::of_run(1, 0));
        let mut seen = Seen::default();
        (0..12).for_each(|number| link.push(Time::ZERO, packet(number), &mut seen));
        finish(&mut *link, &mut seen);
        // 0, 1, 2 are sent before; 3 has begun; 4 and 5 are flushed. 3 is sent at 14 ms, 6 at 15,
        // 7 and 8 at 16 and 17; 9 at 18, and 10 and 11 at half the rate.
        let expected = [(6, 0), (7, 1), (8, 2), (34, 3), (35, 6), (38, 9), (40, 10), (42, 11)];
        assert_eq!(seen.delivered, expected);
        let (flushed, outage) = (DropReason::Flushed, DropReason::Outage);
        let expected = [(3, 4, flushed), (3, 5, flushed), (16, 7, outage), (17, 8, outage)];
        assert_eq!(seen.dropped, expected);
        let up = radio_link(&timeline, LinkDirection::Up, Some(DropTail::of_packets(1)));
        assert!(up.unwrap_err().to_string().contains("no rate of A up"));
    }

    /// Every profile's timelines make links, in both directions, and packets are conserved.
    #[test]
    fn timelines_of_the_model_make_links() {
        use trackbed_core::parameter::{Arguments, Kind};
        use trackbed_railway::motion::Direction;
        use trackbed_railway::radio::{PARAMETERS, Railway};

        for profile in ["ns3", "3gpp", "hsr-measured"] {
            let value = Kind::Choice(&["ns3", "3gpp", "hsr-measured"]).parse(profile).unwrap();
            let arguments = Arguments::read(PARAMETERS, &[("profile", value)]).unwrap();
            let railway = Railway::read(&arguments).unwrap();
            let ride = railway.ride(Direction::Forward);
            let timelines = railway.drive(&ride, Time::from_millis(70_000), &Seed::of_run(1, 0));
            for timeline in &timelines {
                for direction in LinkDirection::BOTH {
                    let queue = DropTail::of_packets(100);
                    let spec = radio_link(timeline, direction, Some(queue)).unwrap();
                    let mut link = spec.build(&Seed::of_run(1, 0));
                    let mut seen = Seen::default();
                    for step in 0..20_000 {
                        let now = Time::from_micros(3_500 * step);
                        while let Some(at) = link.next_wake().filter(|at| *at <= now) {
                            link.advance(at, &mut seen);
                        }
                        link.advance(now, &mut seen);
                        link.push(now, packet(0), &mut seen);
                    }
                    finish(&mut *link, &mut seen);
                    assert_eq!(seen.delivered.len() + seen.dropped.len(), 20_000);
                    assert!(seen.delivered.len() > 10_000, "{profile}: {}", seen.delivered.len());
                }
            }
        }
    }
}
