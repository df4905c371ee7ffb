//! Row sinks for CSV and JSON, which need no column types.

use std::borrow::Cow;
use std::io;

use serde_json::{Map, Value};
use trackbed_measure::samples::cell;

/// Takes the rows of a table.
pub(super) trait Sink {
    /// Writes a row with a value for each column, null where there is none.
    fn row(&mut self, row: Vec<Value>) -> io::Result<()>;

    fn finish(self: Box<Self>) -> io::Result<()>;
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has types"))]
    pub kind: Kind,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Counts and cell and run numbers.
    Whole,
    Number,
    Flag,
    Text,
}

/// Comma-separated values (RFC 4180); text cannot act as a formula in a spreadsheet.
pub(super) struct Csv<W: io::Write>(csv::Writer<W>);

impl<W: io::Write> Csv<W> {
    pub fn new(columns: &[Column], sink: W) -> io::Result<Csv<W>> {
        let mut csv = csv::Writer::from_writer(sink);
        csv.write_record(columns.iter().map(|column| cell(&column.name).into_owned()))
            .map_err(of_csv)?;
        Ok(Csv(csv))
    }
}

impl<W: io::Write> Sink for Csv<W> {
    fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        let cells = row.iter().map(|value| cell(&text(value)).into_owned());
        self.0.write_record(cells).map_err(of_csv)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.0.flush()
    }
}

/// One object per line.
pub(super) struct Ndjson<W> {
    columns: Vec<Column>,
    sink: W,
}

impl<W: io::Write> Ndjson<W> {
    pub fn new(columns: Vec<Column>, sink: W) -> Ndjson<W> {
        Ndjson { columns, sink }
    }
}

impl<W: io::Write> Sink for Ndjson<W> {
    fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        let names = self.columns.iter().map(|column| column.name.clone());
        let object: Map<String, Value> = names.zip(row).collect();
        serde_json::to_writer(&mut self.sink, &object)?;
        self.sink.write_all(b"\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.sink.flush()
    }
}

/// A value as text; numbers as in samples.csv: 3, not 3.0.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) if number.is_f64() => {
            Cow::Owned(number.as_f64().unwrap_or_default().to_string())
        }
        other => Cow::Owned(other.to_string()),
    }
}

/// The underlying system error if there is one, so that the caller can detect a closed pipe.
fn of_csv(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(why) => why,
        other => io::Error::other(format!("{other:?}")),
    }
}
