//! Inference, the machine load reading by reading, and the resources of the ends' processes.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Load, Record, Role, RoleLoad};

use super::account::bounds;
use super::{Metric, ms, time_of};

pub(super) const METRICS: &[Metric] = metrics! {
    "fps", |records| {
        let Some([from, until]) = measured(records) else { return Vec::new() };
        let is_frame = |record: &Record| matches!(record.event, Event::Inferred { .. });
        match records.iter().any(is_frame) {
            true => vec![frames(records).count() as f64 / (until - from).as_secs_f64()],
            false => Vec::new(),
        }
    } => "inference frames completed in the measured part, divided by its length";
    "frame_ms", |records| {
        frames(records).map(|[begin, end]| ms(end - begin)).collect()
    } => "duration of each of these frames; the next one follows immediately";
    "cpu_percent", |records| {
        values(records, |load| of_device(load, |role| role.millipercent).map(thousandth))
    } =>
        "processor time of clients and inference together, in each second of the measured part; \
         400 is four full cores; with [inference] only";
    "client_cpu_percent",
        |records| values(records, |load| load.client.millipercent.map(thousandth)) =>
        "processor time of the clients alone, as for cpu_percent";
    "inference_cpu_percent",
        |records| values(records, |load| load.inference.millipercent.map(thousandth)) =>
        "processor time of the inference alone, as for cpu_percent";
    "server_cpu_percent",
        |records| values(records, |load| load.server.millipercent.map(thousandth)) =>
        "processor time of the server, if it is on this machine, as for cpu_percent";
    "machine_cpu_percent",
        |records| values(records, |load| load.machine_millipercent.map(thousandth)) =>
        "processor time of everything on this machine, the emulated links included, as for \
         cpu_percent";
    "memory_percent", |records| {
        values(records, |load| {
            let total = load.memory_total_bytes.filter(|total| *total > 0)?;
            let used = of_device(load, |role| role.memory_bytes)?;
            Some(used as f64 / total as f64 * 100.0)
        })
    } => "memory of clients and inference together, in percent of the machine's";
    "gpu_percent", |records| values(records, |load| load.gpu_millipercent.map(thousandth)) =>
        "busy share of the busiest graphics processor, if there is one";
    "temperature_celsius", |records| {
        values(records, |load| load.temperature_millicelsius.map(|value| value as f64 / 1e3))
    } => "highest temperature that the machine reports";
    "power_watts", |records| values(records, |load| load.power_milliwatts.map(thousandth)) =>
        "highest power that the machine reports; sensors may overlap";
    "client_cpu_ms", |records| used(records, Role::Client, |processor, _| ms(processor)) =>
        "processor time of the clients' processes together over their lifetime; emulated substrate only";
    "server_cpu_ms", |records| used(records, Role::Server, |processor, _| ms(processor)) =>
        "processor time of the server's process over its lifetime; emulated substrate only";
    "client_memory_bytes", |records| used(records, Role::Client, |_, bytes| bytes as f64) =>
        "peak resident memory of the clients' processes, shared pages counted for each; emulated substrate only";
    "server_memory_bytes", |records| used(records, Role::Server, |_, bytes| bytes as f64) =>
        "peak resident memory of the server's process; emulated substrate only";
};

/// The measured part of a run: the window of its schedule if it has one, until the run's end at the
/// latest (the last answer may come before the window is over), else all from its start to its end.
pub(super) fn measured(records: &[Record]) -> Option<[Time; 2]> {
    let finished = time_of(records, &Event::Finished);
    let whole = || Some([time_of(records, &Event::Started)?, finished?]);
    let window = bounds(records);
    let window = window.map(|[from, until]| [from, finished.map_or(until, |end| end.min(until))]);
    window.or_else(whole).filter(|[from, until]| from < until)
}

/// A value of each reading whose span is within the measured part.
fn values(records: &[Record], of: impl Fn(&Load) -> Option<f64>) -> Vec<f64> {
    let Some([from, until]) = measured(records) else { return Vec::new() };
    let loads = records.iter().filter_map(|record| match &record.event {
        Event::Load(load) if from <= load.since && record.at <= until => Some(load),
        _ => None,
    });
    loads.filter_map(of).collect()
}

/// The sum of clients and inference; the latter is not always present.
fn of_device(load: &Load, of: impl Fn(&RoleLoad) -> Option<u64>) -> Option<u64> {
    Some(of(&load.client)? + of(&load.inference).unwrap_or(0))
}

fn thousandth(value: u64) -> f64 {
    value as f64 / 1e3
}

fn used(records: &[Record], whose: Role, of: fn(Duration, u64) -> f64) -> Vec<f64> {
    let used = records.iter().filter_map(|record| match record.event {
        Event::Used { role, processor, memory_bytes, .. } if role == whose => {
            Some(of(processor, memory_bytes))
        }
        _ => None,
    });
    used.collect()
}

/// The start and end of each frame completed in the measured part.
fn frames(records: &[Record]) -> impl Iterator<Item = [Time; 2]> {
    let measured = measured(records);
    let counts = move |at: Time| measured.is_some_and(|[from, until]| from <= at && at < until);
    records.iter().filter_map(move |record| match record.event {
        Event::Inferred { begin, .. } if counts(record.at) => Some([begin, record.at]),
        _ => None,
    })
}
