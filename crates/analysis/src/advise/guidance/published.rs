//! The study's own figures.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Load, Observation, Observations, Setting, Source};

/// The study's title.
pub const TITLE: &str = "Analysis of secure communication overhead for on-device AI";

/// The devices of the study.
pub fn devices() -> Vec<String> {
    let file = File::read();
    let tables = file.table.iter().map(|table| &table.device);
    let mut devices: Vec<String> = Vec::new();
    for device in tables.chain(file.range.iter().map(|range| &range.device)) {
        if !devices.contains(device) {
            devices.push(device.clone());
        }
    }
    devices
}

/// What the study printed of `device`: points where its tables have them, ranges over ciphers where its
/// text gives no more. Nothing of it was measured here.
pub fn published(device: &str) -> Observations {
    let file = File::read();
    let tables = file.table.iter().filter(|table| table.device == device);
    let mut all: Vec<Observation> = tables.flat_map(Table::observations).collect();
    let ranges = file.range.iter().filter(|range| range.device == device);
    all.extend(ranges.flat_map(Range::observations));
    Observations { source: Source::Paper { device: device.to_owned() }, all }
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
    load: Load,
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
    load: Load,
    metric: String,
    statistic: String,
    protocol: String,
    ciphers: Vec<String>,
    low: f64,
    high: f64,
}

impl File {
    /// # Panics
    /// If the file is not valid; it is built in, and a test reads all of it.
    fn read() -> File {
        let text = include_str!("../../../../../scenarios/reference/edge-figures.toml");
        toml::from_str(text).expect("the built-in figures are valid")
    }
}

impl Table {
    fn observations(&self) -> impl Iterator<Item = Observation> {
        self.values.iter().flat_map(move |(protocol, ciphers)| {
            ciphers.iter().map(move |(cipher, value)| Observation {
                setting: setting(protocol, cipher, self.load),
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
            setting: setting(&self.protocol, cipher, self.load),
            metric: self.metric.clone(),
            statistic: self.statistic.clone(),
            value: None,
            low: Some(self.low),
            high: Some(self.high),
        })
    }
}

fn setting(protocol: &str, cipher: &str, load: Load) -> Setting {
    Setting { protocol: protocol.to_owned(), cipher: cipher.to_owned(), load }
}
