//! Words that texts do without: coined ones, and what is no idiom of the field.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

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

#[test]
fn texts_do_without_coined_words() {
    let root = crate::root();
    let mut files = crate::files(&root);
    let is_text = |end: &OsStr| ["rs", "md", "toml", "txt"].iter().any(|text| end == *text);
    files.retain(|path| path.extension().is_some_and(is_text));
    assert!(files.len() > 500, "the texts are not found below {}", root.display());
    let own = Path::new(file!()).file_name().expect("a file");
    files.retain(|file| file.file_name() != Some(own));
    files.sort();
    let found: Vec<String> = files.iter().flat_map(|file| tics(file)).collect();
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}
