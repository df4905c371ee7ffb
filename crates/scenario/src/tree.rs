//! The text of a scenario as a tree of tables, lists and scalars, each with its position.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Origin, Place, Problems, ScenarioError};

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub content: Content,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A number, a word, a date or a quoted text: as written, without quotes.
    Scalar(String),
    List(Vec<Node>),
    Table(Table),
}

/// The entries of a table, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    /// The position of the key.
    pub key_place: Place,
    pub node: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    /// Removes an entry.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    /// The dotted paths of all keys below.
    pub fn paths(&self) -> Vec<String> {
        let of = |entry: &Entry| match &entry.node.content {
            Content::Table(table) => {
                table.paths().into_iter().map(|path| format!("{}.{path}", entry.key)).collect()
            }
            Content::Scalar(_) | Content::List(_) => vec![entry.key.clone()],
        };
        self.entries.iter().flat_map(of).collect()
    }
}

/// Parses a file's text.
pub(crate) fn parse_document(origin: &Origin) -> Result<Table, ScenarioError> {
    let text = origin.text.as_str();
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut errors: Vec<_> =
        errors.iter().map(|e| (e.span().unwrap_or(0..0), e.message())).collect();
    errors.sort_by_key(|(span, _)| span.start);
    let mut problems = Problems::default();
    let mut line_end = 0;
    for (span, message) in errors {
        // Further errors on the same line are mostly consequences of the first.
        if !problems.is_empty() && span.start <= line_end {
            continue;
        }
        let rest = text.get(span.start..).unwrap_or_default();
        line_end = rest.find('\n').map_or(text.len(), |at| span.start + at);
        let place = Place { origin: 0, span: span.clone() };
        problems.report(&place, message, remedy(message, text.get(span).unwrap_or_default()));
    }
    problems.check(std::slice::from_ref(origin))?;
    Ok(table(document.get_ref(), &Context { origin: 0, offset: 0 }))
}

/// Parses `text`, which is at `place`, as a single TOML value; `Err` is the reason why it is not
/// one.
pub(crate) fn parse_value(text: &str, place: &Place) -> Result<Node, String> {
    let context = Context { origin: place.origin, offset: place.span.start };
    DeValue::parse(text)
        .map(|value| node(&value, &context))
        .map_err(|error| error.message().to_owned())
}

/// The text, and the offset, that the spans of a tree refer to.
struct Context {
    origin: usize,
    offset: usize,
}

impl Context {
    fn place<T>(&self, spanned: &Spanned<T>) -> Place {
        let span = spanned.span();
        Place { origin: self.origin, span: self.offset + span.start..self.offset + span.end }
    }
}

fn table(table: &DeTable<'_>, context: &Context) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: context.place(key),
            node: node(value, context),
        })
        .collect();
    // Sorted, as the library may keep another order.
    entries.sort_by_key(|entry| entry.key_place.span.start);
    Table { entries }
}

fn node(value: &Spanned<DeValue<'_>>, context: &Context) -> Node {
    let content = match value.get_ref() {
        DeValue::String(text) => Content::Scalar(text.to_string()),
        DeValue::Integer(number) => Content::Scalar(
            i128::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| number.to_string(), |value| value.to_string()),
        ),
        DeValue::Float(number) => Content::Scalar(plain_decimal(number.as_str())),
        DeValue::Boolean(flag) => Content::Scalar(flag.to_string()),
        DeValue::Datetime(date) => Content::Scalar(date.to_string()),
        DeValue::Array(items) => {
            Content::List(items.iter().map(|item| node(item, context)).collect())
        }
        DeValue::Table(inner) => Content::Table(table(inner, context)),
    };
    Node { content, place: context.place(value) }
}

/// `1e-3` as `0.001`; anything else stays unchanged, so that decimals are exact.
fn plain_decimal(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if text.contains(['e', 'E']) && number.is_finite() => number.to_string(),
        _ => text.strip_prefix('+').unwrap_or(text).to_owned(),
    }
}

/// What to write instead, for common syntax errors.
fn remedy(message: &str, at: &str) -> Option<String> {
    match message {
        m if m.starts_with("string values must be quoted") => {
            Some(format!("quote words, and values that have a unit: \"{}\"", at.trim()))
        }
        "duplicate key" => {
            Some("remove one of the two; to compare several values, write a list".to_owned())
        }
        m if m.starts_with("cannot extend value") => {
            Some("a line above gives the same key a plain value: remove that line".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Table, ScenarioError> {
        let name = "a.toml".to_owned();
        parse_document(&Origin { name, text: text.to_owned(), is_file: true })
    }

    #[test]
    fn scalars_keep_what_was_written_and_tables_the_order() {
        let table = parse("z = 1_000\na = 0x10\nf = 1e-3\nt = 1.30\nb = true\n").unwrap();
        let read: Vec<(&str, &str)> = table
            .entries
            .iter()
            .map(|entry| match &entry.node.content {
                Content::Scalar(text) => (entry.key.as_str(), text.as_str()),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [("z", "1000"), ("a", "16"), ("f", "0.001"), ("t", "1.30"), ("b", "true")];
        assert_eq!(read, expected);
    }

    #[test]
    fn mistakes_of_form_are_reported_together_once_a_line() {
        let error = parse("rate = 50 Mbit/s\nok = 1\ndelay = 5 ms\nok = 2\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "error: string values must be quoted, expected literal string\n --> a.toml:1:8\n  |\n1 \
             | rate = 50 Mbit/s\n  |        ^^^^^^^^^\n  = quote words, and values that have a \
             unit: \"50 Mbit/s\"\n\nerror: string values must be quoted, expected literal string\n \
             --> a.toml:3:9\n  |\n3 | delay = 5 ms\n  |         ^^^^\n  = quote words, and values \
             that have a unit: \"5 ms\"\n\nerror: duplicate key\n --> a.toml:4:1\n  |\n4 | ok = \
             2\n  | ^^\n  = remove one of the two; to compare several values, write a list"
        );
    }
}
