//! A study compared with runs, as a document and as checks.

use schemars::JsonSchema;
use serde::Serialize;
use trackbed_measure::results::{Check, Document};

use super::outcome::{Setting, Verdict};
use super::statement::{Held, Statement};
use crate::number::short;

/// The output of `trackbed paper --json`: the results of the runs, with the comparison with the
/// paper among the checks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PaperDocument {
    #[serde(flatten)]
    document: Document,
    /// The paper's statements, and the verdicts of the runs.
    paper: Held,
}

impl PaperDocument {
    /// For the runs behind `document`.
    pub fn new(mut document: Document, paper: Held) -> PaperDocument {
        document.checks.extend(paper.checks());
        PaperDocument { document, paper }
    }
}

impl Held {
    /// The same without verdicts, for this reason.
    #[must_use]
    pub fn unjudged(mut self, reason: &str) -> Held {
        for statement in self.statements.iter_mut().filter(|one| one.ours.is_some()) {
            statement.verdict = Verdict::NotTestable;
            statement.runs_needed = None;
            statement.why = Some(reason.to_owned());
            statement.evidence = None;
        }
        self
    }

    /// The tested statements as checks: one that does not hold does not pass.
    pub fn checks(&self) -> Vec<Check> {
        let tried = |statement: &&Statement| statement.verdict != Verdict::NotTestable;
        let check = |statement: &Statement| {
            let Statement { id, text, verdict, says, .. } = statement;
            let here = statement.here().unwrap_or_else(|| "not run".to_owned());
            Check {
                name: format!("{id}: {text}"),
                pass: *verdict == Verdict::Holds,
                detail: format!("{verdict}: here {here}, in the study {says}"),
            }
        };
        self.statements.iter().filter(tried).map(check).collect()
    }

    /// The number of statements per verdict in a setting.
    pub fn tally(&self, setting: Setting) -> Vec<(Verdict, usize)> {
        let count = |verdict: &Verdict| {
            let is = |s: &&Statement| s.setting == setting && s.verdict == *verdict;
            (*verdict, self.statements.iter().filter(is).count())
        };
        Verdict::ALL.iter().map(count).collect()
    }
}

impl Statement {
    /// Our value with its interval: `-18.2 % [-33.1, -7.4]`.
    pub fn here(&self) -> Option<String> {
        let ours = self.ours?;
        let number = |value: f64| match self.is_difference() {
            true => format!("{value:+.1}"),
            false => short(value),
        };
        let unit = if self.is_difference() { " %" } else { "" };
        Some(match self.ci95 {
            Some([low, high]) if low != high => {
                format!("{}{unit} [{}, {}]", number(ours), number(low), number(high))
            }
            _ => format!("{}{unit}", number(ours)),
        })
    }
}
