//! What `run` prints: the conclusion, the cells, how they differ, what failed and what was checked.

use std::fmt::{self, Write as _};

use trackbed_analysis::groups::Section;
use trackbed_measure::results::{CellResult, Document, RUNTIME, VIRTUAL};
use trackbed_outward::printable_line;

use crate::number::plural;
use crate::words::{numbered, written};
use crate::{cells, details, differences};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The command that replays a run; the numbers of its cell and of itself are appended.
    pub replay: &'a str,
    /// Every metric and every check, not only those that one must see.
    pub verbose: bool,
    /// Characters of a line, if it is a terminal on which spreads can be drawn; in a pipe lines are as
    /// long as they need be.
    pub width: Option<usize>,
}

/// Renders a whole document for the terminal.
pub fn render(document: &Document, options: Options<'_>) -> String {
    written(|out| write_all(document, options, out))
}

/// The tables of cells alone, as [`render`] has them: in Markdown, or in LaTeX for the package booktabs.
pub fn tables(document: &Document, is_latex: bool) -> String {
    let table = |section: &Section<'_>| {
        let title = section.part.as_deref().map(|part| match is_latex {
            true => format!("% {}\n", printable_line(part)),
            false => format!("{}\n\n", printable_line(part)),
        });
        let table = cells::whole(section, false);
        title.unwrap_or_default() + &if is_latex { table.latex() } else { table.markdown() }
    };
    Section::all(document).iter().map(table).collect::<Vec<_>>().join("\n")
}

/// The command that replays a run of each cell that has failed runs, below why it failed; empty
/// where none has.
pub fn failures(document: &Document, replay: &str) -> String {
    written(|out| write_failures(document, replay, out))
}

/// How much was run and where: `11 cells, 30 runs each, virtual substrate, seed 1`
pub(crate) fn extent(document: &Document) -> String {
    let Document { substrate, seed, runs, .. } = document;
    let has_fewer = |cell: &CellResult| cell.ran() + cell.failed + cell.invalid < *runs;
    let most = if document.cells.iter().any(has_fewer) { "at most " } else { "" };
    let cells = plural(document.cells.len() as u64, "cell");
    let runs = plural((*runs).into(), "run");
    format!("{cells}, {most}{runs} each, {substrate} substrate, seed {seed}")
}

fn write_all(document: &Document, options: Options<'_>, out: &mut String) -> fmt::Result {
    let sections = Section::all(document);
    let is_whole = sections.iter().all(|section| section.part.is_none());
    for line in sections.iter().filter(|_| is_whole).flat_map(Section::answer) {
        writeln!(out, "{line}")?;
    }
    if is_whole && !document.answer.is_empty() {
        writeln!(out)?;
    }
    writeln!(out, "{}: {}", document.scenario, extent(document))?;
    if let Some(model) = &document.model {
        writeln!(out, "MODEL, no measurement: {model}")?;
    }
    if let Some(runtime) = document.environment.get(RUNTIME) {
        writeln!(out, "object detection by {runtime}")?;
    }
    writeln!(out)?;
    for (index, section) in sections.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_section(section, options.width, out)?;
    }
    if options.verbose {
        write!(out, "\n{}", details::table(document))?;
    }
    let failures = failures(document, options.replay);
    write_invalid(document, out)?;
    if !failures.is_empty() {
        write!(out, "\n{failures}")?;
    }
    write_checks(document, options.verbose, out)
}

/// Writes the results of one part of the scenario.
fn write_section(section: &Section<'_>, width: Option<usize>, out: &mut String) -> fmt::Result {
    let model = section.document.model.as_ref().map(|_| "model of a device");
    match (section.part.as_deref(), model) {
        (Some(title), Some(model)) => writeln!(out, "== {title} ({model})\n")?,
        (Some(title), None) => writeln!(out, "== {title}\n")?,
        (None, Some(model)) => writeln!(out, "== {model}\n")?,
        (None, None) => {}
    }
    if section.part.is_some() {
        let lines: Vec<&str> = section.answer().collect();
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        if !lines.is_empty() {
            writeln!(out)?;
        }
    }
    out.push_str(&cells::table(section, width));
    section.headline().map_or(Ok(()), |compared| differences::write(section, compared, out))
}

fn write_failures(document: &Document, replay: &str, out: &mut String) -> fmt::Result {
    for (index, cell) in document.cells.iter().enumerate().filter(|(_, cell)| cell.failed > 0) {
        let runs = plural(cell.failed.into(), "run");
        writeln!(out, "failed: {runs} of {}", numbered(document, index as u32))?;
        for failure in cell.failures.iter().take(REASONS_MAX) {
            let times = if failure.count == 1 { "" } else { &format!("{} x ", failure.count) };
            writeln!(out, "  {times}{}", failure.reason)?;
            if document.substrate == VIRTUAL {
                writeln!(out, "    {replay} {index} {}", failure.run)?;
            }
        }
        if cell.failures.len() > REASONS_MAX {
            writeln!(out, "  ... and {} more reasons", cell.failures.len() - REASONS_MAX)?;
        }
    }
    Ok(())
}

/// Runs that are in no figure because the machine was too slow for them.
fn write_invalid(document: &Document, out: &mut String) -> fmt::Result {
    let invalid: Vec<_> =
        document.cells.iter().enumerate().filter(|(_, cell)| cell.invalid > 0).collect();
    if invalid.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nleft out, because this machine did not keep up (--keep-invalid counts them):"
    )?;
    for (index, cell) in invalid {
        writeln!(out, "  {} of {}", cell.left_out(), numbered(document, index as u32))?;
        for failure in cell.failures.iter().filter(|_| cell.failed == 0).take(REASONS_MAX) {
            writeln!(out, "    {} x {}", failure.count, failure.reason)?;
        }
    }
    Ok(())
}

/// Checks that hold are counted; one that fails is always printed in full.
fn write_checks(document: &Document, verbose: bool, out: &mut String) -> fmt::Result {
    let checks = &document.checks;
    if checks.is_empty() {
        return Ok(());
    }
    let passed = checks.iter().filter(|check| check.pass).count();
    let more = if verbose { "" } else { " (-v shows them)" };
    writeln!(out, "\nchecks against arithmetic: {passed} of {} hold{more}", checks.len())?;
    for check in checks.iter().filter(|check| verbose || !check.pass) {
        let mark = if check.pass { "holds" } else { "FAILS" };
        writeln!(out, "  {mark}  {}: {}", check.name, check.detail)?;
    }
    Ok(())
}

/// The maximum number of reasons for failures printed for each cell; all of them are in the
/// document.
const REASONS_MAX: usize = 3;

#[cfg(test)]
mod tests;
