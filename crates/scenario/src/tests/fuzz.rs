//! Any text gives a plan or an error, and never a panic.

use trackbed_core::{Rng, Seed};

use super::super::built_in;
use super::plan_with;

#[test]
fn mutated_scenarios_are_planned_or_refused() {
    let (mut planned, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let mut rng = Seed::of_run(1, round).stream("mutation");
        let original = built_in()[round as usize % built_in().len()].text;
        let text = mutate(original, &mut rng);
        match plan_with(&text, &[]) {
            Ok(plan) => {
                assert!(!plan.cells.is_empty() && plan.runs > 0, "{text}");
                planned += 1;
            }
            Err(error) => {
                assert!(error.to_string().starts_with("error: "), "{text}");
                refused += 1;
            }
        }
    }
    // Both outcomes occur, or the mutations are too tame or too wild.
    assert!(planned > ROUNDS / 20 && refused > ROUNDS / 20, "{planned} planned, {refused} refused");
}

#[test]
fn mutated_settings_are_planned_or_refused() {
    let keys =
        ["link.loss", "link", "protocol", "workload.count", "link.queue", "link.delay.normal"];
    for round in 0..ROUNDS {
        let mut rng = Seed::of_run(2, round).stream("mutation");
        let key = keys[rng.below(keys.len() as u64) as usize];
        let value = PIECES[rng.below(PIECES.len() as u64) as usize];
        let value = mutate(value, &mut rng);
        if let Ok(setting) = format!("{key}={value}").parse::<super::Override>() {
            let _ = plan_with(built_in()[0].text, &[&setting.to_string()]);
        }
    }
}

/// Changes `text` in one to three places.
fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=rng.below(3) {
        let at = rng.below(chars.len() as u64 + 1) as usize;
        match rng.below(5) {
            0 => {
                let end = (at + rng.below(12) as usize).min(chars.len());
                chars.drain(at..end);
            }
            1 => {
                let piece = PIECES[rng.below(PIECES.len() as u64) as usize];
                chars.splice(at..at, piece.chars());
            }
            2 => {
                let digit = chars.iter().skip(at).position(char::is_ascii_digit);
                if let Some(found) = digit {
                    chars[at + found] = char::from(b'0' + rng.below(10) as u8);
                }
            }
            3 => {
                // A line is written twice, or somewhere else.
                let line: Vec<char> =
                    text.lines().nth(rng.below(40) as usize).unwrap_or("").chars().collect();
                chars.splice(at..at, line);
            }
            _ => {
                if let Some(c) = chars.get_mut(at) {
                    *c = char::from_u32(rng.below(0x2_0000) as u32).unwrap_or('\u{fffd}');
                }
            }
        }
    }
    chars.into_iter().collect()
}

/// The fuzz target `scenario_file`, whose corpus is replayed with mutations, goes further.
const ROUNDS: u64 = 1_000;

const PIECES: &[&str] = &[
    "0.3 %",
    "\"5 ms\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "\"",
    "'''",
    "#",
    ",",
    ".",
    "-1",
    "1e999",
    "99999999999999999999",
    "18446744073709551615",
    "nan",
    "inf",
    "1979-05-27",
    "true",
    "[link]\n",
    "[[link]]\n",
    "[link.up]\n",
    "loss = [\"1 %\", \"2 %\"]\n",
    "{ from = 1, to = 9, step = 1 }",
    "{ from = 0, to = 18446744073709551615, points = 3 }",
    "\u{0}",
    "\u{202e}",
    "é",
    "\r\n",
    "{ periodic = 100 }",
    "[[\"1 s\", \"2 s\"]]",
    "{ uniform = { least = \"1 ms\" } }",
    "codel",
];
