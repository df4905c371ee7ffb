//! Strongly connected components of a graph of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Which file imports which others.
pub type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The sets of two or more files each of which reaches all others of its set, largest first.
pub fn of(imports: &Imports) -> Vec<Vec<PathBuf>> {
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        imports.keys().map(|file| (file, reachable(imports, file))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for (&file, there) in &reach {
        if !there.contains(file) || !seen.insert(file) {
            continue;
        }
        let back = |other: &&PathBuf| reach.get(*other).is_some_and(|set| set.contains(file));
        let circle: Vec<PathBuf> = there.iter().copied().filter(back).cloned().collect();
        seen.extend(there.iter().copied().filter(back));
        circles.push(circle);
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

fn reachable<'a>(imports: &'a Imports, from: &PathBuf) -> BTreeSet<&'a PathBuf> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&PathBuf> = imports.get(from).into_iter().flatten().collect();
    while let Some(file) = next.pop() {
        if found.insert(file) {
            next.extend(imports.get(file).into_iter().flatten());
        }
    }
    found
}
