//! Settings from the command line, which override those of the file.

use std::fmt;
use std::str::FromStr;

use crate::field::kebab;
use crate::problem::{Origin, Place, Problems};
use crate::tree::{Content, Entry, Node, Table, parse_value};

/// One `--set key=value`, which replaces the scenario's value, or one `--unset key`, which removes it.
///
/// The key is the dotted path in the file, for example `link.loss`. The value is TOML if it parses
/// as TOML; otherwise the quotes may be omitted (`link.delay=5ms`), and commas separate the values
/// of a sweep (`protocol=quic,http3`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The dotted path.
    pub key: String,
    /// The value as it was written; empty where the key is removed.
    pub value: String,
}

/// Why an argument is not a valid [`Override`], and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write key=value, for example link.loss=0.3%")]
pub struct OverrideError(String);

/// `key=value`, or `!key` to remove a key
impl FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Override, OverrideError> {
        let refuse = |why: &str| OverrideError(format!("\"{text}\" {why}"));
        if let Some(key) = text.strip_prefix('!') {
            return Override::unset(key);
        }
        let (key, value) = text.split_once('=').ok_or_else(|| refuse("is not a setting"))?;
        let (key, value) = (key.trim(), value.trim());
        if !is_path(key) {
            return Err(refuse("has an empty key"));
        }
        if value.is_empty() {
            return Err(refuse("has an empty value"));
        }
        Ok(Override { key: key.to_owned(), value: value.to_owned() })
    }
}

/// As [`Override::from_str`] reads it.
impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_unset() {
            true => write!(f, "!{}", self.key),
            false => write!(f, "{}={}", self.key, self.value),
        }
    }
}

fn is_path(key: &str) -> bool {
    key.split('.').all(|part| !part.trim().is_empty())
}

impl Override {
    /// Removes a key of the scenario, or a whole table of it.
    ///
    /// # Errors
    /// If that is no dotted path of a key.
    pub fn unset(key: &str) -> Result<Override, OverrideError> {
        let key = key.trim();
        match is_path(key) && !key.contains('=') {
            true => Ok(Override { key: key.to_owned(), value: String::new() }),
            false => Err(OverrideError(format!("\"{key}\" has an empty key"))),
        }
    }

    /// Whether it removes a key.
    pub fn is_unset(&self) -> bool {
        self.value.is_empty()
    }

    pub(crate) fn origin(&self) -> Origin {
        match self.is_unset() {
            true => Origin { name: "--unset".to_owned(), text: self.key.clone(), is_file: false },
            false => Origin { name: "--set".to_owned(), text: self.to_string(), is_file: false },
        }
    }

    /// Where the key stands; `origin` is the place of this text in the list of texts.
    pub(crate) fn key_place(&self, origin: usize) -> Place {
        Place { origin, span: 0..self.key.len() }
    }

    pub(crate) fn removes(&self, other: &Override) -> bool {
        let rest = other.key.strip_prefix(&self.key);
        self.is_unset() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    pub(crate) fn remove_from(&self, table: &mut Table) -> bool {
        let parts: Vec<&str> = self.key.split('.').map(str::trim).collect();
        take_out(table, &parts)
    }

    /// The position of the value; `origin` is the index of this text in the list of texts.
    pub(crate) fn value_place(&self, origin: usize) -> Place {
        let start = self.key.len() + 1;
        Place { origin, span: start..start + self.value.len() }
    }

    /// Applies this setting to `table`; `origin` is the index of its text in the list of texts.
    pub(crate) fn apply(&self, origin: usize, table: &mut Table, problems: &mut Problems) {
        let place = self.value_place(origin);
        let key_place = self.key_place(origin);
        match value_node(&self.value, &place) {
            Ok(node) => {
                let parts: Vec<&str> = self.key.split('.').map(str::trim).collect();
                put(table, &parts, &key_place, node);
            }
            Err(why) => {
                let help = "inside lists and tables, quote values that have a unit";
                problems.add_with_help(&place, why, help);
            }
        }
    }
}

fn value_node(text: &str, place: &Place) -> Result<Node, String> {
    let scalar = |text: &str| Content::Scalar(text.to_owned());
    match parse_value(text, place) {
        Ok(node) => Ok(node),
        // Text that starts like this is meant as TOML.
        Err(why) if text.starts_with(['[', '{', '"', '\'']) => Err(why),
        Err(_) if text.contains(',') => {
            let mut items = Vec::new();
            let mut start = place.span.start;
            for piece in text.split(',') {
                let span = start..start + piece.len();
                start = span.end + 1;
                items.push(value_node(piece.trim(), &Place { origin: place.origin, span })?);
            }
            Ok(Node { content: Content::List(items), place: place.clone() })
        }
        Err(_) => Ok(Node { content: scalar(text), place: place.clone() }),
    }
}

/// Puts `node` at the end of the path, replacing what is there.
fn put(table: &mut Table, path: &[&str], key_place: &Place, node: Node) {
    let [key, rest @ ..] = path else { return };
    let empty = || Node { content: Content::Table(Table::default()), place: key_place.clone() };
    let known = table.entries.iter().position(|entry| entry.key == *key);
    let index = known.unwrap_or(table.entries.len());
    if known.is_none() {
        table.entries.push(Entry {
            key: (*key).to_owned(),
            key_place: key_place.clone(),
            node: empty(),
        });
    }
    let entry = &mut table.entries[index];
    if rest.is_empty() {
        entry.node = node;
        entry.key_place = key_place.clone();
        return;
    }
    if !matches!(entry.node.content, Content::Table(_)) {
        entry.node = empty();
    }
    if let Content::Table(inner) = &mut entry.node.content {
        put(inner, rest, key_place, node);
    }
}

/// Removes the entry at the end of the path, and tables that become empty; true if it existed.
fn take_out(table: &mut Table, path: &[&str]) -> bool {
    let [key, rest @ ..] = path else { return false };
    let is_it = |entry: &Entry| kebab(&entry.key) == kebab(key);
    let Some(index) = table.entries.iter().position(is_it) else { return false };
    if rest.is_empty() {
        table.entries.remove(index);
        return true;
    }
    let Content::Table(inner) = &mut table.entries[index].node.content else { return false };
    let taken = take_out(inner, rest);
    if inner.entries.is_empty() {
        table.entries.remove(index);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_setting_is_refused_with_advice() {
        for (text, part) in [
            ("loss", "\"loss\" is not a setting"),
            ("=5", "has an empty key"),
            ("a..b=5", "has an empty key"),
            ("link.loss= ", "has an empty value"),
            ("!link..loss", "has an empty key"),
        ] {
            let error = text.parse::<Override>().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("link.loss=0.3%"), "{error}");
        }
        assert!("link.up.loss = 1 %".parse::<Override>().is_ok());
    }

    #[test]
    fn what_removes_a_key_reads_as_it_is_written() {
        let unset = Override::unset("link.loss").unwrap();
        assert_eq!(unset.to_string(), "!link.loss");
        assert_eq!(unset.to_string().parse::<Override>(), Ok(unset.clone()));
        let of = |text: &str| text.parse::<Override>().unwrap();
        assert!(unset.removes(&of("link.loss=1%")) && !unset.removes(&of("link.lossy=1%")));
        assert!(Override::unset("link").unwrap().removes(&of("link.up.loss=1%")));
    }

    #[test]
    fn quotes_may_be_left_out_where_nothing_is_ambiguous() {
        let read = |text: &str| value_node(text, &Place { origin: 1, span: 0..text.len() });
        let scalar = |text: &str| match read(text).unwrap().content {
            Content::Scalar(text) => text,
            other => panic!("{other:?}"),
        };
        for text in ["0.3%", "5ms", "50 Mbit/s", "100packets", "100", "true"] {
            assert_eq!(scalar(text), text);
        }
        assert_eq!(scalar("\"5 ms\""), "5 ms");
        for text in ["quic,http3", "quic, http3", "[\"quic\", \"http3\"]"] {
            let Content::List(items) = read(text).unwrap().content else { panic!("{text}") };
            assert!(matches!(&items[1].content, Content::Scalar(word) if word == "http3"));
        }
        assert!(read("[quic").is_err());
    }
}
