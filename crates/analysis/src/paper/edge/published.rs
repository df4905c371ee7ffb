//! The study's own figures.

use std::collections::BTreeMap;

use serde::Deserialize;
use trackbed_measure::lists::distinct;

use super::figure::{Observation, Place};

/// The devices of the study, in the order of its tables.
pub fn devices() -> Vec<String> {
    let file = File::read();
    let tables = file.table.into_iter().map(|table| table.device);
    distinct(tables.chain(file.range.into_iter().map(|range| range.device)))
}

/// The values the study printed for `device`: points from its tables, ranges over ciphers where its
/// text gives no more. None of them was measured here.
pub(super) fn published(device: &str) -> Vec<Observation> {
    let file = File::read();
    let tables = file.table.iter().filter(|table| table.device == device);
    let mut all: Vec<Observation> = tables.flat_map(Table::observations).collect();
    let ranges = file.range.iter().filter(|range| range.device == device);
    all.extend(ranges.flat_map(Range::observations));
    all
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "title")]
    _title: String,
    table: Vec<Table>,
    range: Vec<Range>,
}

#[derive(Deserialize)]
struct Table {
    device: String,
    load: String,
    metric: String,
    statistic: String,
    /// Protocol to cipher to value.
    #[serde(flatten)]
    values: BTreeMap<String, BTreeMap<String, f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    device: String,
    load: String,
    metric: String,
    statistic: String,
    protocol: String,
    ciphers: Vec<String>,
    low: f64,
    high: f64,
}

impl File {
    /// # Panics
    /// If the file is invalid; it is built in, and a test reads all of it.
    fn read() -> File {
        let text = include_str!("../../../../../scenarios/reference/edge-figures.toml");
        toml::from_str(text).expect("the built-in figures are valid")
    }
}

impl Table {
    fn observations(&self) -> impl Iterator<Item = Observation> {
        self.values.iter().flat_map(move |(protocol, ciphers)| {
            ciphers.iter().map(move |(cipher, value)| Observation {
                place: Place::new(&self.load, protocol, cipher),
                metric: self.metric.clone(),
                statistic: self.statistic.clone(),
                value: Some(*value),
                low: Some(*value),
                high: Some(*value),
            })
        })
    }
}

impl Range {
    fn observations(&self) -> impl Iterator<Item = Observation> {
        self.ciphers.iter().map(move |cipher| Observation {
            place: Place::new(&self.load, &self.protocol, cipher),
            metric: self.metric.clone(),
            statistic: self.statistic.clone(),
            value: None,
            low: Some(self.low),
            high: Some(self.high),
        })
    }
}
