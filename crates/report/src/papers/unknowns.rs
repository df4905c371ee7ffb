//! What a study gives and leaves out, and on what its statements depend, as text.

use std::fmt::{self, Write as _};

use trackbed_analysis::paper::{StatementOver, Unknowns, UnknownsDocument};

use crate::number::plural;
use crate::table::Table;
use crate::words::{lines, written};

/// Renders the document of settings that were tried, for a terminal of `width` characters.
pub fn render(unknowns: &Unknowns, document: &UnknownsDocument, width: usize) -> String {
    written(|out| write_all(unknowns, document, width, out))
}

fn write_all(
    unknowns: &Unknowns,
    document: &UnknownsDocument,
    width: usize,
    out: &mut String,
) -> fmt::Result {
    lines(&document.answer, width).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let mut given = Table::titled("the study gives|where");
    unknowns.given().iter().for_each(|one| given.row([one.says.clone(), one.source.clone()]));
    writeln!(out, "\n{given}")?;
    for unknown in unknowns.all() {
        let (first, others) =
            unknown.values.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let decides = match document.decided_by(&unknown.name) {
            0 => String::new(),
            count => format!("; decides {}", plural(count as u64, "statement")),
        };
        let fitting = &document.fitting[&unknown.name];
        let tried = unknown.values.iter().filter(|value| document.has_tried(&unknown.name, value));
        let fits = match fitting.is_empty() || fitting.len() == tried.count() {
            true => String::new(),
            false => format!("; only {} fits what the study gives", fitting.join(", ")),
        };
        let text = format!(
            "{}: {first} on the page; also plausible: {}{fits}{decides}. {}",
            unknown.name,
            others.join(", "),
            unknown.why
        );
        for (number, line) in lines(&text, width.saturating_sub(2)).iter().enumerate() {
            writeln!(out, "{}{line}", if number == 0 { "- " } else { "  " })?;
        }
    }
    if document.statements.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for StatementOver { id, over } in &document.statements {
        let anchor = if unknowns.anchors().contains(&id.as_str()) {
            ", by which settings are chosen"
        } else {
            ""
        };
        let folded = lines(&format!("{id}{anchor}: {over}"), width.saturating_sub(2));
        for (number, line) in folded.iter().enumerate() {
            writeln!(out, "{}{line}", if number == 0 { "" } else { "  " })?;
        }
    }
    Ok(())
}
