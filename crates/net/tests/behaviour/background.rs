//! Traffic of others, against closed forms.

use trackbed_net::spec::ModelEntry;

use crate::harness::*;
use crate::registry::given;

/// A link of 12 Mbit/s, on which 1,500 bytes take a millisecond, with a background of this kind.
fn link(kind: &str, keys: &[(&str, &str)], rate: Rate) -> LinkSpec {
    let name = if kind == "capture" { "background-capture" } else { "background-stream" };
    let entry = ModelEntry::find(name).unwrap();
    let law = (kind != "capture").then_some(("law", kind));
    let given = given(entry, &[keys, law.as_slice()].concat()).unwrap();
    LinkSpec::new().with(rate).with(entry.model(&given).unwrap())
}

fn endless() -> Rate {
    Rate::new(Bitrate::from_mbps(12), DropTail { packets: None, bytes: None })
}

/// What a packet of 28 bytes waits behind a Poisson stream of this load: load / (2 (1 - load)) times the
/// service time (Pollaczek and Khinchine).
#[test]
fn waiting_times_are_those_of_a_queue_with_poisson_arrivals() {
    for (rate, load) in [("6 Mbit/s", 0.5), ("9600 kbit/s", 0.8)] {
        let spec = link("poisson", &[("rate", rate), ("flows", "3")], endless());
        let arrivals = |n: u32| Time::ZERO + ms(20) * n;
        let events = run(&spec, (0..200_000).map(|n| (arrivals(n), packet(n, 32))));
        let waits = (0..).zip(&events).map(|(n, (at, ..))| (*at - arrivals(n)).as_secs_f64() * 1e3);
        let waited = waits.sum::<f64>() / 200_000.0 - 32.0 * 8.0 / 12_000.0;
        assert_near(waited, load / (2.0 * (1.0 - load)), 0.02);
    }
}

/// A flow that offers all of the link's rate gets what the background leaves.
#[test]
fn the_background_takes_its_rate_and_no_more() {
    let codel = Codel { target: Duration::from_secs(1_000), ..Codel::default() };
    let rate = || Rate::new(Bitrate::from_mbps(12), FqCodel { codel, ..FqCodel::default() });
    let capture = "0 s, 1500 B\n4 ms, 500 B\n8 ms, 1750 B\n";
    for (kind, keys, share) in [
        ("constant", &[("rate", "2500 kbit/s"), ("size", "500 B")][..], 0.001),
        ("poisson", &[("rate", "2500 kbit/s")], 0.01),
        ("on-off", &[("rate", "2500 kbit/s"), ("flows", "20")], 0.05),
        ("capture", &[("file", capture)], 0.001),
        ("constant", &[("rate", "0 bit/s")], 0.001),
    ] {
        let mut events = run(&link(kind, keys, rate()), every(us(1_000), 200_000));
        events.retain(|(at, point, _)| {
            *point == Point::Delivered && *at <= Time::from_millis(200_000)
        });
        let expected = if keys[0].1 == "0 bit/s" { 12.0 } else { 9.5 };
        assert_near(events.len() as f64 * 12_000.0 / 200e6, expected, share);
    }
}

#[test]
fn only_the_packets_of_others_are_seen() {
    let spec = link("on-off", &[("rate", "9 Mbit/s")], endless())
        .with(Loss::bernoulli(percent(10)))
        .with(Duplication { probability: percent(10) });
    let plain = LinkSpec::new().with(endless()).with(Loss::bernoulli(percent(10)));
    let lost = Point::Dropped(DropReason::Loss);
    let events = run(&spec, every(ms(7), 5_000));
    assert_eq!(numbers(&events, lost), numbers(&run(&plain, every(ms(7), 5_000)), lost));
    assert_eq!(events, run(&spec, every(ms(7), 5_000)));
    assert_ne!(events, run_with_seed(&spec, 2, every(ms(7), 5_000)));
}
