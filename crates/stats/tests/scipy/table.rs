//! The table of questions and answers.

use std::collections::BTreeMap;

use trackbed_stats::Sample;

pub struct Table<'a> {
    lines: Vec<Line<'a>>,
    samples: BTreeMap<&'a str, (Vec<f64>, Sample)>,
}

/// A question, its subject, and the answers.
#[derive(Debug)]
pub struct Line<'a> {
    question: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Table<'a> {
    pub fn new(text: &'a str) -> Table<'a> {
        let mut samples = BTreeMap::new();
        let mut lines = Vec::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let question = words.next().expect("a line has a question");
            let words: Vec<&str> = words.collect();
            if question == "data" {
                let values: Vec<f64> =
                    words[1..].iter().map(|word| word.parse().expect("data are numbers")).collect();
                let sample = Sample::new(&values).unwrap();
                samples.insert(words[0], (values, sample));
            }
            lines.push(Line { question, words });
        }
        Table { lines, samples }
    }

    pub fn all(&self) -> &[Line<'a>] {
        &self.lines
    }

    /// The lines with this question; there is at least one.
    pub fn lines(&self, question: &str) -> Vec<&Line<'a>> {
        let found: Vec<&Line<'a>> =
            self.lines.iter().filter(|line| line.question == question).collect();
        assert!(!found.is_empty(), "the table does not ask {question}");
        found
    }

    pub fn sample(&self, name: &str) -> &Sample {
        &self.samples[name].1
    }

    /// The values of a set in their order, as values of runs.
    pub fn runs(&self, name: &str) -> Vec<Option<f64>> {
        self.samples[name].0.iter().copied().map(Some).collect()
    }
}

impl<'a> Line<'a> {
    pub fn question(&self) -> &'a str {
        self.question
    }

    pub fn name(&self, place: usize) -> &'a str {
        self.words[place]
    }

    pub fn number(&self, place: usize) -> f64 {
        self.words[place].parse().expect("a number stands here")
    }

    /// The same words, and the same numbers within `tolerance`.
    pub fn assert_is(&self, other: &Line<'_>, tolerance: f64) {
        assert_eq!((self.question, self.words.len()), (other.question, other.words.len()));
        for (word, other_word) in self.words.iter().zip(&other.words) {
            match (word.parse::<f64>(), other_word.parse::<f64>()) {
                (Ok(found), Ok(expected)) if expected.is_nan() => {
                    assert!(found.is_nan(), "{self:?}")
                }
                (Ok(found), Ok(expected)) => assert_near(self, found, expected, tolerance),
                _ => assert_eq!(word, other_word, "{self:?}"),
            }
        }
    }
}

/// Relative to the number, or to 1e-3 for smaller ones.
pub fn assert_near(line: &Line<'_>, found: f64, expected: f64, tolerance: f64) {
    let allowed = tolerance * expected.abs().max(1e-3);
    assert!((found - expected).abs() <= allowed, "{found} is not {expected}: {line:?}");
}
