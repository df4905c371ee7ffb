//! A user's command: words, with placeholders for values that are only known in a run.

use std::ffi::OsString;

use crate::program::{Abilities, About, Launch, Program, Setup, Transport};

/// The words of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<String>);

/// Why a text is not a valid command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(String);

impl Words {
    /// Splits `text` like a shell: at blanks outside quotes; a backslash makes the next character
    /// literal, except inside single quotes. Other shell syntax is not supported. Names in braces
    /// must be among `placeholders`, unless preceded by `%` or `$`.
    ///
    /// # Errors
    /// If there is no word, a quote is left open, or a name in braces is unknown.
    pub fn parse(text: &str, placeholders: &[&str]) -> Result<Words, CommandError> {
        let words = split(text)?;
        let program = words.first().filter(|word| !word.is_empty());
        let program = program.ok_or_else(|| {
            CommandError("the command is empty; write a program and its arguments".to_owned())
        })?;
        if let Some(name) = names(program).next() {
            let why = format!("the program itself cannot be {{{name}}}; write its name or path");
            return Err(CommandError(why));
        }
        let all = words.iter().flat_map(|word| names(word));
        let unknown = all.filter(|name| !placeholders.contains(name)).map(str::to_owned).next();
        match unknown {
            None => Ok(Words(words)),
            Some(name) => {
                let known: Vec<String> =
                    placeholders.iter().map(|known| format!("{{{known}}}")).collect();
                let known = known.join(" ");
                Err(CommandError(format!("unknown placeholder {{{name}}}; available: {known}")))
            }
        }
    }

    /// The program.
    pub fn program(&self) -> &str {
        &self.0[0]
    }

    /// The arguments, with each `{name}` replaced by its value.
    pub fn arguments(&self, values: &[(&str, String)]) -> Vec<OsString> {
        self.0[1..].iter().map(|word| filled(word, values)).collect()
    }
}

/// The word with each `{name}` replaced by its value.
pub(crate) fn filled(word: &str, values: &[(&str, String)]) -> OsString {
    let fill =
        |word: String, (name, value): &(&str, String)| word.replace(&format!("{{{name}}}"), value);
    values.iter().fold(word.to_owned(), fill).into()
}

fn split(text: &str) -> Result<Vec<String>, CommandError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = letters.next().ok_or_else(|| {
                    CommandError("nothing follows the last backslash; remove it".to_owned())
                })?;
                word.get_or_insert_default().push(next);
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(CommandError(format!("a {open} is not closed; add the closing one")));
    }
    words.extend(word);
    Ok(words)
}

fn names(word: &str) -> impl Iterator<Item = &str> {
    word.match_indices('{').filter_map(|(at, _)| {
        let (name, _) = word[at + 1..].split_once('}')?;
        let foreign = word[..at].ends_with(['%', '$']);
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
        (plain && !foreign).then_some(name)
    })
}

/// A server started by a user's command. Its abilities are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCommand {
    words: Words,
    /// The transport of the port that shows that it is ready.
    transport: Option<Transport>,
}

impl CustomCommand {
    /// Placeholders in the command of a server.
    pub const PLACEHOLDERS: &'static [&'static str] =
        &["address", "port", "name", "certificate", "key", "directory", "site"];

    /// A server that is ready when it listens on a port of `transport`, or of any transport if that
    /// is unknown.
    ///
    /// # Errors
    /// If `text` is not a command line.
    pub fn new(text: &str, transport: Option<Transport>) -> Result<CustomCommand, CommandError> {
        Ok(CustomCommand { words: Words::parse(text, CustomCommand::PLACEHOLDERS)?, transport })
    }
}

impl Program for CustomCommand {
    fn about(&self) -> &About {
        &About::CUSTOM
    }

    fn name(&self) -> &str {
        self.words.program()
    }

    fn executables(&self) -> Vec<&str> {
        vec![self.words.program()]
    }

    fn abilities(&self) -> Abilities {
        Abilities::UNKNOWN
    }

    fn prepare(&self, setup: &Setup<'_>) -> Launch {
        Launch::new(self.words.arguments(&setup.values()), self.transport, setup.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Vec<String>, CommandError> {
        Words::parse(text, &["port", "address"]).map(|words| words.0)
    }

    #[test]
    fn a_command_is_split_as_a_shell_splits_it() {
        for (text, expected) in [
            ("curl -s  https://x/", vec!["curl", "-s", "https://x/"]),
            ("sh -c 'a  b \"c\"'", vec!["sh", "-c", "a  b \"c\""]),
            ("say \"it's \\\"so\\\"\" a\\ b ''", vec!["say", "it's \"so\"", "a b", ""]),
            (
                "curl -w '%{http_code} ${x}' {port}",
                vec!["curl", "-w", "%{http_code} ${x}", "{port}"],
            ),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        for text in ["", "  ", "say 'hello", "say \"", "say \\", "''", "{port} x", "say {prot}"] {
            assert!(words(text).is_err(), "{text}");
        }
        assert!(words("say {prot}").unwrap_err().to_string().contains("{port} {address}"));
    }

    #[test]
    fn placeholders_become_values_wherever_they_stand() {
        let words = Words::parse("say {address}:{port} {port}", &["port", "address"]).unwrap();
        let values = [("port", "443".to_owned()), ("address", "10.0.0.1".to_owned())];
        assert_eq!(words.program(), "say");
        assert_eq!(words.arguments(&values), ["10.0.0.1:443", "443"]);
    }
}
