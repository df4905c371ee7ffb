//! How groups share a network, and what its shared link is like then.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};

use super::{Metric, ms, time_of};

pub(super) const METRICS: &[Metric] = metrics! {
    "traffic_share_percent", |records| of(records, |bytes, of_all, _, _| {
        (of_all > 0).then(|| bytes as f64 * 100.0 / of_all as f64)
    }) =>
        "the group's share of the bytes of all groups, in both directions, IP headers included, over \
         the whole run";
    "fairness_ratio", |records| of(records, |_, _, rates, _| jain(rates)) =>
        "how evenly the members of all groups share (Jain, Chiu and Hawe 1984): 1 if each has the \
         same rate, 1/n if one of n has all; a member's rate is its bytes over its measured part";
    "convergence_ms", |records| of(records, |_, _, _, convergence| convergence.map(ms)) =>
        "from the beginning of the last flow to the end of the first second in which each flow of all \
         groups has at least 80 % of the mean rate (delta-fair convergence, RFC 5166, with a delta of \
         0.2), seen at each workload.interval; none if there is no such second";
    "utilisation_percent", |records| loaded(records, |busy, span, _| {
        vec![busy.as_secs_f64() * 100.0 / span.as_secs_f64().max(f64::MIN_POSITIVE)]
    }) =>
        "for how much of the time from its first packet to the end of its last one the shared link \
         ([link], not a medium) is sending, in the direction with more bytes; with groups, at a constant \
         rate, without background or pauses";
    "queue_delay_ms", |records| {
        loaded(records, |_, _, waits| waits.iter().map(|wait| ms(*wait)).collect())
    } =>
        "how long the packets in the queue of the shared link take when another one comes, also if there \
         is no room for it; in the same direction; 20 quantiles of each run, from 2.5 % to 97.5 %";
};

/// A value from the group's bytes, those of all groups, the rates of all members, and their convergence.
fn of(
    records: &[Record],
    value: fn(u64, u64, &[u64], Option<Duration>) -> Option<f64>,
) -> Vec<f64> {
    let shared = records.iter().filter_map(|record| match &record.event {
        Event::Shared { bytes, bytes_of_all, rates_bps, convergence } => {
            value(*bytes, *bytes_of_all, rates_bps, *convergence)
        }
        _ => None,
    });
    shared.collect()
}

/// Values from the time for which the link was sending, all of the time, and the waits.
fn loaded(records: &[Record], values: fn(Duration, Duration, &[Duration]) -> Vec<f64>) -> Vec<f64> {
    let load = records.iter().find_map(|record| match &record.event {
        Event::Loaded { busy, span, waits } => Some(values(*busy, *span, waits)),
        _ => None,
    });
    load.unwrap_or_default()
}

/// The time from the last beginning of the flows with these events until all have had a fair share of one
/// second.
pub fn convergence(flows: &[&[Record]]) -> Option<Duration> {
    let times = |event: &Event| -> Option<Vec<Time>> {
        flows.iter().map(|flow| time_of(flow, event)).collect()
    };
    let start = times(&Event::Started)?.into_iter().max()?;
    let end = times(&Event::Finished)?.into_iter().min()?;
    let mut bytes = vec![vec![0u64; flows.len()]; (end - start).as_secs() as usize];
    for (number, flow) in flows.iter().enumerate() {
        for record in *flow {
            if let Event::Flowing { last, bytes: arrived, .. } = record.event
                && let Some(second) = bytes.get_mut((last - start).as_secs() as usize)
            {
                second[number] += if last < start { 0 } else { arrived };
            }
        }
    }
    let is_fair = |second: &Vec<u64>| {
        let (least, all) = (second.iter().min().copied().unwrap_or(0), second.iter().sum::<u64>());
        all > 0 && (least * second.len() as u64) as f64 >= (1.0 - DELTA) * all as f64
    };
    let first = bytes.iter().position(is_fair).filter(|_| flows.len() > 1)?;
    Some(Duration::from_secs(first as u64 + 1))
}

const DELTA: f64 = 0.2;

fn jain(rates: &[u64]) -> Option<f64> {
    let sum: f64 = rates.iter().map(|rate| *rate as f64).sum();
    let squares: f64 = rates.iter().map(|rate| (*rate as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64, event: Event) -> Record {
        Record { at: Time::from_millis(millis), event }
    }

    #[test]
    fn shares_and_loads_follow_from_counters() {
        let all = |rates: &[u64]| -> Vec<Vec<f64>> {
            let [busy, span] = [30, 40].map(Duration::from_millis);
            let (rates_bps, convergence) = (rates.to_vec(), Some(span));
            let shared = Event::Shared { bytes: 30, bytes_of_all: 40, rates_bps, convergence };
            let loaded = Event::Loaded { busy, span, waits: vec![busy, span] };
            let records = [at(0, shared), at(0, loaded)];
            METRICS.iter().map(|metric| (metric.compute)(&records)).collect()
        };
        assert_eq!(
            all(&[5, 5, 5]),
            [vec![75.0], vec![1.0], vec![40.0], vec![75.0], vec![30.0, 40.0]]
        );
        // (3 + 1)^2 / (2 * (9 + 1)).
        assert_eq!(all(&[3, 1])[1], [0.8]);
        assert_eq!(all(&[7, 0, 0, 0])[1], [0.25]);
        assert!(all(&[0, 0])[1].is_empty());
    }

    /// The second flow has 1/3 of the first second of both, and 4/9 of the next.
    #[test]
    fn flows_converge_when_each_has_four_fifths_of_its_share() {
        let flow = |start: u64, bytes: [u64; 4]| -> Vec<Record> {
            let arrived = (0..).zip(bytes).map(|(second, bytes)| {
                let last = Time::from_millis(500 + 1_000 * second);
                Record { at: last, event: Event::Flowing { phone: 0, last, bytes } }
            });
            let ends = [at(start, Event::Started), at(4_000, Event::Finished)];
            ends.into_iter().chain(arrived).collect()
        };
        let one = flow(0, [4, 4, 2, 5]);
        let two = |bytes| flow(1_000, bytes);
        let both = |bytes| convergence(&[&one, &two(bytes)]);
        assert_eq!(both([0, 0, 1, 4]), Some(Duration::from_secs(3)));
        assert_eq!((both([0, 1, 1, 1]), convergence(&[&one])), (None, None));
    }
}
