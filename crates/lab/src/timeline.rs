//! The timeline of a single run: repeats it in virtual time and records everything that can be
//! drawn.

mod journey;
mod thinning;
mod transport;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use trackbed_core::event::{Playback, Record};
use trackbed_core::{Event, Packet, Seed, Time};
use trackbed_measure::timeline::{Chart, Curve, Span, Timeline};
use trackbed_measure::waterfall::{self, Bar};
use trackbed_net::{Direction, LinkId, Point, Tap};
use trackbed_protocols::Observer;
use trackbed_substrate::Cancel;

use self::thinning::thinned;
use crate::run::{Onlooker, Runner};
use crate::topology::Track;
use trackbed_scenario::Cell;

/// A recorded run.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its curves and spans.
    pub timeline: Timeline,
    /// Its page loads.
    pub bars: Vec<Bar>,
}

/// Repeats run `run` of `cell` under the root seed `root`; `None` if it does not reach its end, or not
/// before `cancel`.
pub fn of(cell: &Cell, root: u64, run: u32, cancel: &Cancel) -> Option<Seen> {
    let notes = Notes::default();
    let runner = Runner::new(cancel.clone());
    let records = runner.record(cell, (root, run), Some(&notes)).ok()?;
    let mut timeline = Timeline { curves: notes.throughput(), ..Timeline::default() };
    timeline.curves.extend(round_trips(&records));
    timeline.curves.extend(notes.transport.curves());
    timeline.curves.extend(processor(&records));
    timeline.spans = spans(&records);
    if let Some(radio) = &cell.radio {
        journey::add(&radio.drive(&Seed::of_run(root, u64::from(run))), &mut timeline);
    }
    timeline.curves.retain(|curve| !curve.points.is_empty());
    Some(Seen { timeline, bars: waterfall::bars(&records) })
}

#[derive(Clone, Default)]
struct Notes {
    /// Bytes that arrived, by the link's number, direction and millisecond.
    arrived: Arc<Mutex<Arrived>>,
    transport: transport::Traces,
}

type Arrived = BTreeMap<(usize, bool, u64), u64>;

impl Onlooker for Notes {
    fn tap(&self, track: &Track) -> Box<dyn Tap> {
        Box::new(Ends { links: track.links.clone(), arrived: Arc::clone(&self.arrived) })
    }

    fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(self.transport.clone())
    }
}

struct Ends {
    links: Vec<LinkId>,
    arrived: Arc<Mutex<Arrived>>,
}

impl Tap for Ends {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        let number = self.links.iter().position(|own| *own == link);
        if point == Point::Delivered
            && let Some(number) = number
        {
            let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
            let place = (number, direction == Direction::Backward, at.as_nanos() / NANOS_PER_MS);
            *arrived.entry(place).or_default() += packet.bytes_on_wire();
        }
    }
}

impl Notes {
    /// Throughput, in as many steps as a chart has room for.
    fn throughput(&self) -> Vec<Curve> {
        let arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let last = arrived.keys().map(|(.., ms)| *ms).max().unwrap_or(0);
        let step = (last + 1).div_ceil(STEPS).max(1);
        let mut curves = Vec::new();
        for (link, is_down, name) in [
            (0, false, "up"),
            (0, true, "down"),
            (1, false, "up, second path"),
            (1, true, "down, second path"),
        ] {
            let mut steps = vec![0_u64; (last / step + 1) as usize];
            let range = (link, is_down, 0)..=(link, is_down, u64::MAX);
            arrived.range(range).for_each(|((.., ms), bytes)| steps[(ms / step) as usize] += bytes);
            if steps.iter().any(|bytes| *bytes > 0) {
                // Bytes per `step` milliseconds: 8 bits each, and a thousand kbit/s are a Mbit/s.
                let mbps = |bytes: u64| bytes as f64 * 8.0 / step as f64 / 1e3;
                let point =
                    |(index, bytes): (u64, &u64)| ((index * step) as f64 / 1e3, mbps(*bytes));
                let points = (0..).zip(&steps).map(point).collect();
                curves.push(Curve { chart: Chart::Throughput, name: name.to_owned(), points });
            }
        }
        curves
    }
}

/// From each message's intended time to its reply.
fn round_trips(records: &[Record]) -> Vec<Curve> {
    let mut sent = BTreeMap::new();
    let mut points = Vec::new();
    for Record { at, event } in records {
        match event {
            Event::Sent { phone, message, intended, .. } => {
                sent.insert((*phone, *message), *intended);
            }
            Event::Answered { phone, message, .. } => {
                if let Some(intended) = sent.get(&(*phone, *message)) {
                    points.push((seconds(*intended), (*at - *intended).as_secs_f64() * 1e3));
                }
            }
            _ => {}
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    vec![Curve { chart: Chart::RoundTrips, name: "message".to_owned(), points: thinned(points) }]
}

fn processor(records: &[Record]) -> Vec<Curve> {
    let of = |name: &str, value: &dyn Fn(&trackbed_core::event::Load) -> Option<u64>| {
        let point = |record: &Record| match &record.event {
            Event::Load(load) => Some((seconds(record.at), value(load)? as f64 / 1e3)),
            _ => None,
        };
        let points = thinned(records.iter().filter_map(point).collect());
        Curve { chart: Chart::Processor, name: name.to_owned(), points }
    };
    vec![
        of("clients", &|load| load.client.millipercent),
        of("server", &|load| load.server.millipercent),
        of("inference", &|load| load.inference.millipercent),
    ]
}

fn spans(records: &[Record]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut stalled = None;
    for Record { at, event } in records {
        match event {
            Event::Handover { path, from, until } => spans.push(Span {
                name: format!("handover, path {path}"),
                from: seconds(*from),
                until: seconds(*until),
            }),
            Event::Playback { step: Playback::Stalled, .. } => stalled = Some(seconds(*at)),
            Event::Playback { step: Playback::Playing | Playback::Ended { .. }, .. } => {
                if let Some(from) = stalled.take() {
                    let name = "rebuffering".to_owned();
                    spans.push(Span { name, from, until: seconds(*at) });
                }
            }
            _ => {}
        }
    }
    spans
}

fn seconds(at: Time) -> f64 {
    at.as_nanos() as f64 / 1e9
}

const NANOS_PER_MS: u64 = 1_000_000;
const STEPS: u64 = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_in;

    fn seen(scenario: &str, settings: &[&str]) -> Seen {
        let plan = built_in(scenario, settings);
        of(&plan.cells[0], plan.seed, 0, &Cancel::default()).unwrap()
    }

    fn points(seen: &Seen, chart: Chart, name: &str) -> Vec<(f64, f64)> {
        let fits = |curve: &&Curve| curve.chart == chart && curve.name == name;
        seen.timeline.curves.iter().find(fits).map(|curve| curve.points.clone()).unwrap_or_default()
    }

    /// A download of 2 MB over a link without losses.
    fn download(settings: &[&str]) -> Seen {
        let common =
            ["workload.size=2MB", "link.delay=10ms", "link.loss=0", "tls=1.3", "handshake=new"];
        seen("bulk", &[&common, settings].concat())
    }

    /// 2 MB at 8 Mbit/s: about 8 Mbit/s for two seconds, plus the time for headers.
    #[test]
    fn throughput_is_the_rate_of_the_link_while_it_is_full() {
        let seen = download(&["protocol=quic", "link.rate=8mbit"]);
        let down = points(&seen, Chart::Throughput, "down");
        let middle: Vec<f64> =
            down.iter().filter(|(at, _)| (0.5..1.5).contains(at)).map(|(_, mbps)| *mbps).collect();
        assert!(middle.len() > 50);
        let mean = middle.iter().sum::<f64>() / middle.len() as f64;
        assert!((7.9..8.05).contains(&mean), "{mean}");
        let sum: f64 =
            down.iter().map(|(_, mbps)| mbps).sum::<f64>() * (down[1].0 - down[0].0) / 8.0;
        assert!((2.0..2.15).contains(&sum), "{sum} MB, headers included");
        let window = points(&seen, Chart::CongestionWindow, "server");
        assert!(window.iter().any(|(_, bytes)| *bytes > 20_000.0), "{window:?}");
    }

    /// The window begins at ten segments (RFC 6928) of 1,448 bytes and doubles while nothing is
    /// lost; a round trip takes 20 ms plus the queueing delay.
    #[test]
    fn tcp_shows_its_window_and_what_a_round_trip_takes() {
        let seen = download(&["protocol=http2", "congestion=cubic", "link.rate=80mbit"]);
        let window = points(&seen, Chart::CongestionWindow, "server");
        assert_eq!(window[0].1, 14_480.0);
        let after = |seconds: f64| window.iter().find(|(at, _)| *at >= seconds).unwrap().1;
        assert!(after(0.07) >= 4.0 * 14_480.0, "{window:?}");
        let rtt = points(&seen, Chart::SmoothedRtt, "server");
        assert!(rtt.len() > 5 && rtt.iter().all(|(_, ms)| (20.0..60.0).contains(ms)), "{rtt:?}");
    }

    #[test]
    fn a_message_takes_what_the_link_takes() {
        let settings = ["protocol=quic", "tls=1.3", "handshake=new", "link.loss=0"];
        let trips = points(&seen("vru", &settings), Chart::RoundTrips, "message");
        assert_eq!(trips.len(), 10);
        // The first one waits for the handshake, another round trip.
        assert!(trips[1..].iter().all(|(_, ms)| (10.0..10.3).contains(ms)), "{trips:?}");
    }

    #[test]
    fn a_train_has_handovers_on_its_way() {
        let seen = seen("train", &["part=schedulers", "quick=true"]);
        assert!(seen.timeline.spans.iter().any(|span| span.name.starts_with("handover")));
        let power: Vec<&Curve> =
            seen.timeline.curves.iter().filter(|curve| curve.chart == Chart::Power).collect();
        assert_eq!(power.len(), 2);
        for name in ["server, path 0", "server, path 1"] {
            assert!(points(&seen, Chart::CongestionWindow, name).len() > 10, "{name}");
        }
        for curve in power {
            assert!(curve.points.len() <= thinning::POINTS_MAX && curve.points.len() > 50);
            assert!(curve.points.iter().all(|(_, dbm)| (-150.0..-20.0).contains(dbm)));
        }
        let is_forward = |span: &Span| span.until >= span.from;
        assert!(!seen.timeline.places.is_empty() && seen.timeline.places.iter().all(is_forward));
    }
}
