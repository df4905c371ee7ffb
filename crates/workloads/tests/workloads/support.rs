//! Runs of a workload in virtual time, over the dialers of a test.

use std::path::Path;

use trackbed_core::event::Playback;
use trackbed_core::parameter::Arguments;
use trackbed_measure::metrics;
use trackbed_workloads::WorkloadError;

// The vocabulary of these tests.
pub use bytes::Bytes;
pub use futures_core::future::LocalBoxFuture;
pub use futures_util::{StreamExt as _, stream};
pub use std::cell::{Cell, RefCell};
pub use std::collections::BTreeMap;
pub use std::net::SocketAddr;
pub use std::rc::Rc;
pub use std::sync::Arc;
pub use std::time::Duration;
pub use trackbed_connection::error::Step;
pub use trackbed_connection::{
    Body, CipherSuite, Connection, Dialer, Error, Handshake, Request, Response, Service,
    TlsVersion, Transport, body,
};
pub use trackbed_core::event::{Event, EventLog, Record};
pub use trackbed_core::{Bitrate, ByteSize, Ratio, Seed, Time};
pub use trackbed_measure::metrics::{Account, account, outcome};
pub use trackbed_net::queue::DropTail;
pub use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};
pub use trackbed_protocols::{Protocol, registry};
pub use trackbed_substrate::simulated::Simulation;
pub use trackbed_substrate::sleep;
pub use trackbed_workloads::environment::{Change, Course, Moment};
pub use trackbed_workloads::{Patience, Prepared, Stage};

/// Parameters and their values as written in a scenario.
pub type Settings = [(&'static str, &'static str)];

/// The workload called `name` with `settings` as written in a scenario.
pub fn prepare(name: &str, settings: &Settings) -> Result<Box<dyn Prepared>, WorkloadError> {
    let workload = trackbed_workloads::find(name).unwrap();
    let value = |(name, text): &(&'static str, &str)| {
        let parameter = workload.parameters().iter().find(|p| p.name == *name).unwrap();
        (*name, parameter.kind.parse(text).unwrap())
    };
    let given: Vec<_> = settings.iter().map(value).collect();
    let arguments = Arguments::read(workload.parameters(), &given).unwrap();
    (workload.prepare)(&arguments, Path::new(env!("CARGO_MANIFEST_DIR")))
}

pub fn samples(metric: &str, records: &[Record]) -> Vec<f64> {
    (metrics::find(metric).unwrap().compute)(records)
}

/// Asserts that the samples of a metric are these, to the nanosecond.
pub fn expect(metric: &str, records: &[Record], expected: &[f64]) {
    equal(metric, &samples(metric, records), expected);
}

/// Asserts that times are these, to the nanosecond.
pub fn equal(what: &str, found: &[f64], expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6;
    let equal = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(equal, "{what}: found {found:?}, expected {expected:?}");
}

/// The time of each piece of media that arrived, from its first request.
pub fn pieces_ms(records: &[Record]) -> Vec<f64> {
    let mut asked = BTreeMap::new();
    let mut took = Vec::new();
    for record in records {
        match record.event {
            Event::Playback { step: Playback::Requested { piece, .. }, .. } => {
                asked.entry(piece).or_insert(record.at);
            }
            Event::Playback { step: Playback::Loaded { piece, .. }, .. } => {
                took.push((record.at - asked[&piece]).as_secs_f64() * 1e3);
            }
            _ => {}
        }
    }
    took
}

/// The number of events for which `wanted` is true.
pub fn count(records: &[Record], wanted: impl Fn(&Event) -> bool) -> usize {
    records.iter().filter(|record| wanted(&record.event)).count()
}

/// The time of the first event for which `wanted` is true, in milliseconds.
pub fn first_ms(records: &[Record], wanted: impl Fn(&Event) -> bool) -> f64 {
    records.iter().find(|record| wanted(&record.event)).unwrap().at.as_millis_f64()
}

/// What `wanted` returns for the events, in order.
pub fn pick<'a, T>(records: &'a [Record], wanted: impl Fn(&'a Event) -> Option<T>) -> Vec<T> {
    records.iter().filter_map(|record| wanted(&record.event)).collect()
}

/// The phone and number of each message of a schedule that was answered or lost, in that order.
pub fn outcomes(records: &[Record]) -> Vec<(u32, u32)> {
    pick(records, |event| match *event {
        Event::Answered { phone, message, .. } | Event::Lost { phone, message, .. } => {
            Some((phone, message))
        }
        _ => None,
    })
}

/// The number of attempts to connect.
pub fn attempts(records: &[Record]) -> usize {
    count(records, |event| matches!(event, Event::ConnectStarted { .. }))
}

/// The number of connections that were set up.
pub fn connections(records: &[Record]) -> usize {
    count(records, |event| matches!(event, Event::Connected { .. }))
}

/// The reasons of given-up messages and connections.
pub fn failures(records: &[Record]) -> Vec<&str> {
    pick(records, |event| match event {
        Event::Failed { reason, .. } => Some(reason.as_str()),
        _ => None,
    })
}
