//! Tables with named columns.

use std::io;

use super::{TextError, known, lines, seconds};

/// A table of values separated by commas, semicolons or tabs, or by spaces where its heading has none of these.
/// Lines that begin with `#` are comments; unknown columns are ignored.
#[derive(Clone, Debug)]
pub struct Table {
    heading: Vec<String>,
    rows: Vec<csv::StringRecord>,
    /// The number of each line that is not empty or a comment.
    numbers: Vec<u64>,
    /// Whether a comma in a number may separate thousands.
    has_groups: bool,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column(usize);

/// A line of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    table: &'a Table,
    record: &'a csv::StringRecord,
}

impl Table {
    /// Parses a table.
    ///
    /// # Errors
    /// If there is no heading, or a line has a different number of fields; the message names the line.
    pub fn parse(text: &str) -> Result<Table, TextError> {
        // The library counts neither comments nor the line ends of Windows.
        let (numbers, lines): (Vec<u64>, Vec<&str>) = lines(text).unzip();
        let empty = || TextError::new("an empty table; write a heading and lines below it");
        let first = *lines.first().ok_or_else(empty)?;
        if first == "[" || first.starts_with('{') || first.starts_with("[{") {
            let why = "this looks like JSON; write a table: a heading, and lines below it";
            return Err(TextError::new(why).in_line(numbers[0]));
        }
        let counts = [b',', b';', b'\t'].map(|c| (first.bytes().filter(|b| *b == c).count(), c));
        let (count, delimiter) =
            counts.into_iter().rev().max_by_key(|(count, _)| *count).unwrap_or_default();
        let spaced = |line: &&str| line.split_whitespace().collect::<Vec<_>>().join("\t");
        let (text, delimiter) = match count {
            0 => (lines.iter().map(spaced).collect::<Vec<_>>().join("\n"), b'\t'),
            _ => (lines.join("\n"), delimiter),
        };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(io::Cursor::new(text));
        let refuse = |why: csv::Error| {
            let text = match why.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} fields below a heading of {expected_len}")
                }
                _ => why.to_string(),
            };
            let error = TextError::new(format!("{text}; give each line a value for each column"));
            match why.position() {
                Some(position) => error.in_line(number(&numbers, position)),
                None => error,
            }
        };
        let mut rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(refuse)?;
        // A byte order mark below an empty line is no line for the library.
        if rows.is_empty() {
            return Err(empty());
        }
        let heading = rows.remove(0).iter().map(str::to_owned).collect();
        let mut grouped = rows.iter().flatten().filter(|field| field.contains(','));
        let is_group = |field: &str| field.split_once(',').is_some_and(|(_, end)| end.len() == 3);
        let has_groups =
            delimiter == b',' && grouped.all(|it| decimal(it).is_none_or(|_| is_group(it)));
        Ok(Table { heading, rows, numbers, has_groups })
    }

    /// Gives the column with the heading of each pair the name in it.
    ///
    /// # Errors
    /// If there is no such heading.
    pub fn rename(&mut self, columns: &[(String, String)]) -> Result<(), TextError> {
        for (name, heading) in columns {
            let column = self.need(&[heading])?;
            // A column that already has the name is not meant.
            self.heading
                .iter_mut()
                .filter(|own| own.eq_ignore_ascii_case(name))
                .for_each(String::clear);
            self.heading[column.0].clone_from(name);
        }
        Ok(())
    }

    /// The column with the first of these names that exists, in capitals or not.
    pub fn column(&self, names: &[&str]) -> Option<Column> {
        let position = |name: &&str| self.heading.iter().position(|t| t.eq_ignore_ascii_case(name));
        names.iter().find_map(position).map(Column)
    }

    /// As [`Table::column`].
    ///
    /// # Errors
    /// If there is no such column.
    pub fn need(&self, names: &[&str]) -> Result<Column, TextError> {
        self.column(names).ok_or_else(|| {
            let (heading, names) = (self.heading.join(","), names.join(" or "));
            let why = format!("the heading \"{heading}\" has no {names}; add or rename a column");
            TextError::new(why).in_line(self.numbers[0])
        })
    }

    /// The columns whose names begin with `prefix`, and the rest of their names.
    pub fn columns_after(&self, prefix: &str) -> Vec<(Column, &str)> {
        let found = (0..).zip(&self.heading).filter_map(|(at, title)| {
            let (start, rest) = title.split_at_checked(prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then_some((Column(at), rest))
        });
        found.collect()
    }

    /// The lines below the heading.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|record| Row { table: self, record })
    }
}

impl<'a> Row<'a> {
    /// Its line in the text, counted from 1.
    pub fn line(&self) -> u64 {
        self.record.position().map_or(0, |position| number(&self.table.numbers, position))
    }

    /// The text in a column; `None` if it is empty, or means "unavailable".
    pub fn text(&self, column: Column) -> Option<&'a str> {
        self.record.get(column.0).and_then(known)
    }

    /// The finite number in a column, with a decimal point or a comma that separates no thousands.
    ///
    /// # Errors
    /// If there is none; the message names the line and the column.
    pub fn number(&self, column: Column) -> Result<f64, TextError> {
        let text = self.record.get(column.0).unwrap_or_default();
        let is_clear = |_: &f64| !self.table.has_groups || !text.contains(',');
        decimal(text).filter(is_clear).ok_or_else(|| {
            let title = &self.table.heading[column.0];
            let why =
                format!("\"{text}\" in column {title} is not a number; write one such as 1.5");
            TextError::new(why).in_line(self.line())
        })
    }

    /// The time in a column, as of [`seconds`].
    ///
    /// # Errors
    /// As [`Row::number`].
    pub fn seconds(&self, column: Column, unit: Option<f64>) -> Result<f64, TextError> {
        let text = self.record.get(column.0).unwrap_or_default();
        seconds(text, unit).ok_or_else(|| {
            let why = "is not a valid time; write seconds such as 12.5, or 2026-05-01T08:00:00Z";
            TextError::new(format!("\"{text}\" {why}")).in_line(self.line())
        })
    }
}

/// The finite number that `text` is, with a decimal point or comma.
pub fn decimal(text: &str) -> Option<f64> {
    let number = text.parse().or_else(|_| text.replacen(',', ".", 1).parse());
    number.ok().filter(|number: &f64| number.is_finite())
}

/// The number in the whole text of the line that is at `position` without comments and empty lines.
fn number(numbers: &[u64], position: &csv::Position) -> u64 {
    let index = usize::try_from(position.line()).unwrap_or(usize::MAX).saturating_sub(1);
    numbers.get(index).copied().unwrap_or_default()
}
