//! Words that texts do without: coined ones, and what is no idiom of the field.

use std::fs;
use std::path::{Path, PathBuf};

/// Each with what to write in its place.
const TICS: [(&str, &str); 17] = [
    ("misfortune", "losses, seeds"),
    ("obituar", "exit reason"),
    ("so-manieth", "the number itself"),
    ("told from", "differs significantly from"),
    ("programs of others", "third-party programs"),
    ("servers of others", "third-party servers"),
    ("clients of others", "third-party clients"),
    ("whoever", "the user, the caller, a process"),
    ("somebody", "a user, another process"),
    ("anybody", "anyone"),
    ("everybody", "everyone"),
    ("way of sending", "protocol"),
    ("for want of", "because there is no"),
    ("comes to the same", "is the same"),
    ("has its boundary", "holds for"),
    ("lies between them", "is the difference"),
    ("unless it is said", "by default"),
];

/// The lines of `file` with such words.
fn tics(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        for (word, instead) in TICS {
            if line.contains(word) {
                let place = format!("{}:{}", file.display(), number + 1);
                found.push(format!("{place}: \"{word}\"; write {instead}"));
            }
        }
    }
    found
}

/// Every text below `folder` that users or engineers read.
fn texts(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "third_party", ".git"].contains(&name.as_str()) {
            texts(&path, files);
        } else if ["rs", "md", "toml", "txt"]
            .iter()
            .any(|end| path.extension().is_some_and(|e| e == *end))
        {
            files.push(path);
        }
    }
}

#[test]
fn texts_do_without_coined_words() {
    let root = crate::root();
    let mut files = Vec::new();
    texts(&root, &mut files);
    assert!(files.len() > 500, "the texts are not found below {}", root.display());
    let own = Path::new(file!()).file_name().expect("a file");
    files.retain(|file| file.file_name() != Some(own));
    files.sort();
    let found: Vec<String> = files.iter().flat_map(|file| tics(file)).collect();
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}
