//! The page of the command line: the help texts of the program, as it prints them.

use std::path::Path;
use std::process::Command;

use super::pages;
use crate::cargo::printed;
use crate::files::{read, write};

const HEAD: &str = "\
# The command line

The help text of every command. `cargo xtask docs bless` regenerates this page.
";

/// An error if the page differs from the output of `trackbed`; with `blesses` it is rewritten
/// instead.
pub fn check(trackbed: &Path, blesses: bool) -> Result<(), String> {
    let path = Path::new(pages::SOURCE).join("command-line.md");
    let page = page(trackbed)?;
    if blesses {
        return write(&path, &page);
    }
    if read(&path)? == page {
        return Ok(());
    }
    Err(format!("{} is out of date; run: cargo xtask docs bless", path.display()))
}

fn page(trackbed: &Path) -> Result<String, String> {
    let mut page = HEAD.to_owned();
    let mut waiting = vec![Vec::new()];
    while let Some(words) = waiting.pop() {
        let name: Vec<&str> =
            std::iter::once("trackbed").chain(words.iter().map(String::as_str)).collect();
        let name = name.join(" ");
        let help = help(trackbed, &words).map_err(|why| format!("{name} --help: {why}"))?;
        page.push_str(&format!("\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end()));
        for command in subcommands(&help).into_iter().rev() {
            waiting.push(words.iter().cloned().chain([command]).collect());
        }
    }
    Ok(page)
}

fn help(trackbed: &Path, words: &[String]) -> Result<String, String> {
    let text = printed(Command::new(trackbed).args(words).arg("--help"))?;
    Ok(text.lines().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// The names below `Commands:`, `help` left out.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split_once(' '))
        .map(|(name, _)| name.to_owned())
        .filter(|name| !name.is_empty() && name != "help")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_commands_are_read_and_their_second_lines_are_not() {
        let help = "A tool.\n\nCommands:\n  run   Runs\n        on and on\n  help  Helps\n\nOptions:\n  -q  x\n";
        assert_eq!(subcommands(help), ["run"]);
        assert!(subcommands("Usage: x\n").is_empty());
    }
}
