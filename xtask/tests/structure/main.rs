//! The structure of the workspace: crates depend only on lower floors, and files of a crate do not
//! import each other in circles.

mod api;
mod circles;
mod floors;
mod names;
mod sizes;
mod sources;
mod tree;
mod words;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// The names of the folders below `crates`, in order.
fn crates() -> Vec<String> {
    let entries = root().join("crates").read_dir().expect("the crates");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    names
}

/// The files below a folder, without what builds leave and what others wrote.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_own =
        |path: &PathBuf| !["target", "third_party", ".git"].iter().any(|name| path.ends_with(name));
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.filter(is_own).flat_map(below).collect()
}

/// Two files that need each other can be read together. A larger circle has no starting point.
#[test]
fn no_more_than_two_files_import_each_other() {
    let mut wrong = String::new();
    for name in crates() {
        let source = root().join("crates").join(&name).join("src");
        let circles = circles::of(&names::imports(&tree::read(&source)));
        for circle in circles.iter().filter(|circle| circle.len() > 2) {
            let files = circle.iter().map(|file| file.strip_prefix(&source).unwrap_or(file));
            let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
            wrong += &format!("{name}: {}\n", files.join(" "));
        }
    }
    assert!(wrong.is_empty(), "these files import each other in a circle:\n{wrong}");
}

/// ARCHITECTURE.md lists each crate with its floor, and no crate depends on its own floor or a higher one.
#[test]
fn crates_stand_on_lower_floors() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let floors = floors::of_table(&text);
    for name in crates() {
        let own =
            floors.get(&name).unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for {name}"));
        let manifest = root().join("crates").join(&name).join("Cargo.toml");
        for other in floors::dependencies(&std::fs::read_to_string(manifest).expect("a manifest")) {
            let below = floors.get(&other).unwrap_or_else(|| panic!("no row for {other}"));
            assert!(below < own, "{name} (floor {own}) depends on {other} (floor {below})");
        }
    }
    assert_eq!(floors.len(), crates().len(), "ARCHITECTURE.md lists a crate that is not there");
}
