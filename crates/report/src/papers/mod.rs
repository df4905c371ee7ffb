//! What studies say and what came out here, as text, and all on one page of Markdown.

mod axis;
mod chart;
mod picture;
mod statements;

use std::fmt::{self, Write as _};

use trackbed_analysis::paper::{Chart, Held, MANY, Setting, Statement, Verdict};

use crate::guidance;
use crate::table::{Align, Table};
pub(crate) use chart::svg;
pub use statements::{beside, conclusion, render};
pub(crate) use statements::{is_drawn, statements, table};

/// A study, held against runs.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// The name of its scenario.
    pub name: String,
    /// The command that makes its runs again.
    pub command: String,
    /// What was run, in a line.
    pub extent: String,
    /// What came of it.
    pub held: Held,
}

/// A picture of a chapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The name of its file, without the ending.
    pub name: String,
    /// What it shows, for those who do not see it.
    pub alternative: String,
    /// SVG 1.1.
    pub svg: String,
}

impl Chapter {
    /// Its figures by their numbers, and one of all statements and tables.
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
                alternative: format!("{number}, {title}: the table below has its values"),
                svg: svg(chart),
            }
        };
        let all = picture::svg(&self.name, &self.held).map(|svg| Picture {
            name: self.name.clone(),
            alternative: "what the study says and what came out here, as in the tables".to_owned(),
            svg,
        });
        drawn.map(figure).chain(all).collect()
    }
}

/// The page; `command` makes it again. With `folder`, the folder of its pictures as it lies beside it, it
/// shows those.
pub fn page(chapters: &[Chapter], command: &str, folder: Option<&str>) -> String {
    let mut text = String::new();
    write_page(chapters, command, folder, &mut text).expect("a String takes everything");
    text
}

/// How many statements of each study came out each way, in its own setting and in ours.
pub fn tallies(chapters: &[Chapter]) -> Table {
    let verdicts = Verdict::ALL.iter().map(|verdict| (verdict.label(), Align::Right));
    let words = [("study", Align::Left), ("setting", Align::Left), ("statements", Align::Right)];
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
    writeln!(
        out,
        "# What the five studies say, and what comes out here\n\n\
         Written by `{command}`; do not edit. [The studies](studies.md) has their set-ups and every \
         statement by its number.\n\n\
         Each statement is held against runs of the study's scenario, with the 95 % interval of ours. It is \
         *confirmed* if the whole interval lies within the margin: a quarter of a difference (a point at the \
         least), a tenth of a value, unless the column *study* gives another; where the study gives a \
         direction alone, if the whole interval lies on that side of zero. It has the *same direction, other \
         size* if the whole interval lies outside of the margin but on the study's side of zero (or is \
         another value), and is *opposite* if all of it lies on the other side, or there is a difference where \
         the study has none, or none beyond 5 % where it has a direction. *Undecided* means that it reaches \
         across an edge. A direction is judged by the means of all runs; of fewer than {MANY} pairs of runs, whose \
         means scatter, by the mean of the logarithms of their quotients.\n"
    )?;
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
        writeln!(out, "In a setting of ours:\n\n{}", table.markdown())?;
    }
    write_reasons(&held.statements, out)?;
    let pictures = chapter.pictures();
    let shown = |picture: &Picture, out: &mut String| match folder {
        Some(folder) => {
            writeln!(out, "![{}]({folder}/{}.svg)\n", picture.alternative, picture.name)
        }
        None => Ok(()),
    };
    let drawn = held.charts.iter().filter(|chart| is_drawn(chart));
    for (chart, picture) in drawn.zip(&pictures) {
        writeln!(out, "### {}: {} ({})\n", chart.number, chart.title, chart.metric)?;
        shown(picture, out)?;
        writeln!(out, "{}", table(chart).markdown())?;
    }
    if !held.tables.is_empty() {
        writeln!(out, "### Its tables\n")?;
        writeln!(out, "{}", guidance::table(&held.tables, statements::ours(held)).markdown())?;
    }
    Ok(())
}

/// Why statements came out otherwise, each reason once.
fn write_reasons(statements: &[Statement], out: &mut String) -> fmt::Result {
    let mut reasons: Vec<(Vec<&str>, &str, Option<&String>)> = Vec::new();
    for statement in statements {
        let Some(why) = &statement.why else { continue };
        match reasons.iter_mut().find(|(_, known, _)| known == why) {
            Some((ids, ..)) if ids.contains(&statement.id.as_str()) => {}
            Some((ids, ..)) => ids.push(&statement.id),
            None => reasons.push((vec![&statement.id], why, statement.evidence.as_ref())),
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out, "### Why\n")?;
    for (ids, why, evidence) in reasons {
        writeln!(out, "**{}**: {}", ids.join(", "), why.trim())?;
        match evidence {
            Some(command) => writeln!(out, "\n```console,illustration\n$ {command}\n```\n")?,
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
        assert!(page.contains(" | **opposite** |\n"), "{page}");
        assert!(page.contains("\n## vru: A study of pipes | tubes\n"), "{page}");
        assert!(page.contains("**s-2**: The study's machine is slower.\n"), "{page}");
    }
}
