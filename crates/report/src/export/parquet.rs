//! Tables as Apache Parquet: typed columns in row groups, compressed with Snappy, which every
//! reader of the format supports.
//!
//! Integers are INT64, numbers DOUBLE, flags BOOLEAN and texts BYTE_ARRAY with the logical type
//! STRING. Every column is nullable.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use trackbed_measure::results::Document;

use super::Content;
use super::sink::{Column, Kind, Sink, text};

/// A file being written.
pub(super) struct Parquet<W: io::Write + Send> {
    writer: SerializedFileWriter<W>,
    /// The rows of the unwritten group, column by column.
    columns: Vec<Values>,
    rows: usize,
}

impl<W: io::Write + Send> Parquet<W> {
    pub fn new(
        document: &Document,
        content: Content,
        columns: &[Column],
        sink: W,
    ) -> io::Result<Parquet<W>> {
        let writer = open(document, content, columns, sink).map_err(of_parquet)?;
        let columns = columns.iter().map(|column| Values::new(column.kind)).collect();
        Ok(Parquet { writer, columns, rows: 0 })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for values in &mut self.columns {
            let mut column = group.next_column()?.expect("the schema has as many columns");
            values.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl<W: io::Write + Send> Sink for Parquet<W> {
    fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        for (values, value) in self.columns.iter_mut().zip(row) {
            values.push(&value);
        }
        self.rows += 1;
        if self.rows < ROWS_OF_GROUP {
            return Ok(());
        }
        self.write_group().map_err(of_parquet)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.rows > 0 {
            self.write_group().map_err(of_parquet)?;
        }
        self.writer.finish().map_err(of_parquet)?;
        Ok(())
    }
}

fn open<W: io::Write + Send>(
    document: &Document,
    content: Content,
    columns: &[Column],
    sink: W,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let name = match content {
        Content::Samples => "samples",
        Content::Runs => "runs",
        Content::Cells => "cells",
        Content::Differences => "differences",
    };
    let fields: Result<Vec<TypePtr>, _> = columns.iter().map(field).collect();
    let schema = Type::group_type_builder(name).with_fields(fields?).build()?;
    let about = [
        ("trackbed.version", document.trackbed.clone()),
        ("trackbed.schema", document.schema.to_string()),
        ("trackbed.scenario", document.scenario.clone()),
        ("trackbed.substrate", document.substrate.clone()),
        ("trackbed.seed", document.seed.to_string()),
        ("trackbed.plan", document.plan.clone()),
    ];
    let about = about.map(|(key, value)| KeyValue::new(key.to_owned(), value));
    let properties = WriterProperties::builder()
        .set_created_by(format!("trackbed version {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(about.to_vec()));
    SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties.build()))
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Whole => (Physical::INT64, None),
        Kind::Number => (Physical::DOUBLE, None),
        Kind::Flag => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

struct Values {
    list: List,
    /// Per row, whether it has a value: 1 or 0 (the definition level).
    levels: Vec<i16>,
}

enum List {
    Whole(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
    Text(Vec<ByteArray>),
}

impl Values {
    fn new(kind: Kind) -> Values {
        let list = match kind {
            Kind::Whole => List::Whole(Vec::new()),
            Kind::Number => List::Number(Vec::new()),
            Kind::Flag => List::Flag(Vec::new()),
            Kind::Text => List::Text(Vec::new()),
        };
        Values { list, levels: Vec::new() }
    }

    /// Adds a row's value. A value of another type cannot occur and would become a null.
    fn push(&mut self, value: &Value) {
        let is_there = match &mut self.list {
            List::Whole(list) => push(list, value.as_i64()),
            List::Number(list) => push(list, value.as_f64()),
            List::Flag(list) => push(list, value.as_bool()),
            List::Text(_) if value.is_null() => false,
            List::Text(list) => {
                let text = text(value);
                // Consecutive rows of a run share their text.
                let last = list.last().filter(|last| last.data() == text.as_bytes());
                let bytes = last.cloned().unwrap_or_else(|| ByteArray::from(&*text));
                push(list, Some(bytes))
            }
        };
        self.levels.push(i16::from(is_there));
    }

    /// Writes the values and clears them.
    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(self.levels.as_slice());
        match &mut self.list {
            List::Whole(list) => {
                column.typed::<Int64Type>().write_batch(list, levels, None)?;
                list.clear();
            }
            List::Number(list) => {
                column.typed::<DoubleType>().write_batch(list, levels, None)?;
                list.clear();
            }
            List::Flag(list) => {
                column.typed::<BoolType>().write_batch(list, levels, None)?;
                list.clear();
            }
            List::Text(list) => {
                column.typed::<ByteArrayType>().write_batch(list, levels, None)?;
                list.clear();
            }
        }
        self.levels.clear();
        Ok(())
    }
}

fn push<T>(list: &mut Vec<T>, value: Option<T>) -> bool {
    let is_there = value.is_some();
    list.extend(value);
    is_there
}

/// The underlying system error if there is one, so that the caller can detect a closed pipe.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(why) => match why.downcast::<io::Error>() {
            Ok(why) => *why,
            Err(why) => io::Error::other(why),
        },
        other => io::Error::other(other),
    }
}

/// About the size by which DuckDB's threads divide a file (122,880).
const ROWS_OF_GROUP: usize = 131_072;
