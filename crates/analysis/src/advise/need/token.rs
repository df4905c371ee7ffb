//! The words, numbers and symbols of a need.

use super::NeedError;
use super::expression::Relation;

/// A token and its position, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) what: What<'a>,
    pub(super) place: (usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What<'a> {
    /// A name, a unit or a keyword.
    Word(&'a str),
    /// A number that is not negative.
    Number(f64),
    Relation(Relation),
    /// `(`
    Open,
    /// `)`
    Close,
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, NeedError> {
    if text.len() > LEN_MAX {
        let message = format!("a need has at most {LEN_MAX} characters; use --need several times");
        return Err(NeedError::new(text, (0, 0), message));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (what, len) = match first {
            '(' => (What::Open, 1),
            ')' => (What::Close, 1),
            '<' | '>' | '=' | '≤' | '≥' => relation(&text[at..]),
            _ if first.is_ascii_digit() || first == '.' => number(text, at)?,
            _ if is_word(first) => {
                let goes_on = |c: char| is_word(c) || c.is_ascii_digit() || matches!(c, '.' | '-');
                let len = text[at..].find(|c| !goes_on(c)).unwrap_or(text.len() - at);
                (What::Word(&text[at..at + len]), len)
            }
            other => {
                let place = (at, at + other.len_utf8());
                let message = match other {
                    '-' => "metrics are never negative; write a number of at least 0".to_owned(),
                    '!' => "a need says what must be true; use <, <=, >, >= or =".to_owned(),
                    other => format!(
                        "{other:?} has no meaning here; a need looks like \"p99 rtt < 50 ms\""
                    ),
                };
                return Err(NeedError::new(text, place, message));
            }
        };
        tokens.push(Token { what, place: (at, at + len) });
        at += len;
    }
    Ok(tokens)
}

fn relation(text: &str) -> (What<'_>, usize) {
    let signs = [
        ("<=", Relation::AtMost),
        (">=", Relation::AtLeast),
        ("==", Relation::Equal),
        ("≤", Relation::AtMost),
        ("≥", Relation::AtLeast),
        ("<", Relation::Below),
        (">", Relation::Above),
    ];
    let found = signs.iter().find(|(sign, _)| text.starts_with(sign));
    found.map_or((What::Relation(Relation::Equal), 1), |(sign, relation)| {
        (What::Relation(*relation), sign.len())
    })
}

fn number(text: &str, at: usize) -> Result<(What<'_>, usize), NeedError> {
    let rest = &text[at..];
    let digit = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let len = rest.find(|c| !digit(c)).unwrap_or(rest.len());
    let value: Option<f64> = rest[..len].replace('_', "").parse().ok();
    match value.filter(|value| *value <= NUMBER_MAX) {
        Some(value) => Ok((What::Number(value), len)),
        None => {
            let message = format!("{:?} is not a number; write it as 0.97 or 50", &rest[..len]);
            Err(NeedError::new(text, (at, at + len), message))
        }
    }
}

/// Whether a word can start with this character: units such as `%`, `/s` and `°C` are words.
fn is_word(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '%' | '/' | '°' | '_' | '*' | '×' | 'µ')
}

/// No need written by a person is longer.
const LEN_MAX: usize = 1_000;

/// No quantity of a network is larger, and products with it stay finite.
const NUMBER_MAX: f64 = 1e30;
