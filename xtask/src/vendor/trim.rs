//! Leaves out of a crate what does not compile here: its tests, examples and documents.
//!
//! The rules rely on rustfmt's layout and on nothing else, so that they stay simple: a block that
//! begins at the left margin ends with the first `}` there.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Trims the crate in a folder, and removes the paths in `without`.
pub fn crate_in(folder: &Path, without: &[PathBuf]) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_kept = matches!(name.as_str(), "src" | "build.rs" | "Cargo.toml" | "README.md")
            || ["LICENSE", "LICENCE", "AUTHORS"].iter().any(|start| name.starts_with(start));
        if !is_kept {
            remove(&entry.path())?;
        }
    }
    let manifest = folder.join("Cargo.toml");
    fs::write(&manifest, without_tests(&fs::read_to_string(&manifest)?))?;
    for path in without {
        remove(&folder.join(path))?;
    }
    sources_in(&folder.join("src"))
}

/// A manifest without test-only parts, and with warnings allowed, because they are not ours.
fn without_tests(manifest: &str) -> String {
    let mut text = String::new();
    let mut is_kept = true;
    for line in manifest.lines() {
        if line.starts_with('[') {
            let table = line.trim_start_matches('[');
            is_kept = !["test]", "bench]", "example]", "lints.", "profile."]
                .iter()
                .any(|start| table.starts_with(start))
                && !table.contains("dev-dependencies");
        }
        if is_kept {
            text += line;
            text.push('\n');
        }
    }
    text.trim_end().to_owned() + "\n\n[lints.rust]\nwarnings = \"allow\"\n"
}

fn sources_in(folder: &Path) -> io::Result<()> {
    let mut tests = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources_in(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path)?;
            let (text, modules) = without_test_modules(&source);
            fs::write(&path, text)?;
            let stem = path.with_extension("");
            let is_root = ["lib", "mod"].iter().any(|name| stem.ends_with(name));
            let children = if is_root { folder.to_owned() } else { stem };
            tests.extend(modules.iter().map(|module| children.join(module)));
        }
    }
    for module in tests {
        remove(&module)?;
        remove(&module.with_extension("rs"))?;
        // Git keeps no empty folder. It is one if there is nothing but tests.
        if let Some(folder) = module.parent() {
            let _ = fs::remove_dir(folder);
        }
    }
    // A folder of tests alone is empty now.
    fs::remove_dir(folder).or(Ok(()))
}

/// A source file without its test modules, and the names of those in separate files.
fn without_test_modules(source: &str) -> (String, Vec<&str>) {
    let mut text = String::new();
    let mut modules = Vec::new();
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        let is_test = line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test, ");
        let mut attributes = vec![line];
        while is_test && let Some(attribute) = lines.next_if(|line| line.starts_with("#[")) {
            attributes.push(attribute);
        }
        let module = lines.next_if(|line| is_test && module_name(line).is_some());
        match module.and_then(module_name) {
            Some((name, true)) => modules.push(name),
            Some((_, false)) => while lines.next().is_some_and(|line| line != "}") {},
            None => attributes.iter().for_each(|line| text.extend([line, "\n"])),
        }
    }
    (text.trim_end().to_owned() + "\n", modules)
}

/// The name of the module that a line begins, and whether it is a separate file.
fn module_name(line: &str) -> Option<(&str, bool)> {
    let (_, name) = line.split_once("mod ").filter(|(before, _)| {
        before.is_empty() || (before.starts_with("pub") && before.ends_with(' '))
    })?;
    let own_file = name.strip_suffix(';').map(|name| (name, true));
    own_file.or_else(|| name.strip_suffix(" {").map(|name| (name, false)))
}

fn remove(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => fs::remove_dir_all(path),
        false if path.exists() => fs::remove_file(path),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_leave_and_all_else_stays() {
        let source = include_str!("trim/tests.txt");
        let kept = "mod a;\n#[cfg(test)]\nuse b;\n#[cfg(not(test))]\nmod g;\n";
        assert_eq!(without_test_modules(source), (kept.to_owned(), vec!["f"]));
    }

    #[test]
    fn manifests_lose_what_tests_need() {
        let manifest = "[package]\nname = \"a\"\n[[test]]\nname = \"b\"\n[dependencies.c]\n\
            version = \"1\"\n[target.d.dev-dependencies.e]\nversion = \"1\"\n[lints.rust]\nf = 1\n";
        let kept = "[package]\nname = \"a\"\n[dependencies.c]\nversion = \"1\"\n\n\
            [lints.rust]\nwarnings = \"allow\"\n";
        assert_eq!(without_tests(manifest), kept);
    }
}
