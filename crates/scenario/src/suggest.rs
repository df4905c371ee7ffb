//! "Did you mean": the known word that is most similar to the written one.

use crate::field::{Field, Shape};
use crate::schema::SCHEMA;

pub(crate) fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    // A long text is no typing error, and comparing it takes long.
    if written.chars().count() > LEN_MAX {
        return None;
    }
    let written = written.trim().to_lowercase();
    // A board's name without whose figures it has.
    let is_end = |word: &&&str| word.strip_suffix(&*written).is_some_and(|it| it.ends_with('-'));
    if let Some(word) = known.iter().find(is_end) {
        return Some(word);
    }
    let scored = known.iter().map(|word| (strsim::damerau_levenshtein(&written, word), *word));
    let (distance, word) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= word.chars().count().max(3) / 3).then_some(word)
}

/// The question whether this was meant, to stand before a remedy; empty without a guess.
pub(crate) fn question(guess: Option<&str>) -> String {
    guess.map_or_else(String::new, |guess| format!("did you mean \"{guess}\"? "))
}

/// The likely meaning of the key `written` below `prefix`: a key of the same table, or one of the
/// same name in another table.
pub(crate) fn key(prefix: &str, written: &str, known: &[&str]) -> Option<String> {
    if let Some(near) = nearest(written, known) {
        return Some(near.to_owned());
    }
    let mut paths = Vec::new();
    collect("", &SCHEMA.top, &mut paths);
    for fields in SCHEMA.workloads.values() {
        collect("workload.", fields, &mut paths);
    }
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let elsewhere = paths.into_iter().find(|path| last(path) == written);
    if prefix.ends_with("link.") && written == "jitter" {
        return Some("delay".to_owned());
    }
    let is_load = |path: &str| path.starts_with("workload.");
    let fits = |path: &String| is_load(prefix) || !is_load(path) && !path.starts_with(prefix);
    elsewhere.filter(|path| prefix.is_empty() || fits(path))
}

fn collect(prefix: &str, fields: &[Field], paths: &mut Vec<String>) {
    for field in fields {
        paths.push(format!("{prefix}{}", field.name));
        if let Shape::Section(inner) = &field.shape {
            collect(&format!("{prefix}{}.", field.name), inner, paths);
        }
    }
}

const LEN_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["delay", "loss", "rate", "tls", "etri-odroid-xu4"];
        let slips =
            [("dely", "delay"), ("Delay", "delay"), ("lsos", "loss"), ("odroid-xu4", known[4])];
        for (written, meant) in slips {
            assert_eq!(nearest(written, &known), Some(meant));
        }
        for written in ["bandwidth", "x", "4", "", &"delay".repeat(1_000)] {
            assert_eq!(nearest(written, &known), None, "{written}");
        }
    }

    #[test]
    fn a_key_in_the_wrong_table_is_found_in_the_right_one() {
        assert_eq!(key("", "loss", &["name", "protocol"]), Some("link.loss".to_owned()));
        assert_eq!(key("link.", "protocol", &["rate"]), Some("protocol".to_owned()));
        assert_eq!(key("link.", "jitter", &["rate"]), Some("delay".to_owned()));
        assert_eq!(key("link.", "piece-size", &["rate"]), None);
    }
}
