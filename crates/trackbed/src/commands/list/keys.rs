//! `trackbed list keys`

use trackbed_scenario::{self as scenario, Key};

/// The keys of a table, those below a key, or those with a word in their paths; all without one.
pub fn text(of: Option<&str>) -> anyhow::Result<String> {
    let keys = scenario::reference();
    let Some(of) = of else { return Ok(write(&keys)) };
    let wanted = of.trim().to_lowercase().replace('_', "-");
    let (path, note) = as_of_link(&wanted);
    let is_below = |key: &&Key| {
        let rest = key.path.strip_prefix(&path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let has_word = |key: &&Key| key.path.split('.').any(|word| word == path);
    let mut found: Vec<Key> = keys.iter().filter(is_below).cloned().collect();
    if found.is_empty() {
        found = keys.iter().filter(has_word).cloned().collect();
    }
    if found.is_empty() {
        let help = match scenario::nearest_key(&wanted) {
            Some(near) => format!("did you mean {near}?"),
            None => "trackbed list keys shows all of them".to_owned(),
        };
        anyhow::bail!("there is no key \"{of}\"\n  help: {help}");
    }
    Ok(format!("{note}{}", write(&found)))
}

/// `link.up.loss`, `access.loss` and the like are keys of `[link]`, which are listed once.
fn as_of_link(path: &str) -> (String, String) {
    for table in
        ["link.up", "link.down", "access.up", "access.down", "second-link.up", "second-link.down"]
            .into_iter()
            .chain(["access", "second-link"])
    {
        let rest = path.strip_prefix(table).filter(|rest| rest.is_empty() || rest.starts_with('.'));
        if let Some(rest) = rest {
            return (format!("link{rest}"), format!("[{table}] takes the keys of [link].\n\n"));
        }
    }
    (path.to_owned(), String::new())
}

/// Two or three lines for each key, no longer than a terminal of 100 characters.
fn write(keys: &[Key]) -> String {
    let mut text = String::new();
    let mut group = None;
    for key in keys {
        if group != Some(&key.group) {
            let gap = if group.is_some() { "\n" } else { "" };
            let title = if key.group.is_empty() { "scenario" } else { &key.group };
            text.push_str(&format!("{gap}{title}\n"));
            group = Some(&key.group);
        }
        let default = match &key.default {
            Some(default) => format!("  (default: {default})"),
            None if key.required => "  (required)".to_owned(),
            None => String::new(),
        };
        let written = format!("{} = {}{default}", key.path, key.example.replace(" or ", " | "));
        text.push_str(&wrapped(&written, 2, 8));
        let kind = key.group.strip_prefix("workload: ").map(|kind| format!("{kind}: "));
        let help = kind.and_then(|kind| key.help.strip_prefix(&kind)).unwrap_or(&key.help);
        text.push_str(&wrapped(help, 6, 6));
    }
    text
}

/// The words of `text` in lines; the first is indented by `first`, the others by `rest`.
fn wrapped(text: &str, first: usize, rest: usize) -> String {
    let mut lines = vec![" ".repeat(first)];
    for word in text.split_inclusive(' ') {
        let line = lines.last_mut().expect("there is one from the beginning");
        if line.chars().count() + word.trim_end().chars().count() > WIDTH && !line.trim().is_empty()
        {
            lines.push(format!("{}{word}", " ".repeat(rest)));
        } else {
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_fit_a_terminal_and_stand_below_their_tables() {
        let text = text(None).unwrap();
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH || !line.trim().contains(' '), "{line}");
        }
        assert!(text.starts_with("scenario\n  name = "), "{text}");
        assert!(text.contains("\nlink\n  link.rate = \"50 Mbit/s\""), "{text}");
        assert!(text.contains("\nworkload: bulk\n"), "{text}");
    }

    #[test]
    fn parts_are_found_by_table_key_or_word() {
        let of = |word: &str| text(Some(word)).unwrap();
        assert!(of("workload.phones").contains("workload.phones = "));
        assert!(
            of("link.loss")
                .lines()
                .filter(|l| l.starts_with("  link"))
                .all(|l| l.contains(".loss"))
        );
        assert!(of("phones").contains("workload.phones = "));
        assert!(
            of("link.up.loss")
                .starts_with("[link.up] takes the keys of [link].\n\nlink\n  link.loss = ")
        );
        assert!(of("initial_window").contains("initial-window = "));
    }
}
