//! Tables of comma-separated values with named columns.

use crate::motion::error::MotionError;

/// A table with a heading. Lines that begin with `#` are comments; unknown columns are ignored.
#[derive(Clone, Debug)]
pub struct Table {
    heading: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column(usize);

/// A line of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    heading: &'a [String],
    record: &'a csv::StringRecord,
}

impl Table {
    /// Parses a table.
    ///
    /// # Errors
    /// If there is no heading, or a line has a different number of fields; the message names the line.
    pub fn parse(text: &str) -> Result<Table, MotionError> {
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let refuse = |why: csv::Error| {
            let text = match why.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} fields below a heading of {expected_len}")
                }
                _ => why.to_string(),
            };
            let error = MotionError::new(format!("{text}; give each line a value for each column"));
            match why.position() {
                Some(position) => error.in_line(position.line()),
                None => error,
            }
        };
        let heading = reader.headers().map_err(refuse)?;
        let heading: Vec<String> = heading.iter().map(str::to_owned).collect();
        if heading.is_empty() {
            return Err(MotionError::new("an empty table; write a heading and lines below it"));
        }
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(refuse)?;
        Ok(Table { heading, rows })
    }

    /// The column with the first of these names that exists.
    pub fn column(&self, names: &[&str]) -> Option<Column> {
        let position = |name: &&str| self.heading.iter().position(|title| title == name);
        names.iter().find_map(position).map(Column)
    }

    /// As [`Table::column`].
    ///
    /// # Errors
    /// If there is no such column.
    pub fn need(&self, names: &[&str]) -> Result<Column, MotionError> {
        self.column(names).ok_or_else(|| {
            let (heading, names) = (self.heading.join(","), names.join(" or "));
            let advice = format!("add a column {names}");
            MotionError::new(format!("the heading \"{heading}\" has no {names}; {advice}"))
                .in_line(1)
        })
    }

    /// The columns whose names begin with `prefix`, and the rest of their names.
    pub fn columns_after(&self, prefix: &str) -> Vec<(Column, &str)> {
        let titles = (0..).zip(&self.heading);
        let found =
            titles.filter_map(|(at, title)| Some((Column(at), title.strip_prefix(prefix)?)));
        found.collect()
    }

    /// The lines below the heading.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|record| Row { heading: &self.heading, record })
    }
}

impl<'a> Row<'a> {
    /// Its line in the text, counted from 1.
    pub fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line)
    }

    /// The text in a column; `None` if it is empty.
    pub fn text(&self, column: Column) -> Option<&'a str> {
        self.record.get(column.0).filter(|text| !text.is_empty())
    }

    /// The finite number in a column.
    ///
    /// # Errors
    /// If there is none; the message names the line and the column.
    pub fn number(&self, column: Column) -> Result<f64, MotionError> {
        let text = self.text(column).unwrap_or("");
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            let title = &self.heading[column.0];
            let why =
                format!("\"{text}\" in column {title} is not a number; write one such as 1.5");
            MotionError::new(why).in_line(self.line())
        })
    }
}
