//! How groups share a network.

use trackbed_core::event::{Event, Record};

use super::Metric;

pub(super) const METRICS: &[Metric] = metrics! {
    "traffic_share_percent", |records| of(records, |bytes, of_all, _| {
        (of_all > 0).then(|| bytes as f64 * 100.0 / of_all as f64)
    }) =>
        "the group's share of the bytes of all groups, in both directions, IP headers included, over \
         the whole run";
    "fairness_ratio", |records| of(records, |_, _, rates| jain(rates)) =>
        "how evenly the members of all groups share (Jain, Chiu and Hawe 1984): 1 if each has the \
         same rate, 1/n if one of n has all; a member's rate is its bytes over its measured part";
};

/// A value from the group's bytes, those of all groups, and the rates of all members.
fn of(records: &[Record], value: fn(u64, u64, &[u64]) -> Option<f64>) -> Vec<f64> {
    let shared = records.iter().filter_map(|record| match &record.event {
        Event::Shared { bytes, bytes_of_all, rates_bps } => value(*bytes, *bytes_of_all, rates_bps),
        _ => None,
    });
    shared.collect()
}

fn jain(rates: &[u64]) -> Option<f64> {
    let sum: f64 = rates.iter().map(|rate| *rate as f64).sum();
    let squares: f64 = rates.iter().map(|rate| (*rate as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

#[cfg(test)]
#[test]
fn a_share_and_an_index_follow_from_bytes_and_rates() {
    let record = |rates: &[u64]| Record {
        at: trackbed_core::Time::ZERO,
        event: Event::Shared { bytes: 30, bytes_of_all: 40, rates_bps: rates.to_vec() },
    };
    let all = |rates: &[u64]| -> Vec<Vec<f64>> {
        METRICS.iter().map(|metric| (metric.compute)(&[record(rates)])).collect()
    };
    assert_eq!(all(&[5, 5, 5]), [vec![75.0], vec![1.0]]);
    // (3 + 1)^2 / (2 * (9 + 1)).
    assert_eq!(all(&[3, 1]), [vec![75.0], vec![0.8]]);
    assert_eq!(all(&[7, 0, 0, 0])[1], [0.25]);
    assert_eq!(all(&[0, 0]), [vec![75.0], vec![]]);
}
