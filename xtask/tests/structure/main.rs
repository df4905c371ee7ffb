//! Where the walls of the workspace stand: crates depend on lower floors only, and files of a crate do
//! not import each other in circles.

mod circles;
mod floors;
mod names;
mod tree;

use std::path::{Path, PathBuf};

/// The root of the workspace.
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

/// Circles of more than two files that are still there: crate, and their sizes. The list may only
/// become shorter.
const LEFT: &[(&str, &[usize])] = &[("substrate", &[5, 5])];

/// Two files that need each other can be read together. A larger circle has no first page.
#[test]
fn no_more_than_two_files_import_each_other() {
    let mut wrong = Vec::new();
    for name in crates() {
        let source = root().join("crates").join(&name).join("src");
        let mut circles = circles::of(&names::imports(&tree::read(&source)));
        circles.retain(|circle| circle.len() > 2);
        let sizes: Vec<usize> = circles.iter().map(Vec::len).collect();
        let left = LEFT.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, sizes)| sizes);
        if sizes != left {
            let shown = |circle: &Vec<PathBuf>| -> String {
                let files = circle.iter().map(|file| file.strip_prefix(&source).unwrap_or(file));
                files.map(|file| format!(" {}", file.display())).collect()
            };
            let list: Vec<String> = circles.iter().map(shown).collect();
            wrong.push(format!("{name} {sizes:?}, and not {left:?}:\n{}", list.join("\n")));
        }
    }
    assert!(
        wrong.is_empty(),
        "circles of imports are of other sizes than LEFT says:\n{}",
        wrong.join("\n")
    );
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
