//! Parquet files have the content of CSV, with types and row groups. The format's own reader checks
//! them.

use std::collections::BTreeMap;

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::json;
use trackbed_measure::results::{Document, Outcome, RunResult};
use trackbed_report::export::{Content, Exporter, Format};

/// Two cells with factors of all types: one is a number in one cell and text in the other, one
/// exists only in the second cell.
fn document() -> Document {
    let summary = json!({
        "mean": 0.1, "ci95": [0.05, 0.15], "p50": 0.1, "p95": 1e-300, "p99": 1e300, "min": -0.0,
        "max": 123_456_789.25, "n": 2, "samples": 4,
    });
    let cell = |factors| {
        json!({
            "factors": factors, "metrics": { "rtt_ms": summary }, "failed": 1, "failures": [],
        })
    };
    let difference = |percent| {
        json!({
            "metric": "rtt_ms", "cell": 1, "against": 0, "mean": -2.5, "ci95": [-3.0, -2.0],
            "percent": percent, "n": 2, "verdict": "lower",
        })
    };
    let value = json!({
        "trackbed": "0.1.0", "scenario": "made up", "substrate": "virtual", "seed": 7, "runs": 9,
        "plan": "abc", "checks": [],
        "cells": [
            cell(json!({ "protocol": "tcp", "loss": 0.0, "window": 10.0, "pacing": true })),
            cell(json!({
                "protocol": "quic, \"fast\"", "loss": 0.03, "window": "auto", "pacing": false, "zero": "R\u{00fc}ckkehr",
            })),
        ],
        "differences": [difference(json!(-20.0)), difference(json!(null))],
    });
    serde_json::from_value(value).unwrap()
}

fn run(cell: u32, run: u32, values: Vec<f64>) -> RunResult {
    let samples = BTreeMap::from([("rtt_ms".to_owned(), values)]);
    RunResult { cell, run, outcome: Outcome::Samples(samples), certificate: None, answered: None }
}

fn runs() -> Vec<RunResult> {
    let failed = Outcome::Failed("a \"quoted\"\nreason".to_owned());
    vec![
        run(0, 0, vec![0.1 + 0.2, 1.0 / 3.0]),
        run(1, 0, vec![5e-324, -7.0]),
        RunResult { cell: 1, run: 1, outcome: failed, certificate: None, answered: None },
    ]
}

fn export(content: Content, format: Format, runs: &[RunResult]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let document = document();
    let mut exporter = Exporter::new(&document, content, format, &mut bytes).unwrap();
    runs.iter().for_each(|run| exporter.run(run).unwrap());
    exporter.finish().unwrap();
    bytes
}

fn open(bytes: Vec<u8>) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::from(bytes)).unwrap()
}

/// The rows in CSV's notation, the header first.
fn rows(reader: &SerializedFileReader<Bytes>) -> Vec<Vec<String>> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let heading = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let text = |(_, field): &(_, Field)| match field {
        Field::Null => String::new(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Bool(flag) => flag.to_string(),
        Field::Str(text) => text.clone(),
        other => panic!("no column is of such a type: {other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap();
    let rows = rows.map(|row| row.unwrap().into_columns().iter().map(text).collect());
    std::iter::once(heading).chain(rows).collect()
}

#[test]
fn every_table_has_the_values_of_its_csv() {
    for content in [Content::Samples, Content::Runs, Content::Cells, Content::Differences] {
        let csv = export(content, Format::Csv, &runs());
        let mut csv = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_slice());
        let expected: Vec<Vec<String>> = csv
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        assert!(expected.len() > 2, "{content:?}");
        let parquet = export(content, Format::Parquet, &runs());
        assert!(parquet == export(content, Format::Parquet, &runs()), "the same bytes each time");
        assert_eq!(rows(&open(parquet)), expected, "{content:?}");
    }
}

#[test]
fn columns_have_the_type_of_what_they_hold() {
    let reader = open(export(Content::Samples, Format::Parquet, &runs()));
    let file = reader.metadata().file_metadata();
    let columns = file.schema_descr().columns().iter();
    let types = columns.map(|column| format!("{} {}", column.name(), column.physical_type()));
    assert_eq!(
        types.collect::<Vec<_>>().join(", "),
        "cell INT64, protocol BYTE_ARRAY, loss DOUBLE, window BYTE_ARRAY, pacing BOOLEAN, zero BYTE_ARRAY, \
         run INT64, metric BYTE_ARRAY, sample INT64, value DOUBLE, phone INT64, message INT64, due_ms DOUBLE"
    );
    let about = file.key_value_metadata().unwrap();
    let seed = about.iter().find(|pair| pair.key == "trackbed.seed").unwrap();
    assert_eq!(seed.value.as_deref(), Some("7"));
}

/// Two full groups and one partial group.
#[test]
fn many_rows_are_several_groups() {
    let many: Vec<f64> = (0..100_000_u32).map(|number| f64::from(number) / 3.0).collect();
    let many = [run(0, 0, many.clone()), run(0, 1, many.clone()), run(1, 0, many.clone())];
    let reader = open(export(Content::Samples, Format::Parquet, &many));
    let groups = reader.metadata().row_groups();
    let counts: Vec<i64> = groups.iter().map(|group| group.num_rows()).collect();
    assert_eq!(counts, [131_072, 131_072, 300_000 - 2 * 131_072]);
    let Some(last) = rows(&reader).pop() else { panic!("there are rows") };
    let expected = "1|quic, \"fast\"|0.03|auto|false|R\u{00fc}ckkehr|0|rtt_ms|99999|33333|||";
    assert_eq!(last.join("|"), expected);
}

#[test]
fn a_table_without_rows_is_a_file() {
    let reader = open(export(Content::Samples, Format::Parquet, &[]));
    assert_eq!((rows(&reader).len(), reader.metadata().file_metadata().num_rows()), (1, 0));
}
