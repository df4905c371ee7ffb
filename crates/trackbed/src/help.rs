//! Help text that wraps to the width of the terminal.

use clap::Command;

/// Joins the lines of each paragraph after the options, for all subcommands.
pub(crate) fn flowing(command: Command) -> Command {
    command.mut_subcommands(|command| {
        let text = command.get_after_long_help().map(|text| flow(&text.to_string()));
        let command = if let Some(text) = text { command.after_long_help(text) } else { command };
        flowing(command)
    })
}

/// Puts each paragraph on one line, so that clap can wrap it. Indented lines, such as examples and tables,
/// are unchanged.
fn flow(text: &str) -> String {
    let mut flowing = String::with_capacity(text.len());
    let mut before = "";
    for line in text.lines() {
        let goes_on = |line: &str| !line.is_empty() && !line.starts_with(' ');
        if !flowing.is_empty() {
            flowing.push(if goes_on(before) && goes_on(line) { ' ' } else { '\n' });
        }
        flowing.push_str(line);
        before = line;
    }
    flowing
}

#[cfg(test)]
mod tests {
    use super::flow;

    #[test]
    fn paragraphs_flow_and_examples_stay() {
        let text =
            "Examples:\n  one\n  two\n\nA sentence that\ngoes on.\n\nAnother:\n  a table\nand on.";
        let expected =
            "Examples:\n  one\n  two\n\nA sentence that goes on.\n\nAnother:\n  a table\nand on.";
        assert_eq!(flow(text), expected);
    }
}
