//! Tables of text with aligned columns.

use std::fmt;

use trackbed_outward::printable_line;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table: a header and rows.
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

    /// The same by titles with `|` between them; those of numbers begin with `>`.
    pub(crate) fn titled(titles: &str) -> Table {
        Table::new(titles.split('|').map(|title| match title.strip_prefix('>') {
            Some(title) => (title, Align::Right),
            None => (title, Align::Left),
        }))
    }

    /// Adds a row. Each cell is shown on one line, with control characters escaped.
    ///
    /// # Panics
    /// If the number of cells differs from the number of columns.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let cells: Vec<String> =
            cells.into_iter().map(|cell| printable_line(&cell.into()).into_owned()).collect();
        assert_eq!(cells.len(), self.columns.len(), "a row needs one cell per column");
        self.rows.push(cells);
    }

    /// The table in at most `width` characters if leaving out columns achieves that: those whose
    /// title satisfies `may_go`, the last one first. Also returns the titles of the columns left
    /// out.
    #[must_use]
    pub fn fit(&self, width: usize, may_go: impl Fn(&str) -> bool) -> (Table, Vec<String>) {
        let (mut table, mut gone) = (self.clone(), Vec::new());
        while table.total_width() > width {
            let Some(last) = table.columns.iter().rposition(|(title, _)| may_go(title)) else {
                break;
            };
            let (title, _) = table.columns.remove(last);
            gone.insert(0, title.replace('\n', " "));
            table.rows.iter_mut().for_each(|row| drop(row.remove(last)));
        }
        (table, gone)
    }

    /// The length of the longest line, in characters.
    fn total_width(&self) -> usize {
        let columns = self.columns.len();
        (0..columns).map(|column| self.width(column)).sum::<usize>() + 2 * columns.saturating_sub(1)
    }

    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let escaped = |text: &String| text.replace('\n', " ").trim().replace('|', "\\|");
        let mut text = line(&mut self.columns.iter().map(|(title, _)| escaped(title)));
        text.push_str(&line(&mut self.columns.iter().map(|(_, align)| {
            match align {
                Align::Left => "---",
                Align::Right => "---:",
            }
            .to_owned()
        })));
        for row in &self.rows {
            text.push_str(&line(&mut row.iter().map(escaped)));
        }
        text
    }

    /// The table as LaTeX, with the rules of the package booktabs.
    pub(crate) fn latex(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &String>| {
            let cells: Vec<String> = cells.map(|text| latex(text.trim())).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let align = self.columns.iter().map(|(_, align)| match align {
            Align::Left => 'l',
            Align::Right => 'r',
        });
        let titles = line(&mut self.columns.iter().map(|(title, _)| title));
        let rows: String = self.rows.iter().map(|row| line(&mut row.iter())).collect();
        let align: String = align.collect();
        format!(
            "\\begin{{tabular}}{{{align}}}\n\\toprule\n{titles}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n"
        )
    }

    pub(crate) fn columns(&self) -> &[(String, Align)] {
        &self.columns
    }

    /// The rows, each with a text per column.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        let title = self.columns[column].0.lines().map(|line| line.chars().count());
        cells.chain(title).max().unwrap_or(0)
    }

    /// The lines of the header; a one-line title is in the last.
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

/// `text` on one line, with signs that LaTeX would take for commands.
fn latex(text: &str) -> String {
    let sign = |c: char| match c {
        '\n' => " ".to_owned(),
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '<' | '>' | '|' => format!("${c}$"),
        // A bracket at the beginning of a row would be an argument of the line break before it.
        '[' => "{[}".to_owned(),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        c => c.to_string(),
    };
    text.chars().map(sign).collect()
}

/// Two spaces between columns, no trailing spaces, a newline after each line.
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
    fn a_cell_of_others_makes_no_row() {
        let mut table = Table::new([("protocol", Align::Left)]);
        table.row(["quic\nfastest: \u{1b}[1mtcp"]);
        assert_eq!(table.to_string(), "protocol\nquic\\nfastest: \\u001b[1mtcp\n");
    }

    #[test]
    fn what_does_not_fit_is_left_out_from_the_right_and_named() {
        let titles = ["cell", "loss\n%", "rtt\nms", "failed"];
        let mut table = Table::new(titles.map(|title| (title, Align::Right)));
        table.row(["0", "1.25", "100.5", "0"]);
        let may_go = |title: &str| title.contains('\n');
        // 4 + 4 + 5 + 6 characters and three gaps of two.
        let (same, gone) = table.fit(25, may_go);
        assert_eq!((same.to_string(), gone.len()), (table.to_string(), 0));
        let (fitting, gone) = table.fit(24, may_go);
        assert_eq!(fitting.to_string(), "      loss\ncell     %  failed\n   0  1.25       0\n");
        assert_eq!(gone, ["rtt ms"]);
        let (least, gone) = table.fit(3, may_go);
        assert_eq!(least.to_string(), "cell  failed\n   0       0\n");
        assert_eq!(gone, ["loss %", "rtt ms"]);
    }

    #[test]
    fn what_latex_takes_for_commands_is_text() {
        let mut table = Table::new([("loss_up", Align::Left), ("rtt\nms", Align::Right)]);
        table.row(["[1 %, 2 %] & more", "9.5"]);
        assert_eq!(
            table.latex(),
            "\\begin{tabular}{lr}\n\\toprule\nloss\\_up & rtt ms \\\\\n\\midrule\n\
             {[}1 \\%, 2 \\%] \\& more & 9.5 \\\\\n\\bottomrule\n\\end{tabular}\n"
        );
    }

    #[test]
    fn a_title_may_have_two_lines() {
        let mut table = Table::new([("cell", Align::Left), ("completion\nms", Align::Right)]);
        table.row(["0", "110.2"]);
        assert_eq!(table.to_string(), "      completion\ncell          ms\n0          110.2\n");
    }
}
