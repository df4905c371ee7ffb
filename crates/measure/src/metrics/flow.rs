//! Throughput during a given time, and around handovers.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};

use super::{Metric, ms, time_of};

pub(super) const METRICS: &[Metric] = metrics! {
    "goodput_mbps", |records| {
        let Some((start, end)) = span(records) else { return Vec::new() };
        let seconds = (end - start).as_secs_f64();
        flows(records).map(|(bytes, _)| bytes as f64 * 8.0 / seconds / 1e6).collect()
    } =>
        "payload bytes of each phone's flow over the measured part, connection set-up included, in \
         10^6 bit/s; without headers and retransmissions";
    "handover_goodput_mbps", |records| {
        let Some((start, end)) = span(records) else { return Vec::new() };
        let arrivals = arrivals(records);
        let goodput = |middle: Time| {
            let (from, to) = (middle - WINDOW / 2, middle + WINDOW / 2);
            let first = arrivals.partition_point(|(at, _)| *at < from);
            let inside = arrivals[first..].iter().take_while(|(at, _)| *at < to);
            inside.map(|(_, bytes)| *bytes).sum::<u64>() as f64 * 8.0 / WINDOW.as_secs_f64() / 1e6
        };
        let whole = |middle: &Time| *middle >= start + WINDOW / 2 && *middle + WINDOW / 2 <= end;
        middles(records).filter(whole).map(goodput).collect()
    } =>
        "payload bytes that arrive at all phones in the one-second window centred on each \
         handover's outage, on any path, in 10^6 bit/s; only windows within the measured part";
    "gap_ms", |records| flows(records).map(|(_, gap)| ms(gap)).collect() =>
        "longest gap between arrivals at each phone, from the first byte of its flow to the end";
    "handover_count", |records| {
        let Some((start, end)) = span(records) else { return Vec::new() };
        if !records.iter().any(|record| matches!(record.event, Event::Handover { .. })) {
            return Vec::new();
        }
        let count = middles(records).filter(|at| (start..end).contains(at)).count();
        vec![count as f64]
    } => "handovers of all paths during the measured part";
};

/// About how long a handover has an effect (papers measure "instantaneous" throughput so).
const WINDOW: Duration = Duration::from_secs(1);

/// The start and end of the measured part.
fn span(records: &[Record]) -> Option<(Time, Time)> {
    let start = time_of(records, &Event::Started)?;
    let end = time_of(records, &Event::Finished)?;
    (end > start).then_some((start, end))
}

fn flows(records: &[Record]) -> impl Iterator<Item = (u64, Duration)> {
    records.iter().filter_map(|record| match record.event {
        Event::Flowed { bytes, silence, .. } => Some((bytes, silence)),
        _ => None,
    })
}

/// The bytes that arrived, with their times, in order of time.
fn arrivals(records: &[Record]) -> Vec<(Time, u64)> {
    let arrival = |record: &Record| match record.event {
        Event::Flowing { last, bytes, .. } => Some((last, bytes)),
        _ => None,
    };
    let mut arrivals: Vec<_> = records.iter().filter_map(arrival).collect();
    arrivals.sort_by_key(|(at, _)| *at);
    arrivals
}

fn middles(records: &[Record]) -> impl Iterator<Item = Time> {
    records.iter().filter_map(|record| match record.event {
        Event::Handover { from, until, .. } => Some(from + (until - from) / 2),
        _ => None,
    })
}
