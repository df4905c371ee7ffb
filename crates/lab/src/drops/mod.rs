//! Runs of a cell in which chosen packets of the link are lost, doubled or held back.

mod judge;
mod question;
mod trials;
mod watch;

use std::io;
use std::path::Path;
use std::time::Duration;

use trackbed_analysis::drops;
use trackbed_measure::drops::{DropVerdict, DropsCell, Passed, Pattern, Place};
use trackbed_measure::results::{EMULATED, VIRTUAL};
use trackbed_scenario::{Cell, Factor, Plan};
use trackbed_substrate::Cancel;

use crate::capture::Capture;
use crate::run::Runner;
use judge::Judge;
pub use question::{Ground, Question};
use trials::{LIMIT, RANDOM, Trials, altered};
use watch::Trial;

/// Tries the packets of cell `index`, and calls `finished` with the number of trials so far and to come.
///
/// # Errors
/// If the run without a fault does not complete, with the reason; or if there is no link to choose packets on.
pub fn search(
    (plan, index): (&mut Plan, u32),
    ground: Ground<'_>,
    question: &Question,
    finished: &(dyn Fn(usize, usize) + Sync),
) -> Result<DropsCell, String> {
    let original = plan.cells[index as usize].clone();
    if original.radio.is_some() {
        return Err("the radio of [radio] makes its losses: give the scenario a [link]".to_owned());
    }
    let name = name(&original);
    let mut trials = Trials { plan, original, index, ground, question };
    let (base, judge) = trials.base()?;
    let mut packets = drops::passed(&base.trace, base.span);
    packets.truncate(question.packets);
    let chosen: Vec<Vec<Place>> = packets.iter().map(|(_, one)| vec![one.place.clone()]).collect();
    let singles = trials.all(&chosen, &|done| finished(done, chosen.len()));
    let (mut passed, mut patterns, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for ((at, packet), trial) in packets.into_iter().zip(&singles) {
        let bound = judge.bound(if trial.trace.sent.len() > at { trial } else { &base }, at);
        let pattern = judge.single((at, packet.place.clone()), trial, bound);
        let is_met = pattern.verdict != DropVerdict::NotMet;
        if !(is_met || trials.is_real()) {
            // The work was complete before it came out of the queue.
            continue;
        }
        let place = packet.place.clone();
        patterns.push(
            trials.confirmed(pattern, |trial| judge.single((at, place.clone()), trial, bound)),
        );
        if question.pairs && is_met {
            // What follows in the run without the first one.
            let later = drops::passed(&trial.trace, trial.span).into_iter();
            let later = later.filter(|(index, other)| *index > at && other.place != packet.place);
            let later = later.take(question.packets);
            let pair = |other: Passed| vec![packet.place.clone(), other.place];
            pairs.extend(later.map(|(index, other)| (pair(other), bound, index)));
        }
        passed.push(packet);
    }
    let chosen: Vec<Vec<Place>> = pairs.iter().map(|(places, ..)| places.clone()).collect();
    let ended = trials.all(&chosen, &|done| finished(done, chosen.len()));
    for ((places, first, index), trial) in pairs.into_iter().zip(&ended) {
        let second = if trial.trace.sent.len() > index { judge.bound(trial, index) } else { first };
        let in_a_row = |(first, second)| drops::in_a_row((&places[0], first), second);
        let bound = first.zip(second).map(in_a_row);
        let pattern = judge.verdict(places.clone(), trial, bound);
        if pattern.verdict != DropVerdict::NotMet || trials.is_real() {
            let again = |trial: &Trial| judge.verdict(places.clone(), trial, bound);
            patterns.push(trials.confirmed(pattern, again));
        }
    }
    if let Some(only) = &question.only {
        patterns.retain(|pattern| pattern.words().contains(only.as_str()));
    }
    trials.plan.cells[index as usize] = trials.original;
    let Judge { rtt, completion_ms, .. } = judge;
    let round_trip_ms = rtt.as_secs_f64() * 1e3;
    Ok(DropsCell { cell: index, name, round_trip_ms, completion_ms, packets: passed, patterns })
}

/// Writes captures of the run in which the packets of `pattern` met the fault to `directory`.
///
/// # Errors
/// If a file cannot be written.
pub fn capture(
    (plan, index): (&mut Plan, u32),
    ground: Ground<'_>,
    question: &Question,
    pattern: &Pattern,
    (directory, command): (&Path, &str),
) -> io::Result<()> {
    let original = plan.cells[index as usize].clone();
    let cell = altered(&original, question.fault, &pattern.packets);
    match ground {
        Ground::Virtual => {
            let capture = Capture::begin(directory, (command, VIRTUAL))?;
            let runner = Runner::new(Cancel::default()).with_time_limit(LIMIT);
            let _ = runner.simulate(&[&cell], (plan.seed, question.run), Some(&capture));
            capture.finish()?;
        }
        Ground::Emulated(emulated) => {
            let capture = Capture::begin(directory, (command, EMULATED))?;
            plan.cells[index as usize] = cell;
            emulated.observe(plan, (&[index], question.run), Some(&capture));
            plan.cells[index as usize] = original;
            capture.finish()?;
        }
    }
    Ok(())
}

/// The cell in words, without its random loss.
fn name(cell: &Cell) -> String {
    let told = cell.factors.iter().filter(|(name, _)| !is_random_key(name));
    let words = told.map(|(name, value)| match value {
        Factor::Number(number) => format!("{name} {number}"),
        Factor::Text(text) => text.clone(),
    });
    match words.collect::<Vec<_>>() {
        words if words.is_empty() => cell.endpoint.protocol.name().to_owned(),
        words => words.join(" "),
    }
}

fn is_random_key(name: &str) -> bool {
    let is_random = |key: &&str| name.contains(*key) && !name.contains("threshold");
    ["loss", "corruption", "duplication", "reordering"].iter().any(is_random)
}

/// The place in the plan of each cell that differs from those before it in more than its random loss.
pub fn distinct(plan: &Plan) -> Vec<u32> {
    let mut known: Vec<String> = Vec::new();
    let indexes = (0..).zip(&plan.cells).filter(|(_, cell)| {
        let told: Vec<_> = cell.factors.iter().filter(|(name, _)| !is_random_key(name)).collect();
        let key = format!("{told:?}");
        let is_new = !known.contains(&key);
        known.push(key);
        is_new
    });
    indexes.map(|(index, _)| index).collect()
}

/// Whether the scenario's links lose or alter packets by chance, which the search leaves out.
pub fn is_random(plan: &Plan) -> bool {
    let networks = plan.cells.iter().map(|cell| &cell.network);
    let links = networks.flat_map(|network| network.paths.iter().chain(&network.access));
    let mut models = links.flat_map(|link| link.up.models().iter().chain(link.down.models()));
    models.any(|model| RANDOM.contains(&model.stage()))
}

/// How long a delayed packet is held back.
pub const HOLD: Duration = Duration::from_millis(100);
