//! Settings from the command line, laid over those of the file.

use std::fmt;
use std::str::FromStr;

use crate::problem::{Origin, Place, Problems};
use crate::tree::{Content, Entry, Node, Table, parse_value};

/// One `--set key=value`: it replaces what the scenario says.
///
/// The key is the dotted path of the file, for example `link.loss`. The value is TOML if it reads
/// as such; otherwise the quotes may be left out (`link.delay=5ms`), and commas separate the
/// values of a sweep (`protocol=quic,http3`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The dotted path.
    pub key: String,
    /// The value as it was written.
    pub value: String,
}

/// Why an argument is no [`Override`], and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write key=value, for example link.loss=0.3%")]
pub struct OverrideError(String);

/// `key=value`
impl FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Override, OverrideError> {
        let refuse = |why: &str| OverrideError(format!("\"{text}\" {why}"));
        let (key, value) = text.split_once('=').ok_or_else(|| refuse("sets nothing"))?;
        let (key, value) = (key.trim(), value.trim());
        if key.split('.').any(|part| part.trim().is_empty()) {
            return Err(refuse("names no key"));
        }
        if value.is_empty() {
            return Err(refuse("gives no value"));
        }
        Ok(Override { key: key.to_owned(), value: value.to_owned() })
    }
}

/// As [`Override::from_str`] reads it.
impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl Override {
    /// The text that messages show.
    pub(crate) fn origin(&self) -> Origin {
        Origin { name: "--set".to_owned(), text: self.to_string(), is_file: false }
    }

    /// Where the value stands; `origin` is the place of this text in the list of texts.
    pub(crate) fn value_place(&self, origin: usize) -> Place {
        let start = self.key.len() + 1;
        Place { origin, span: start..start + self.value.len() }
    }

    /// Lays this setting over `table`; `origin` is the place of its text in the list of texts.
    pub(crate) fn apply(&self, origin: usize, table: &mut Table, problems: &mut Problems) {
        let place = self.value_place(origin);
        let key_place = Place { origin, span: 0..self.key.len() };
        match value_node(&self.value, &place) {
            Ok(node) => {
                let parts: Vec<&str> = self.key.split('.').map(str::trim).collect();
                put(table, &parts, &key_place, node);
            }
            Err(why) => {
                let help = "values with units stand in quotes inside lists and tables";
                problems.add_with_help(&place, why, help);
            }
        }
    }
}

fn value_node(text: &str, place: &Place) -> Result<Node, String> {
    let scalar = |text: &str| Content::Scalar(text.to_owned());
    match parse_value(text, place) {
        Ok(node) => Ok(node),
        // Whoever begins like this means TOML.
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

/// Puts `node` at the end of the path, in the place of whatever stands in its way.
fn put(table: &mut Table, path: &[&str], key_place: &Place, node: Node) {
    let [key, rest @ ..] = path else { return };
    if table.get(key).is_none() {
        let empty = Content::Table(Table::default());
        let node = Node { content: empty, place: key_place.clone() };
        table.entries.push(Entry { key: (*key).to_owned(), key_place: key_place.clone(), node });
    }
    let Some(entry) = table.get_mut(key) else { return };
    if rest.is_empty() {
        entry.node = node;
        entry.key_place = key_place.clone();
        return;
    }
    if !matches!(entry.node.content, Content::Table(_)) {
        entry.node = Node { content: Content::Table(Table::default()), place: key_place.clone() };
    }
    if let Content::Table(inner) = &mut entry.node.content {
        put(inner, rest, key_place, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_setting_is_refused_with_advice() {
        for (text, part) in [
            ("loss", "\"loss\" sets nothing"),
            ("=5", "names no key"),
            ("a..b=5", "names no key"),
            ("link.loss= ", "gives no value"),
        ] {
            let error = text.parse::<Override>().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("link.loss=0.3%"), "{error}");
        }
        assert!("link.up.loss = 1 %".parse::<Override>().is_ok());
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
