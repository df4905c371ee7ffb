//! Studies' statements beside our results, as text and as a Markdown page.

mod chart;
mod picture;
mod statements;
pub mod unknowns;

use std::fmt::{self, Write as _};

use trackbed_analysis::paper::{Chart, Held, MANY, Setting, Statement, Verdict};
use trackbed_measure::lists::{distinct, grouped};

use crate::guidance;
use crate::table::{Align, Table};
use crate::words::written;
pub(crate) use chart::plot;
pub use statements::{beside, conclusion, render};
pub(crate) use statements::{is_drawn, statements, table};

/// A study compared with runs.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// The name of its scenario.
    pub name: String,
    /// The command that repeats its runs.
    pub command: String,
    /// What was run, in one line.
    pub extent: String,
    /// The comparison.
    pub held: Held,
}

/// A picture of a chapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its file name without the extension.
    pub name: String,
    /// Alternative text.
    pub alternative: String,
    /// SVG 1.1.
    pub svg: String,
}

impl Chapter {
    /// Its figures by number, and one of its statements if these are few.
    pub fn pictures(&self) -> Vec<Picture> {
        let drawn = self.held.charts.iter().filter(|chart| is_drawn(chart));
        let figure = |chart: &Chart| {
            let Chart { number, title, .. } = chart;
            let file: String = number
                .to_lowercase()
                .split(|c: char| !c.is_alphanumeric())
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("-");
            Picture {
                name: format!("{}-{file}", self.name),
                alternative: format!("{number}, {title}; values in the table below"),
                svg: plot(chart).svg(150.0),
            }
        };
        let all = picture::plot(&self.held.statements).map(|plot| Picture {
            name: self.name.clone(),
            alternative: "the study's statements and our results, as in the table".to_owned(),
            svg: plot.svg(220.0),
        });
        drawn.map(figure).chain(all).collect()
    }
}

/// The page; `command` regenerates it. With `folder`, the path of the pictures relative to the
/// page, it shows them.
pub fn page(chapters: &[Chapter], command: &str, folder: Option<&str>) -> String {
    written(|out| write_page(chapters, command, folder, out))
}

/// The number of statements per verdict of each study, in its own setting and in ours.
pub fn tallies(chapters: &[Chapter]) -> Table {
    let verdicts = Verdict::ALL.iter().map(|verdict| (verdict.to_string(), Align::Right));
    let words = [("study", Align::Left), ("setting", Align::Left), ("statements", Align::Right)];
    let words = words.map(|(title, align)| (title.to_owned(), align));
    let mut table = Table::new(words.into_iter().chain(verdicts));
    let settings = [(Setting::Study, "its own"), (Setting::Ours, "ours")];
    for (chapter, (setting, whose)) in chapters.iter().flat_map(|c| settings.map(|s| (c, s))) {
        let counts: Vec<usize> = chapter.held.tally(setting).iter().map(|(_, n)| *n).collect();
        let all: usize = counts.iter().sum();
        if all > 0 {
            let words = [chapter.name.clone(), whose.to_owned(), all.to_string()];
            table.row(words.into_iter().chain(counts.iter().map(ToString::to_string)));
        }
    }
    table
}

fn write_page(
    chapters: &[Chapter],
    command: &str,
    folder: Option<&str>,
    out: &mut String,
) -> fmt::Result {
    write!(out, include_str!("page.txt"), command = command, MANY = MANY)?;
    writeln!(out, "{}", tallies(chapters).markdown())?;
    chapters.iter().try_for_each(|chapter| write_chapter(chapter, folder, out))
}

fn write_chapter(chapter: &Chapter, folder: Option<&str>, out: &mut String) -> fmt::Result {
    let Chapter { name, command, extent, held } = chapter;
    writeln!(out, "## {name}: {}\n\n`{command}`: {extent}\n\n{}\n", held.title, conclusion(held))?;
    if let Some(model) = &held.model {
        writeln!(out, "**A model, no measurement**: {model}\n")?;
    }
    if let Some(table) = statements(held, Setting::Study) {
        writeln!(out, "{}", table.markdown())?;
    }
    if let Some(table) = statements(held, Setting::Ours) {
        writeln!(out, "In our own setting:\n\n{}", table.markdown())?;
    }
    write_reasons(&held.statements, out)?;
    let pictures = chapter.pictures();
    let shown = |picture: &Picture, out: &mut String| match folder {
        Some(folder) => {
            writeln!(out, "![{}]({folder}/{}.svg)\n", picture.alternative, picture.name)
        }
        None => Ok(()),
    };
    let drawn: Vec<&Chart> = held.charts.iter().filter(|chart| is_drawn(chart)).collect();
    if let Some(of_statements) = pictures.get(drawn.len()) {
        shown(of_statements, out)?;
    }
    for (chart, picture) in drawn.into_iter().zip(&pictures) {
        writeln!(out, "### {}: {} ({})\n", chart.number, chart.title, chart.metric)?;
        shown(picture, out)?;
        writeln!(out, "{}", table(chart).markdown())?;
    }
    if !held.tables.is_empty() {
        writeln!(out, "### Tables of the study\n")?;
        writeln!(out, "{}", guidance::table(&held.tables, statements::ours(held)).markdown())?;
    }
    Ok(())
}

/// The reasons why statements came out differently, and the choices that they rest on, each once.
fn write_reasons(statements: &[Statement], out: &mut String) -> fmt::Result {
    let reasons = grouped(statements.iter().filter_map(|one| Some((one.why.as_deref()?, one))));
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out, "### Reasons, and what we chose\n")?;
    for (why, statements) in reasons {
        let ids = distinct(statements.iter().map(|statement| statement.id.as_str()));
        writeln!(out, "**{}**: {}", ids.join(", "), why.trim())?;
        match &statements[0].evidence {
            Some(command) => writeln!(out, "\n```console,illustration=hours\n$ {command}\n```\n")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_counted_and_listed() {
        let chapter = Chapter {
            name: "vru".to_owned(),
            command: "trackbed paper vru".to_owned(),
            extent: "11 cells, 30 runs each".to_owned(),
            held: statements::tests::held(),
        };
        let page = page(&[chapter], "trackbed paper all --page docs/papers.md", Some("papers"));
        assert!(page.contains("](papers/vru-fig-9.svg)\n"), "{page}");
        assert!(page.contains("| vru | its own | 3 | 1 | 0 | 1 | 1 | 0 | 0 |\n"), "{page}");
        assert!(
            page.contains("| s-2 | Fig. 9 | by a\\|lot | "),
            "bars in text are no columns: {page}"
        );
        assert!(page.contains(" | **contradicted** | - |\n"), "{page}");
        assert!(page.contains("\n## vru: A study of pipes | tubes\n"), "{page}");
        assert!(page.contains("**s-2, s-3**: The study's machine is slower.\n"), "{page}");
    }
}
