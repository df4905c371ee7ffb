//! Continuous integration: the lints, the README's test command, then the parts of the thorough
//! tier that fit into forty minutes, in turn.

use std::time::{Duration, Instant};

use crate::cargo::said;
use crate::install::Consent;
use crate::ledger::Ledger;
use crate::tiers::{self, Part};

/// The total limit: an hour, less a margin for slow machines.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// Runs it, and prints the parts left out.
pub fn run(ledger: &mut Ledger) -> Result<(), String> {
    #[expect(clippy::disallowed_methods, reason = "the limit is in wall-clock time")]
    let started = Instant::now();
    crate::run(&tiers::lints(), ledger)?;
    crate::run(&tiers::test(), ledger)?;
    let mut left_out = Vec::new();
    for part in in_turn(&said("git", &["rev-parse", "HEAD"]), &changed()) {
        if started.elapsed() + Duration::from_secs(60 * part.minutes) > LIMIT {
            left_out.push(part.name);
            continue;
        }
        eprintln!("==> part \"{}\" of the thorough tier: {}", part.name, part.about);
        crate::run(&tiers::thorough(Consent::Given, &[part.name]).unwrap_or_default(), ledger)?;
    }
    eprintln!("==> {} min in total", started.elapsed().as_secs() / 60);
    if !left_out.is_empty() {
        let names = left_out.join(" ");
        eprintln!(
            "==> not run because time was short: {names} (run: cargo xtask test --thorough \
             {names})"
        );
    }
    Ok(())
}

/// The paths that the last commit has changed.
fn changed() -> Vec<String> {
    said("git", &["diff", "--name-only", "HEAD~1", "HEAD"]).lines().map(str::to_owned).collect()
}

/// First the parts that watch what was changed; within each half the commit decides the order, so
/// that every part gets its turn, and a repeated commit runs the same parts.
fn in_turn(commit: &str, changed: &[String]) -> Vec<Part> {
    let number = commit.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let mut parts = tiers::parts();
    let first = number.unwrap_or(0) % parts.len() as u64;
    parts.rotate_left(first as usize);
    let is_urgent = |part: &Part| {
        changed.iter().any(|path| part.watches.iter().any(|watched| path.starts_with(watched)))
    };
    parts.sort_by_key(|part| !is_urgent(part));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_take_turns_and_what_was_changed_comes_first() {
        let names = |commit: &str, changed: &[&str]| -> Vec<&str> {
            let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
            in_turn(commit, &changed).iter().map(|part| part.name).collect()
        };
        let parts: Vec<&str> = tiers::parts().iter().map(|part| part.name).collect();
        assert_eq!(parts.len(), 11, "every line of tiers.txt is a part");
        assert_eq!(names("00000000", &[]), parts);
        assert_eq!(names("00000001ffff", &[]), [&parts[1..], &parts[..1]].concat());
        assert_eq!(names("00000000", &["crates/tcp/src/lib.rs"])[..2], ["grids", "tests"]);
        assert_eq!(names("no commit", &[]).len(), parts.len());
    }
}
