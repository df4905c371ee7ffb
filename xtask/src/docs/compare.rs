//! Compares the output shown in a page with that of a command.
//!
//! A line that is `...` (in code `// ...`) stands for any number of lines, `...` within a line for any
//! text.

/// How exactly lines are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Exactly, except for trailing spaces.
    Letters,
    /// By words: numbers may differ, including intervals and absent numbers, and so may spaces,
    /// which depend on their widths.
    Words,
}

/// Why the shown output differs from the actual one.
#[derive(Debug, PartialEq, Eq)]
pub enum Difference {
    /// This shown line (from 0) has no counterpart; this is the nearest line.
    Missing(usize, Option<String>),
    /// All shown lines matched, but this one follows.
    More(String),
}

/// Whether `shown` matches `said`. An empty block matches everything.
pub fn compare(shown: &[String], said: &[String], exactness: Exactness) -> Result<(), Difference> {
    if shown.is_empty() {
        return Ok(());
    }
    // After each shown line, how many said lines may have been used up by it and all before it.
    let mut ends = vec![0];
    for (number, line) in shown.iter().enumerate() {
        let next: Vec<usize> = if is_elision(line) {
            (ends[0]..=said.len()).collect()
        } else {
            let fits = |end: &&usize| said.get(**end).is_some_and(|s| is_like(line, s, exactness));
            ends.iter().filter(fits).map(|end| end + 1).collect()
        };
        if next.is_empty() {
            return Err(Difference::Missing(number, nearest(line, &said[ends[0]..])));
        }
        ends = next;
    }
    match ends.last() {
        Some(&end) if end < said.len() => Err(Difference::More(said[end].clone())),
        _ => Ok(()),
    }
}

/// Whether a line stands for any number of lines.
pub fn is_elision(line: &str) -> bool {
    line.trim().trim_start_matches("// ") == ELISION
}

/// Whether `lines` stand in `text`, one after the other, except for elisions.
pub fn is_quoted(lines: &[String], text: &[String]) -> Result<(), Difference> {
    let anything = || std::iter::once(ELISION.to_owned());
    let shown: Vec<String> = anything().chain(lines.iter().cloned()).chain(anything()).collect();
    compare(&shown, text, Exactness::Letters).map_err(|difference| match difference {
        Difference::Missing(line, nearest) => Difference::Missing(line - 1, nearest),
        more @ Difference::More(_) => more,
    })
}

/// Whether a shown line may stand for one that was said.
pub fn is_like(shown: &str, said: &str, exactness: Exactness) -> bool {
    match exactness {
        Exactness::Letters => matches(shown.trim_end(), said.trim_end()),
        Exactness::Words => matches(&words(shown), &words(said)),
    }
}

/// `pattern` with each elision for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once(ELISION) else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    match rest.split_once(ELISION) {
        None => text.ends_with(rest),
        // The earliest match leaves most text for the rest of the pattern.
        Some((middle, _)) => text
            .find(middle)
            .is_some_and(|at| matches(&rest[middle.len()..], &text[at + middle.len()..])),
    }
}

/// A line with every number as `#` and every stretch of spaces as one. Signs belong to numbers, and so
/// do intervals and what stands for them in tables.
fn words(line: &str) -> String {
    let letters: Vec<char> = line.trim().replace(ELISION, "\u{2026}").chars().collect();
    let digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let mut text = String::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let signed = matches!(letter, '+' | '-')
            && digit(at + 1)
            && !text.ends_with(|before: char| before.is_alphanumeric() || before == '#');
        if signed || digit(at) {
            at += 1;
            while digit(at) || (matches!(letters.get(at), Some('.' | ',')) && digit(at + 1)) {
                at += 1;
            }
            text.push('#');
            continue;
        }
        if !(letter.is_whitespace() && text.ends_with(' ')) {
            text.push(if letter.is_whitespace() { ' ' } else { letter });
        }
        at += 1;
    }
    let text = text.replace('\u{2026}', ELISION).replace("[#, #]", "#");
    let is_figure = |word: &&str| matches!(*word, "-" | "constant");
    let words = text.split(' ').map(|word| if is_figure(&word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// The line that shares the longest beginning with `line`, if they share anything.
fn nearest(line: &str, said: &[String]) -> Option<String> {
    let common = |other: &str| {
        let pairs = line.trim().chars().zip(other.trim().chars());
        pairs.take_while(|(ours, theirs)| ours == theirs).count()
    };
    let best = said.iter().rev().max_by_key(|other| common(other))?;
    (common(best) > 0 || said.len() == 1).then(|| best.clone())
}

const ELISION: &str = "...";

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn exact(shown: &str, said: &str) -> Result<(), Difference> {
        compare(&lines(shown), &lines(said), Exactness::Letters)
    }

    #[test]
    fn equal_lines_are_equal_and_nothing_shown_claims_nothing() {
        assert_eq!(exact("a\n\nb", "a\n\nb  "), Ok(()));
        assert_eq!(exact("", "a"), Ok(()));
    }

    #[test]
    fn another_figure_is_a_difference_that_is_named() {
        let said = "cell  ms\n   0  12.4";
        let nearest = Some("   0  12.4".to_owned());
        assert_eq!(exact("cell  ms\n   0  12.5", said), Err(Difference::Missing(1, nearest)));
        assert_eq!(exact("cell  ms", said), Err(Difference::More("   0  12.4".to_owned())));
        assert_eq!(exact("cell  ms\n   0  12.4\nx", said), Err(Difference::Missing(2, None)));
    }

    #[test]
    fn elisions_stand_for_lines_and_for_text_within_one() {
        let said = "a\nb\nc\nb\nd";
        assert_eq!(exact("a\n...\nd", said), Ok(()));
        assert_eq!(exact("...\nb\nd", said), Ok(()), "the second b is the one before d");
        assert_eq!(exact("a\n...\nc\n...", said), Ok(()));
        let nearest = Some("d".to_owned());
        assert_eq!(exact("a\n...\nb\nc\nd", said), Err(Difference::Missing(4, nearest)));
        assert_eq!(exact("wrote ... of 3", "wrote /tmp/x of 3"), Ok(()));
        assert!(exact("wrote ... of 3", "wrote /tmp/x of 4").is_err());
        assert_eq!(exact("a ... b ... c", "a 1 b 2 b 3 c"), Ok(()));
    }

    #[test]
    fn words_leave_numbers_open_and_nothing_else() {
        let like = |shown, said| is_like(shown, said, Exactness::Words);
        assert!(like("rtt  12.5 ms  [-1.0, 2]", "rtt   1,000.25 ms  [+1, 22]"));
        assert!(!like("rtt 12.5 ms", "rtt 12.5 us"));
        assert!(!like("2 verified", "verified"));
        assert!(like("on 12 of ... cores", "on 1 of sixteen cores"));
        assert!(!is_like("rtt 12.5", "rtt 12.6", Exactness::Letters));
        assert!(like("0  quic  1.5  [1.2, 1.8]", "0  quic  -  constant"));
    }

    #[test]
    fn quotations_stand_together_but_for_elisions() {
        let text = lines("a\n  b\n  c\nd");
        assert_eq!(is_quoted(&lines("  b\n  c"), &text), Ok(()));
        assert_eq!(is_quoted(&lines("a\n  // ...\nd"), &text), Ok(()));
        assert!(is_quoted(&lines("a\n  c"), &text).is_err());
        assert!(matches!(is_quoted(&lines("e"), &text), Err(Difference::Missing(0, _))));
    }
}
