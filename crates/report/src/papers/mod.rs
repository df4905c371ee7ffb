//! What papers claim and what was found here, all on one page of Markdown.

mod picture;

use std::fmt::{self, Write as _};

use trackbed_analysis::advise::guidance::{Figure, GuidanceVerdict, Recommendation};
use trackbed_measure::reference::{Claim, ClaimVerdict, Comparison};

use crate::table::{Align, Table};
use crate::{comparison, guidance};

/// A paper, held against runs.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// The name of its scenario.
    pub name: String,
    /// The command that makes its runs again.
    pub command: String,
    /// What was run, in a line.
    pub extent: String,
    /// What came of it.
    pub findings: Findings,
}

/// What came of a paper.
#[derive(Clone, Debug)]
pub enum Findings {
    /// Figures and claims.
    Claims(Comparison),
    /// A study's figures and recommendations.
    Guidance {
        /// The study's title.
        title: String,
        /// What of the runs is a model's and no measurement.
        model: Option<String>,
        /// Its figures that have a counterpart here.
        figures: Vec<Figure>,
        /// What it recommends.
        guidance: Vec<Recommendation>,
    },
}

impl Findings {
    /// What papers call themselves.
    pub fn title(&self) -> &str {
        match self {
            Findings::Claims(comparison) => &comparison.title,
            Findings::Guidance { title, .. } => title,
        }
    }

    /// How many claims hold, do not, are undecided, and were not measured.
    pub fn tally(&self) -> [usize; 4] {
        let mut tally = [0; 4];
        match self {
            Findings::Claims(comparison) => {
                for claim in &comparison.claims {
                    tally[match claim.verdict {
                        ClaimVerdict::Holds => 0,
                        ClaimVerdict::Contradicted => 1,
                        ClaimVerdict::Undecided => 2,
                        ClaimVerdict::NotMeasured => 3,
                    }] += 1;
                }
            }
            Findings::Guidance { guidance, .. } => {
                for advice in guidance {
                    tally[match advice.verdict {
                        GuidanceVerdict::Derived => 0,
                        GuidanceVerdict::Refuted => 1,
                        GuidanceVerdict::Undecided => 2,
                        GuidanceVerdict::NotMeasured => 3,
                    }] += 1;
                }
            }
        }
        tally
    }
}

/// A picture of a chapter's figures and claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The name of its chapter.
    pub name: String,
    /// SVG 1.1.
    pub svg: String,
}

/// The pictures of all chapters that have something to draw.
pub fn pictures(chapters: &[Chapter]) -> Vec<Picture> {
    let picture = |chapter: &Chapter| {
        let svg = picture::svg(&chapter.name, &chapter.findings)?;
        Some(Picture { name: chapter.name.clone(), svg })
    };
    chapters.iter().filter_map(picture).collect()
}

/// The page; `command` makes it again. With `folder`, the folder of its pictures as it lies beside it, it
/// shows those.
pub fn page(chapters: &[Chapter], command: &str, folder: Option<&str>) -> String {
    let mut text = String::new();
    write_page(chapters, command, folder, &mut text).expect("a String takes everything");
    text
}

/// The table of how many claims of each paper hold, for the terminal.
pub fn tallies(chapters: &[Chapter]) -> Table {
    let titles = ["paper", "claims", "hold", "do not", "undecided", "not measured"];
    let mut table = Table::new(titles.map(|title| match title {
        "paper" => (title, Align::Left),
        _ => (title, Align::Right),
    }));
    for chapter in chapters {
        let tally = chapter.findings.tally();
        let numbers = tally.map(|count| count.to_string());
        let claims = tally.iter().sum::<usize>().to_string();
        table.row([chapter.name.clone(), claims].into_iter().chain(numbers));
    }
    table
}

fn write_page(
    chapters: &[Chapter],
    command: &str,
    folder: Option<&str>,
    out: &mut String,
) -> fmt::Result {
    let drawn = pictures(chapters);
    writeln!(
        out,
        "# What papers claim, and what comes out here\n\n\
         Written by `{command}`; do not edit. Each claim is held against runs of the paper's scenario, with \
         the 95 % interval of ours: it *holds* if the whole interval lies where the paper says, *does not* if \
         the whole of it lies elsewhere, and is *undecided* if it reaches across. Where our machines and \
         links are not the paper's, absolute figures differ; claims compare.\n"
    )?;
    writeln!(out, "{}", tallies(chapters).markdown())?;
    for chapter in chapters {
        let Chapter { name, command, extent, findings } = chapter;
        writeln!(out, "## {name}: {}\n", findings.title())?;
        writeln!(out, "`{command}`: {extent}\n")?;
        if let Some(folder) = folder.filter(|_| drawn.iter().any(|one| one.name == *name)) {
            let alternative =
                "the paper's figures and claims beside ours; the tables below have all";
            writeln!(out, "![{name}: {alternative}]({folder}/{name}.svg)\n")?;
        }
        match findings {
            Findings::Claims(comparison) => write_claims(comparison, out)?,
            Findings::Guidance { model, figures, guidance, .. } => {
                write_guidance(model.as_deref(), figures, guidance, out)?;
            }
        }
    }
    Ok(())
}

fn write_claims(comparison: &Comparison, out: &mut String) -> fmt::Result {
    if !comparison.figures.is_empty() {
        writeln!(out, "{}", comparison::figures(comparison).markdown())?;
    }
    let titles = ["claim", "in the paper", "here", "verdict"].map(|title| (title, Align::Left));
    let mut table = Table::new(titles);
    for claim in &comparison.claims {
        let Claim { text, claimed, .. } = claim;
        let here = match (claim.ours_percent, claim.ci95_percent) {
            (Some(ours), Some([low, high])) => format!("{ours:+.1} % [{low:+.1}, {high:+.1}]"),
            _ => "-".to_owned(),
        };
        let verdict = match claim.verdict {
            ClaimVerdict::Holds => "holds",
            ClaimVerdict::Contradicted => "**does not hold**",
            ClaimVerdict::Undecided => "undecided",
            ClaimVerdict::NotMeasured => "not measured",
        };
        table.row([text.as_str(), claimed, &here, verdict]);
    }
    writeln!(out, "{}", table.markdown())
}

fn write_guidance(
    model: Option<&str>,
    figures: &[Figure],
    advice: &[Recommendation],
    out: &mut String,
) -> fmt::Result {
    if let Some(model) = model {
        writeln!(out, "**A model, no measurement**: {model}\n")?;
    }
    let ours = if model.is_some() { "model" } else { "here" };
    if !figures.is_empty() {
        writeln!(out, "{}", guidance::table(figures, ours).markdown())?;
    }
    let titles = ["recommendation", "comparisons for it", "against", "undecided", "verdict"];
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
    for Recommendation { text, better, undecided, against, verdict, .. } in advice {
        let verdict = match verdict {
            GuidanceVerdict::Derived => "derived",
            GuidanceVerdict::Refuted => "**refuted**",
            GuidanceVerdict::Undecided => "undecided",
            GuidanceVerdict::NotMeasured => "not measured",
        };
        let counts = [better.to_string(), against.len().to_string(), undecided.to_string()];
        let row = [(*text).to_owned()].into_iter().chain(counts).chain([verdict.to_owned()]);
        table.row(row);
    }
    writeln!(out, "{}", table.markdown())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn claims_are_counted_and_listed() {
        let claim = |text: &str, verdict| Claim {
            text: text.to_owned(),
            claimed: "-15 %".to_owned(),
            margin_percent: None,
            ours_percent: Some(-12.0),
            ci95_percent: Some([-20.0, -4.0]),
            verdict,
        };
        let comparison = Comparison {
            title: "A study of pipes | tubes".to_owned(),
            figures: Vec::new(),
            claims: vec![
                claim("QUIC is faster", ClaimVerdict::Holds),
                claim("by a|lot", ClaimVerdict::Contradicted),
                claim("always", ClaimVerdict::Holds),
            ],
            definitions: BTreeMap::new(),
        };
        let chapter = Chapter {
            name: "vru".to_owned(),
            command: "trackbed paper vru".to_owned(),
            extent: "11 cells, 30 runs each".to_owned(),
            findings: Findings::Claims(comparison),
        };
        let page = page(&[chapter], "trackbed paper all --page docs/papers.md", Some("papers"));
        assert!(page.contains("](papers/vru.svg)\n"), "{page}");
        assert!(page.contains("| vru | 3 | 2 | 1 | 0 | 0 |\n"), "{page}");
        assert!(
            page.contains("| QUIC is faster | -15 % | -12.0 % [-20.0, -4.0] | holds |\n"),
            "{page}"
        );
        assert!(page.contains("| by a\\|lot | "), "bars in text are no columns: {page}");
        assert!(page.contains("\n## vru: A study of pipes | tubes\n"), "{page}");
    }
}
