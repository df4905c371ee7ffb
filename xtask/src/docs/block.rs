//! Blocks of a page that are executed, or written to a file for those that are.
//!
//! ````text
//! ```console
//! $ trackbed run vru --runs 6
//! fastest: quic 1.3 early, ...
//! ...
//! $ trackbed compare before after   # exit 1
//! ```
//! ````
//!
//! Marks follow the language: `needs=nginx`, `real-time`, `illustration=REASON`, and of any other language
//! `file=NAME`, or `from=PATH` where lines of the repository are quoted.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The blocks of a page for the executor, in the page's order.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    Session(Session),
    File(File),
    Quote(Quote),
}

/// A `console` block.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// The line of its fence, from 1.
    pub line: usize,
    /// The programs and rights that it needs.
    pub needs: Vec<String>,
    /// Figures come from a clock: shown words are compared, numbers are not.
    pub real_time: bool,
    /// Cannot run here at all: two machines, a cluster, a train.
    pub illustration: bool,
    pub commands: Vec<Command>,
}

/// A line after a `$`, and the output shown below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Its line in the page, from 1.
    pub line: usize,
    /// For a shell.
    pub text: String,
    /// The expected exit status.
    pub status: i32,
    pub shown: Vec<String>,
}

/// A block that becomes a file of the page's folder.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub text: String,
}

/// A block that shows lines of a file of the repository.
#[derive(Debug, PartialEq, Eq)]
pub struct Quote {
    /// The line of its fence, from 1.
    pub line: usize,
    /// From the root of the repository.
    pub path: String,
    pub shown: Vec<String>,
}

/// All blocks of a page, or the line of the first invalid one, and why.
pub fn blocks(page: &str) -> Result<Vec<Block>, (usize, String)> {
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) = event else { continue };
        let block = block(page, page[..range.start].matches('\n').count(), &page[range], &info);
        found.extend(block.map_err(|(line, why)| (line + 1, why))?);
    }
    Ok(found)
}

/// The block that begins at line `fence`, if it is one of ours. Lines count from 0.
fn block(
    page: &str,
    fence: usize,
    text: &str,
    info: &str,
) -> Result<Option<Block>, (usize, String)> {
    let mut words = info.split(',').map(str::trim);
    let language = words.next().unwrap_or_default();
    let marks: Vec<&str> = words.collect();
    let opening = page.lines().nth(fence).unwrap_or_default();
    let indent = opening.len() - opening.trim_start().len();
    let inner = text.lines().count().saturating_sub(2);
    let lines: Vec<&str> =
        text.lines().skip(1).take(inner).map(|line| without_indent(line, indent)).collect();
    if language == "console" {
        let mut session = Session { line: fence + 1, ..Session::default() };
        for mark in marks {
            match mark.split_once('=') {
                Some(("needs", need)) => session.needs.push(need.to_owned()),
                None if mark == "real-time" => session.real_time = true,
                Some(("illustration", why)) if !why.is_empty() => session.illustration = true,
                _ => return Err((fence, unknown(mark))),
            }
        }
        session.commands = commands(&lines, fence + 1)?;
        return Ok(Some(Block::Session(session)));
    }
    match marks.as_slice() {
        [] => Ok(None),
        [mark] if let Some(name) = mark.strip_prefix("file=") => {
            if name.is_empty() || name.contains(['/', '\\']) {
                return Err((fence, format!("file=\"{name}\" is not a file name")));
            }
            let text = lines.iter().map(|line| format!("{line}\n")).collect();
            Ok(Some(Block::File(File { name: name.to_owned(), text })))
        }
        [mark] if let Some(path) = mark.strip_prefix("from=") => {
            let shown = lines.iter().map(|line| (*line).to_owned()).collect();
            Ok(Some(Block::Quote(Quote { line: fence + 1, path: path.to_owned(), shown })))
        }
        _ => Err((fence, unknown(&marks.join(",")))),
    }
}

fn unknown(mark: &str) -> String {
    format!(
        "unknown mark \"{mark}\": console blocks take needs=PROGRAM, real-time and \
         illustration=REASON, other blocks file=NAME or from=PATH"
    )
}

/// The commands among lines that begin at line `first` (from 0) of the page.
fn commands(lines: &[&str], first: usize) -> Result<Vec<Command>, (usize, String)> {
    let mut found: Vec<Command> = Vec::new();
    let mut number = 0;
    while number < lines.len() {
        let line = lines[number];
        if let Some(start) = line.strip_prefix("$ ") {
            let at = number;
            let mut text = start.to_owned();
            while text.ends_with('\\') {
                number += 1;
                let next = lines.get(number).and_then(|line| line.strip_prefix("> "));
                let Some(next) = next else {
                    let why = "a command that ends in \\ must continue on a line that begins with \"> \
                         \"";
                    return Err((first + at, why.to_owned()));
                };
                text.pop();
                text.push_str(next);
            }
            let status = status(&text).map_err(|why| (first + at, why))?;
            found.push(Command { line: first + at + 1, text, status, shown: Vec::new() });
        } else {
            let Some(command) = found.last_mut() else {
                let why = "a console block must begin with a command: \"$ \" and the command line";
                return Err((first + number, why.to_owned()));
            };
            command.shown.push(line.trim_end().to_owned());
        }
        number += 1;
    }
    if found.is_empty() {
        return Err((first - 1, "the console block has no command".to_owned()));
    }
    Ok(found)
}

/// The status in `# exit N` at its end; 0 without it.
fn status(command: &str) -> Result<i32, String> {
    let Some((_, comment)) = command.rsplit_once("# exit") else { return Ok(0) };
    let number = comment.trim();
    number.parse().map_err(|_| format!("\"# exit {number}\" is not an exit status"))
}

fn without_indent(line: &str, indent: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    &line[spaces.min(indent)..]
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
