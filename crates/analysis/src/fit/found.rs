//! What a search for settings found, as a document with an answer.

use std::collections::BTreeMap;

use trackbed_measure::fit::{FitDocument, FitFigure, FitKey, FitSetting};
use trackbed_measure::results::SCHEMA;
use trackbed_stats::abc::{Member, Unknown};

use super::{Figure, Given, Space};
use crate::number::short;

/// A setting of the last population.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Its place and weight.
    pub member: Member,
    /// What its runs gave for each figure.
    pub given: Vec<Option<Given>>,
    /// What other runs gave, with other random numbers; empty if they were not made.
    pub again: Vec<Option<Given>>,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The last population.
    pub solutions: Vec<Solution>,
    /// For each setting tried, what it gave.
    pub tried: Vec<Vec<Option<f64>>>,
    /// Whether it ended by itself, and not by its budget.
    pub is_complete: bool,
}

/// The document; `about` is the version of the tool and the scenario's name, `runs` its seed and number of runs.
pub fn document(
    found: &Found,
    (figures, spaces): (&[Figure], &[Space]),
    about: (&str, &str),
    (seed, runs): (u64, u32),
) -> FitDocument {
    let meets = |given: &[Option<f64>]| {
        let is_met = |(figure, value): (&Figure, &Option<f64>)| figure.distance(*value) <= 1.0;
        given.len() == figures.len() && figures.iter().zip(given).all(is_met)
    };
    let values = |given: &[Option<Given>]| -> Vec<Option<f64>> {
        given.iter().map(|given| given.map(|given| given.value)).collect()
    };
    let in_search: Vec<&Solution> =
        found.solutions.iter().filter(|one| meets(&values(&one.given))).collect();
    let is_checked = |one: &&&Solution| meets(&values(&one.again));
    let held: Vec<&Solution> = in_search.iter().filter(is_checked).copied().collect();
    let met = [in_search.len() as u64, held.len() as u64];
    // If nothing meets all figures, the nearest settings show what stands in the way.
    let shown: Vec<&Solution> =
        if held.is_empty() { found.solutions.iter().collect() } else { held };
    let sum: f64 = shown.iter().map(|one| one.member.weight).sum();
    let setting = |one: &&Solution| {
        let at = &one.member.tried.at;
        let pairs = || spaces.iter().zip(at);
        FitSetting {
            values: pairs().map(|(space, at)| (space.key.clone(), space.value(*at))).collect(),
            numbers: pairs()
                .filter_map(|(space, at)| Some((space.key.clone(), space.number(*at)?)))
                .collect(),
            weight: one.member.weight / sum,
            figures: values(&one.given),
        }
    };
    let settings: Vec<FitSetting> = shown.iter().map(setting).collect();
    let key = |(index, space)| {
        let places = shown.iter().map(|one| one.member.tried.at[index]);
        key(space, &places.collect::<Vec<f64>>(), &settings)
    };
    let mut keys: Vec<FitKey> = spaces.iter().enumerate().map(key).collect();
    keys.sort_by(|one, other| one.share.total_cmp(&other.share));
    let figure = |(index, figure): (usize, &Figure)| {
        let tried = found.tried.iter().filter_map(|tried| tried[index]);
        let off = |value: &f64| (value - figure.value).abs();
        let errors: Vec<f64> =
            shown.iter().filter_map(|one| Some(one.given[index]?.standard_error)).collect();
        FitFigure {
            text: figure.text.clone(),
            value: figure.value,
            tolerance: figure.tolerance,
            nearest: tried.min_by(|one, other| off(one).total_cmp(&off(other))),
            standard_error: errors.iter().fold(0.0, |sum, error| sum + error)
                / errors.len().max(1) as f64,
        }
    };
    let mut document = FitDocument {
        schema: SCHEMA,
        answer: String::new(),
        trackbed: about.0.to_owned(),
        scenario: about.1.to_owned(),
        seed,
        runs,
        tried: found.tried.len() as u64,
        met,
        figures: figures.iter().enumerate().map(figure).collect(),
        conflicts: conflicts(figures, &found.tried),
        keys,
        settings,
    };
    document.answer = answer(&document, found.is_complete);
    document
}

fn key(space: &Space, places: &[f64], settings: &[FitSetting]) -> FitKey {
    let places = || places.iter().copied();
    let ends = [places().fold(1.0, f64::min), places().fold(0.0, f64::max)];
    let mut weights = BTreeMap::new();
    let (found, share) = match space.unknown() {
        _ if settings.is_empty() => (Vec::new(), 1.0),
        Unknown::Number => (ends.map(|end| space.value(end)).to_vec(), ends[1] - ends[0]),
        Unknown::Name(names) => {
            for setting in settings {
                let name = setting.values[&space.key].clone();
                *weights.entry(name).or_insert(0.0) += setting.weight;
            }
            (weights.keys().cloned().collect(), weights.len() as f64 / names as f64)
        }
    };
    let (range, unit) = space.range().unzip();
    let (key, over, unit) =
        (space.key.clone(), space.over.clone(), unit.unwrap_or_default().to_owned());
    FitKey { key, over, range, unit, found, share, weights }
}

/// Pairs of figures that were met one by one, but never together.
fn conflicts(figures: &[Figure], tried: &[Vec<Option<f64>>]) -> Vec<[usize; 2]> {
    let met: Vec<Vec<bool>> = tried
        .iter()
        .map(|given| {
            figures.iter().zip(given).map(|(one, value)| one.distance(*value) <= 1.0).collect()
        })
        .collect();
    let alone = |one: usize| met.iter().any(|met| met[one]);
    let pairs =
        (0..figures.len()).flat_map(|one| (one + 1..figures.len()).map(move |other| [one, other]));
    pairs
        .filter(|[one, other]| alone(*one) && alone(*other))
        .filter(|[one, other]| !met.iter().any(|met| met[*one] && met[*other]))
        .collect()
}

/// Up to this share of its range, a key counts as determined.
const DETERMINED: f64 = 0.5;

fn answer(document: &FitDocument, is_complete: bool) -> String {
    if document.tried == 0 {
        return "Stopped before the first round of settings was complete; the same command continues it.".to_owned();
    }
    let [met, held] = document.met;
    let figures: Vec<&str> = document.figures.iter().map(|figure| figure.text.as_str()).collect();
    let what = match figures.as_slice() {
        [one] => format!("gives {one}"),
        many => format!("meets all {} figures", many.len()),
    };
    let tried = document.tried;
    let mut sentences = Vec::new();
    if held == 0 {
        sentences.push(match met {
            0 => format!("None of {tried} settings {what}."),
            _ => format!(
                "None of {tried} settings {what} surely: {met} did, and none of them with other random numbers."
            ),
        });
        sentences.extend(obstacles(document));
    } else {
        let settings = if held == 1 { "One setting" } else { &format!("{held} settings") };
        let what = if held == 1 {
            what
        } else {
            what.replacen("gives", "give", 1).replacen("meets", "meet", 1)
        };
        let known: Vec<String> =
            document.keys.iter().filter(|key| key.share <= DETERMINED).map(range).collect();
        let known =
            if known.is_empty() { String::new() } else { format!(": {}", known.join(", ")) };
        sentences.push(format!("{settings} of {tried} {what}{known}."));
        let free = document.keys.iter().filter(|key| key.share > DETERMINED);
        let free: Vec<String> = free
            .map(|key| format!("{} ({:.0} % of its range)", key.key, key.share * 100.0))
            .collect();
        if !free.is_empty() {
            sentences.push(format!("Not determined by them: {}.", free.join(", ")));
        }
    }
    let is_vague = |figure: &&FitFigure| figure.standard_error > figure.tolerance / 3.0;
    if let Some(figure) = document.figures.iter().find(is_vague) {
        let factor = figure.standard_error / figure.tolerance * 4.0;
        let runs = (f64::from(document.runs) * factor * factor).ceil();
        sentences.push(format!(
            "{} scatters by {} with {} runs, too much for this tolerance: add --runs {runs}.",
            figure.text,
            short(figure.standard_error),
            document.runs
        ));
    }
    if !is_complete {
        sentences.push("The search was not complete; the same command continues it.".to_owned());
    }
    sentences.join(" ")
}

/// `radio.queue 38 kB to 43 kB`
fn range(key: &FitKey) -> String {
    let FitKey { key, found, weights, .. } = key;
    match found.as_slice() {
        [low, high] if weights.is_empty() && low != high => format!("{key} {low} to {high}"),
        [one, ..] if weights.is_empty() => format!("{key} {one}"),
        names => format!("{key} {}", names.join(" or ")),
    }
}

/// Which figures stand in the way.
fn obstacles(document: &FitDocument) -> Vec<String> {
    let figures = &document.figures;
    let never = figures.iter().filter(|figure| {
        figure.nearest.is_none_or(|nearest| (nearest - figure.value).abs() > figure.tolerance)
    });
    let never: Vec<String> = never
        .map(|figure| match figure.nearest {
            Some(nearest) => {
                format!("{} was never met: the nearest is {}.", figure.text, short(nearest))
            }
            None => format!(
                "{} was never measured (a setting with failed runs gives none).",
                figure.text
            ),
        })
        .collect();
    if !never.is_empty() {
        return never;
    }
    let together = |[one, other]: &[usize; 2]| {
        format!(
            "{} and {} can each be met, but were not met together.",
            figures[*one].text, figures[*other].text
        )
    };
    document.conflicts.iter().map(together).collect()
}

#[cfg(test)]
mod tests {
    use trackbed_stats::abc::Tried;

    use super::*;

    fn solution(at: f64, given: [f64; 2], again: [f64; 2]) -> Solution {
        let of = |values: [f64; 2]| {
            values.map(|value| Some(Given { value, standard_error: 0.01 })).to_vec()
        };
        let tried = Tried { at: vec![at, 1.0], distance: 0.5 };
        Solution { member: Member { tried, weight: 0.5 }, given: of(given), again: of(again) }
    }

    fn answered(solutions: Vec<Solution>, tried: &[[f64; 2]]) -> FitDocument {
        let figures = ["goodput = 2 Mbit/s +- 10 %", "rtt = 50 ms +- 10 %"];
        let figures = figures.map(|text| text.parse::<Figure>().unwrap());
        let spaces = ["radio.queue=0 kB..100 kB", "sack=true,false"];
        let spaces = spaces.map(|text| text.parse::<Space>().unwrap());
        let tried = tried.iter().map(|given| given.map(Some).to_vec()).collect();
        let found = Found { solutions, tried, is_complete: true };
        document(&found, (&figures, &spaces), ("1", "a"), (1, 8))
    }

    #[test]
    fn the_answer_names_ranges_and_what_is_not_determined() {
        let met = [2.0, 50.0];
        let document = answered(
            vec![
                solution(0.1, met, met),
                solution(0.3, met, [1.9, 52.0]),
                solution(0.9, met, [9.0, 50.0]),
            ],
            &[met, met, met],
        );
        assert_eq!(document.met, [3, 2], "the third does not hold with other random numbers");
        assert_eq!(
            document.answer,
            "2 settings of 3 meet all 2 figures: radio.queue 10 kB to 30 kB, sack false."
        );
        assert!((document.keys[0].share - 0.2).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_met_is_named() {
        let near = solution(0.5, [2.0, 90.0], [2.0, 90.0]);
        let never = answered(vec![near.clone()], &[[2.0, 90.0], [3.0, 80.0]]);
        assert!(
            never.answer.ends_with("rtt = 50 ms +- 10 % was never met: the nearest is 80."),
            "{}",
            never.answer
        );
        let apart = answered(vec![near], &[[2.0, 90.0], [3.0, 50.0]]);
        assert_eq!(apart.conflicts, [[0, 1]]);
        assert!(answered(Vec::new(), &[]).answer.starts_with("Stopped before the first round"));
        assert!(apart.answer.contains("were not met together"), "{}", apart.answer);
    }
}
