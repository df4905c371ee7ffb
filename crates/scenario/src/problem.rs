//! Errors in a scenario: what is wrong, where, and what to write instead.

use std::fmt;
use std::ops::Range;

/// Why a scenario cannot be run: every error found, with its place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", .reports.join("\n\n"), if *.cut { "\n\n... and more" } else { "" })]
pub struct ScenarioError {
    reports: Vec<String>,
    /// There were more errors than reports.
    cut: bool,
}

impl ScenarioError {
    pub(crate) fn about_file(message: String, help: Option<String>) -> ScenarioError {
        let problem = Problem { place: None, message, help };
        ScenarioError { reports: vec![problem.render(&[])], cut: false }
    }

    /// The errors, in the order of the file.
    pub fn reports(&self) -> &[String] {
        &self.reports
    }
}

/// A text with settings: the scenario file, or one argument of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// Its name in messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// A file has line numbers, an argument has none.
    pub is_file: bool,
}

/// The position of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The index of its [`Origin`] in the list of them, the file first.
    pub origin: usize,
    /// The byte range in the text.
    pub span: Range<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    place: Option<Place>,
    message: String,
    help: Option<String>,
}

impl Problems {
    /// Adds an error, whose message includes the remedy unless there is `help`.
    pub fn report(&mut self, place: &Place, message: impl fmt::Display, help: Option<String>) {
        self.push(Some(place), message, help);
    }

    /// Adds an error whose message includes the remedy.
    pub fn add(&mut self, place: &Place, message: impl fmt::Display) {
        self.report(place, message, None);
    }

    /// Adds an error and its remedy.
    pub fn add_with_help(
        &mut self,
        place: &Place,
        message: impl fmt::Display,
        help: impl fmt::Display,
    ) {
        self.report(place, message, Some(help.to_string()));
    }

    /// As [`Problems::add_with_help`], for a value that is then missing.
    pub fn refuse<T>(
        &mut self,
        place: &Place,
        message: impl fmt::Display,
        help: impl fmt::Display,
    ) -> Option<T> {
        self.add_with_help(place, message, help);
        None
    }

    /// Adds an error about the whole file: something is missing.
    pub fn add_missing(&mut self, message: impl fmt::Display, help: impl fmt::Display) {
        self.push(None, message, Some(help.to_string()));
    }

    fn push(&mut self, place: Option<&Place>, message: impl fmt::Display, help: Option<String>) {
        let problem = Problem { place: place.cloned(), message: message.to_string(), help };
        if !self.is_full() && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// Whether there is no error.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there are so many errors that finding more is useless.
    pub fn is_full(&self) -> bool {
        self.0.len() >= PROBLEMS_MAX
    }

    /// Fails if there is any error.
    pub fn check(self, origins: &[Origin]) -> Result<(), ScenarioError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut problems = self.0;
        problems.sort_by_key(|problem| match &problem.place {
            Some(place) => (0, place.origin, place.span.start),
            None => (1, 0, 0),
        });
        let cut = problems.len() > REPORTS_MAX;
        problems.truncate(REPORTS_MAX);
        let reports = problems.iter().map(|problem| problem.render(origins)).collect();
        Err(ScenarioError { reports, cut })
    }
}

impl Problem {
    fn render(&self, origins: &[Origin]) -> String {
        let mut report = format!("error: {}", printable(&self.message));
        let mut margin = 0;
        match &self.place {
            Some(place) => {
                let origin = &origins[place.origin];
                let line = Line::at(&origin.text, place.span.start);
                margin = if origin.is_file { line.number.to_string().len() } else { 0 };
                report.push_str(&excerpt(origin, &line, place, margin));
            }
            None => {
                if let Some(file) = origins.first() {
                    report.push_str(&format!("\n --> {}", printable(&file.name)));
                }
            }
        }
        if let Some(help) = &self.help {
            report.push_str(&format!("\n{:margin$} = {}", "", printable(help)));
        }
        report
    }
}

struct Line<'a> {
    number: usize,
    /// The byte at which it begins.
    start: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// The line that contains byte `at` of `text`.
    fn at(text: &'a str, at: usize) -> Line<'a> {
        let at = (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let number = text[..start].matches('\n').count() + 1;
        Line { number, start, text: text[start..end].trim_end_matches('\r') }
    }

    /// The number of characters in the line before byte `at` of the whole text.
    fn column(&self, at: usize) -> usize {
        let ends = self.text.char_indices().map(|(i, c)| self.start + i + c.len_utf8());
        ends.take_while(|end| *end <= at).count()
    }
}

/// The lines below the message: the position, the line itself, and marks below the place.
fn excerpt(origin: &Origin, line: &Line<'_>, place: &Place, margin: usize) -> String {
    let (from, to) = (line.column(place.span.start), line.column(place.span.end));
    let mark = (to.max(from + 1) - from).min(EXCERPT_CHARS_MAX);
    // Shows part of a very long line.
    let skip = if to <= EXCERPT_CHARS_MAX { 0 } else { from.saturating_sub(20) };
    let shown: String = line.text.chars().skip(skip).take(EXCERPT_CHARS_MAX).collect();
    let name = printable(&origin.name);
    let (position, number) = match origin.is_file {
        true => (format!("{name}:{}:{}", line.number, from + 1), line.number.to_string()),
        false => (name, String::new()),
    };
    let (shown, before) = (printable(&shown), " ".repeat(from - skip));
    let marks = "^".repeat(mark);
    format!(
        "\n{:margin$}--> {position}\n{:margin$} |\n{number:margin$} | {shown}\n{:margin$} | {before}{marks}",
        "", "", ""
    )
}

/// The text with control characters replaced by blanks, so that a file cannot send commands to the
/// terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// More would bury the first one, which may have caused the others.
const REPORTS_MAX: usize = 20;
const PROBLEMS_MAX: usize = 200;
const EXCERPT_CHARS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str, span: Range<usize>) -> String {
        let origins = [Origin { name: "a.toml".to_owned(), text: text.to_owned(), is_file: true }];
        let mut problems = Problems::default();
        problems.add_with_help(&Place { origin: 0, span }, "wrong", "write it so");
        problems.check(&origins).unwrap_err().to_string()
    }

    #[test]
    fn the_line_is_shown_with_marks_below_the_place() {
        assert_eq!(
            report("x = 1\ndelay = \"5\"\n", 14..17),
            "error: wrong\n --> a.toml:2:9\n  |\n2 | delay = \"5\"\n  |         ^^^\n  = write it so"
        );
    }

    #[test]
    fn odd_places_are_bent_to_the_text() {
        assert!(report("", 0..0).contains("a.toml:1:1"));
        assert!(report("ä = 1", 1..2).contains("1 | ä = 1\n  | ^"));
        assert!(report("a = 1\n", 900..901).contains("a.toml:2:1"));
        assert!(report("a = [\n1,\n2]", 4..11).contains("1 | a = [\n  |     ^\n"));
        assert!(report("a\tb\u{1b}[31m = 1", 0..1).contains("1 | a b [31m = 1\n"));
    }

    #[test]
    fn a_very_long_line_is_cut_to_a_window() {
        let report = report(&format!("{}= 1", "x".repeat(100_000)), 99_999..100_000);
        assert!(report.len() < 400, "{report}");
        assert!(report.contains(&format!("1 | {}= 1\n  | {}^", "x".repeat(21), " ".repeat(20))));
    }

    #[test]
    fn only_the_first_twenty_are_shown_and_none_twice() {
        let origins = [Origin { name: "a.toml".to_owned(), text: "x\n".repeat(30), is_file: true }];
        let mut problems = Problems::default();
        for i in (0..30).rev().chain(0..30) {
            problems.add(&Place { origin: 0, span: 2 * i..2 * i + 1 }, "wrong");
        }
        let error = problems.check(&origins).unwrap_err();
        assert_eq!(error.reports().len(), 20);
        assert!(error.reports()[0].contains("a.toml:1:1"));
        assert!(error.to_string().ends_with("... and more"));
    }
}
