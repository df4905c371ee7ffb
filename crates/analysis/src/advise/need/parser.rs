//! Parses a need.

use trackbed_stats::Statistic;

use super::expression::{Bound, Comparison, Need};
use super::names::Resolved;
use super::token::{Token, What, tokens};
use super::unit::Units;
use super::{Names, NeedError};

pub(super) fn parse(text: &str, names: &Names) -> Result<Need, NeedError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, names, tokens: &tokens, at: 0 };
    let need = parser.any(0)?;
    match parser.peek() {
        None => Ok(need),
        Some(Token { what: What::Close, place }) => {
            Err(parser.error(*place, "this parenthesis was never opened; remove it"))
        }
        Some(token) => {
            let message = "unexpected text; join comparisons with `and` or `or`";
            Err(parser.error(token.place, message))
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    names: &'a Names,
    tokens: &'a [Token<'a>],
    at: usize,
}

/// A single need, or several joined by `join`.
fn joined(mut parts: Vec<Need>, join: fn(Vec<Need>) -> Need) -> Need {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

impl<'a> Parser<'a> {
    fn any(&mut self, depth: usize) -> Result<Need, NeedError> {
        let mut parts = vec![self.all(depth)?];
        while self.takes_keyword("or") {
            parts.push(self.all(depth)?);
        }
        Ok(joined(parts, Need::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Need, NeedError> {
        let mut parts = vec![self.one(depth)?];
        while self.takes_keyword("and") {
            parts.push(self.one(depth)?);
        }
        Ok(joined(parts, Need::All))
    }

    fn one(&mut self, depth: usize) -> Result<Need, NeedError> {
        let Some(Token { what: What::Open, place }) = self.peek() else {
            return self.comparison().map(Need::Compare);
        };
        let opened = *place;
        if depth == DEPTH_MAX {
            return Err(self.error(opened, "too many nested parentheses; simplify the need"));
        }
        self.at += 1;
        let inner = self.any(depth + 1)?;
        match self.peek() {
            Some(Token { what: What::Close, .. }) => {
                self.at += 1;
                Ok(inner)
            }
            _ => Err(self.error(opened, "this parenthesis is never closed; add a `)`")),
        }
    }

    fn comparison(&mut self) -> Result<Comparison, NeedError> {
        let (statistic, metric) = self.quantity()?;
        let relation = match self.peek() {
            Some(Token { what: What::Relation(relation), .. }) => *relation,
            _ => {
                let message = format!(
                    "{metric} is not compared with anything; continue with < 50, for example"
                );
                return Err(self.error(self.here(), message));
            }
        };
        self.at += 1;
        let bound = self.bound(&metric)?;
        Ok(Comparison { statistic, metric, relation, bound })
    }

    /// An optional statistic, and a metric.
    fn quantity(&mut self) -> Result<(Statistic, String), NeedError> {
        let from = self.at;
        while let Some(Token { what: What::Word(word), .. }) = self.peek() {
            if is_keyword(word) {
                break;
            }
            self.at += 1;
        }
        let words: Vec<(&str, (usize, usize))> = self.tokens[from..self.at]
            .iter()
            .filter_map(|token| match token.what {
                What::Word(word) => Some((word, token.place)),
                _ => None,
            })
            .collect();
        let Some(((first, place), rest)) = words.split_first() else {
            let message = format!(
                "a comparison begins with a metric, as in \"p99 rtt < 50 ms\"; available: {}",
                self.names.list()
            );
            return Err(self.error(self.here(), message));
        };
        let (statistic, named) = match statistic(first) {
            None => (Statistic::Mean, words.as_slice()),
            Some(Ok(statistic)) => (statistic, rest),
            Some(Err(message)) => return Err(self.error(*place, message)),
        };
        let Some(((_, (start, _)), (_, (_, end)))) = named.first().zip(named.last()) else {
            let message = format!("of which metric? Available: {}", self.names.list());
            return Err(self.error((place.1, place.1), message));
        };
        let name = named.iter().map(|(word, _)| *word).collect::<Vec<_>>().join("_");
        Ok((statistic, self.metric(&name, (*start, *end))?))
    }

    fn metric(&self, name: &str, place: (usize, usize)) -> Result<String, NeedError> {
        // `FPS loss` is a loss against the baseline.
        let of_loss = name.to_lowercase().strip_suffix("_loss").map(|it| self.names.resolve(it));
        let message = match self.names.resolve(name) {
            Resolved::One(metric) => return Ok(metric),
            Resolved::None(_)
                if let Some(Resolved::One(base) | Resolved::Unmeasured(base)) = of_loss =>
            {
                format!(
                    "unknown metric {name:?}; for a loss of 3 % write \"{base} >= 0.97 baseline\""
                )
            }
            Resolved::Several(several) => {
                format!(
                    "{name} is ambiguous: it could be {}; write one of them in full",
                    several.join(" or ")
                )
            }
            Resolved::Unmeasured(metric) => {
                format!("{metric} was not measured in these runs; available: {}", self.names.list())
            }
            Resolved::None(near) if near.is_empty() => {
                format!("unknown metric {name:?}; available: {}", self.names.list())
            }
            Resolved::None(near) => {
                format!("unknown metric {name:?}; did you mean {}?", near.join(" or "))
            }
        };
        Err(self.error(place, message))
    }

    fn bound(&mut self, metric: &str) -> Result<Bound, NeedError> {
        let units = Units::of(metric);
        let (value, place) = match self.peek() {
            Some(Token { what: What::Number(value), place }) => (*value, *place),
            Some(Token { what: What::Word(word), .. }) if word.eq_ignore_ascii_case(BASELINE) => {
                self.at += 1;
                return Ok(Bound::Baseline(1.0));
            }
            _ => {
                let example = units.example;
                let message = format!(
                    "{metric} must be compared with a number or the baseline; write for example \
                     {example} or 0.97 baseline"
                );
                return Err(self.error(self.here(), message));
            }
        };
        self.at += 1;
        if let Some(factor) = self.baseline(value, place)? {
            return Ok(Bound::Baseline(factor));
        }
        let unit = match self.peek() {
            Some(Token { what: What::Word(word), place }) if !is_keyword(word) => {
                self.at += 1;
                Some((*word, *place))
            }
            _ => None,
        };
        let Units { what, example, .. } = units;
        match unit {
            None if units.bare || value == 0.0 => Ok(Bound::Value(value)),
            None => {
                let message = format!("{metric} is {what} and needs a unit; write \"{example}\"");
                Err(self.error(place, message))
            }
            Some((unit, place)) => match units.factor(unit) {
                Some(factor) => Ok(Bound::Value(value * factor)),
                None if units.known.is_empty() => {
                    let message = format!("{metric} is {what} without a unit; remove the unit");
                    Err(self.error(place, message))
                }
                None => {
                    let names = units.names();
                    let message = format!(
                        "{unit:?} is not a unit of {what} ({names}); write for example \"{example}\""
                    );
                    Err(self.error(place, message))
                }
            },
        }
    }

    /// The factor of `value baseline`, `value x baseline` or `value % of baseline`.
    fn baseline(&mut self, value: f64, place: (usize, usize)) -> Result<Option<f64>, NeedError> {
        let word = |ahead: usize| match self.tokens.get(self.at + ahead).map(|token| token.what) {
            Some(What::Word(word)) => word.to_lowercase(),
            _ => String::new(),
        };
        let (factor, len) = match (word(0).as_str(), word(1).as_str(), word(2).as_str()) {
            (BASELINE, ..) => (value, 1),
            ("x" | "*" | "×" | "times", BASELINE, _) => (value, 2),
            ("%", "of", BASELINE) => (value / 100.0, 3),
            ("%", BASELINE, _) => (value / 100.0, 2),
            _ => return Ok(None),
        };
        if factor <= 0.0 {
            return Err(
                self.error(place, "a share of the baseline must be above 0, for example 0.97")
            );
        }
        self.at += len;
        Ok(Some(factor))
    }

    fn takes_keyword(&mut self, keyword: &str) -> bool {
        let is_there = matches!(
            self.peek(),
            Some(Token { what: What::Word(word), .. }) if word.eq_ignore_ascii_case(keyword)
        );
        self.at += usize::from(is_there);
        is_there
    }

    fn peek(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.at)
    }

    /// The position of the next token, or the end.
    fn here(&self) -> (usize, usize) {
        let end = self.text.trim_end().len();
        self.peek().map_or((end, end), |token| token.place)
    }

    fn error(&self, place: (usize, usize), message: impl Into<String>) -> NeedError {
        NeedError::new(self.text, place, message)
    }
}

/// The statistic called `word`, or what is wrong with it.
fn statistic(word: &str) -> Option<Result<Statistic, String>> {
    let word = word.to_lowercase();
    match word.as_str() {
        "mean" | "average" | "avg" => return Some(Ok(Statistic::Mean)),
        "median" => return Some(Ok(Statistic::Quantile(0.5))),
        "min" | "minimum" => return Some(Ok(Statistic::Min)),
        "max" | "maximum" => return Some(Ok(Statistic::Max)),
        _ => {}
    }
    let digits =
        word.strip_prefix('p').filter(|it| it.starts_with(|c: char| c.is_ascii_digit()))?;
    let percent: Option<f64> = digits.parse().ok();
    Some(match percent.filter(|percent| *percent > 0.0 && *percent < 100.0) {
        Some(percent) => Ok(Statistic::Quantile(percent / 100.0)),
        None => Err(format!(
            "{word} is not a percentile; write p50, p95, p99 or another one below p100"
        )),
    })
}

fn is_keyword(word: &str) -> bool {
    word.eq_ignore_ascii_case("and") || word.eq_ignore_ascii_case("or")
}

const BASELINE: &str = "baseline";

/// Real needs are not nested deeper; the parser is recursive.
const DEPTH_MAX: usize = 32;
