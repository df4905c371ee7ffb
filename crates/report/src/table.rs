//! Tables of text with aligned columns.

use std::fmt;

/// On which side a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table: a heading, and rows of as many cells.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows. A title may have two lines.
    pub fn new(columns: impl IntoIterator<Item = (impl Into<String>, Align)>) -> Table {
        let columns = columns.into_iter().map(|(title, align)| (title.into(), align)).collect();
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not one cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// The titles, each with the side on which its column is flush.
    pub(crate) fn columns(&self) -> &[(String, Align)] {
        &self.columns
    }

    /// The rows, each with a text for each column.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        let title = self.columns[column].0.lines().map(|line| line.chars().count());
        cells.chain(title).max().unwrap_or(0)
    }

    /// The lines of the heading; a title of one line stands in the last.
    fn heading(&self) -> Vec<Vec<String>> {
        let upper = self.columns.iter().map(|(title, _)| title.split_once('\n'));
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for (split, (title, _)) in upper.zip(&self.columns) {
            let (above, below) = split.unwrap_or(("", title));
            first.push(above.to_owned());
            last.push(below.to_owned());
        }
        if first.iter().all(String::is_empty) { vec![last] } else { vec![first, last] }
    }
}

/// Two spaces between columns, no trailing space, a newline behind each line.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.columns.len()).map(|c| self.width(c)).collect();
        let heading = self.heading();
        for row in heading.iter().chain(&self.rows) {
            let mut line = String::new();
            for (column, (text, width)) in row.iter().zip(&widths).enumerate() {
                let (_, align) = &self.columns[column];
                if column > 0 {
                    line.push_str("  ");
                }
                match align {
                    Align::Left => line.push_str(&format!("{text:<width$}")),
                    Align::Right => line.push_str(&format!("{text:>width$}")),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new([("protocol", Align::Left), ("ms", Align::Right)]);
        table.row(["quic", "110.2"]);
        table.row(["http2", "9"]);
        assert_eq!(table.to_string(), "protocol     ms\nquic      110.2\nhttp2         9\n");
    }

    #[test]
    fn a_title_may_have_two_lines() {
        let mut table = Table::new([("cell", Align::Left), ("completion\nms", Align::Right)]);
        table.row(["0", "110.2"]);
        assert_eq!(table.to_string(), "      completion\ncell          ms\n0          110.2\n");
    }
}
