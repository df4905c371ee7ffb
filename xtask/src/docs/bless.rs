//! The new contents of outdated blocks: as many lines, at the same places.

use super::compare::{Exactness, is_elision, is_like};

/// As many lines of `said` as `shown` has between its elisions: the first ones before the first,
/// the last ones after the last, and in between those that begin like the old ones, except for
/// numbers. None if no such lines are found; then edit the page by hand.
pub fn fit(shown: &[String], said: &[String]) -> Option<Vec<String>> {
    let pieces: Vec<&[String]> = shown.split(|line| is_elision(line)).collect();
    let [head, middle @ .., tail] = pieces.as_slice() else { return Some(said.to_vec()) };
    if head.len() + tail.len() > said.len() {
        return None;
    }
    let mut fitted = said[..head.len()].to_vec();
    let mut rest = &said[head.len()..said.len() - tail.len()];
    for piece in middle {
        let Some(first) = piece.first() else { continue };
        let start = rest.iter().position(|line| is_like(first, line, Exactness::Words))?;
        let end = (start + piece.len()).min(rest.len());
        fitted.push(elision(shown));
        fitted.extend_from_slice(&rest[start..end]);
        rest = &rest[end..];
    }
    fitted.push(elision(shown));
    fitted.extend_from_slice(&said[said.len() - tail.len()..]);
    Some(fitted)
}

/// The page with other lines in some places, which are given in the page's order, and identified by
/// their line numbers (from 0).
pub fn replace(page: &str, places: &[(std::ops::Range<usize>, Vec<String>)]) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let (mut replaced, mut at) = (Vec::new(), 0);
    for (range, with) in places {
        replaced.extend(&lines[at..range.start]);
        replaced.extend(with.iter().map(|line| line.trim_end()));
        at = range.end;
    }
    replaced.extend(&lines[at..]);
    replaced.iter().map(|line| format!("{line}\n")).collect()
}

fn elision(shown: &[String]) -> String {
    let line = shown.iter().find(|line| is_elision(line));
    line.cloned().unwrap_or_else(|| "...".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn elisions_stay_where_they_were() {
        let said = lines("title\n\nhead\n1 a 10\n2 b 20\n3 c 30\nend");
        let fitted = |shown: &str| fit(&lines(shown), &said).map(|lines| lines.join("\n"));
        assert_eq!(fitted("old\n...").as_deref(), Some("title\n..."));
        assert_eq!(fitted("...\nold").as_deref(), Some("...\nend"));
        assert_eq!(fitted("x\n...\n2 b 19\n...").as_deref(), Some("title\n...\n2 b 20\n..."));
        assert_eq!(fitted("old\nlines").as_deref(), Some(said.join("\n").as_str()));
        assert_eq!(fitted("x\n...\n2 z 19\n..."), None, "this line no longer exists");
    }

    #[test]
    fn only_the_named_lines_of_a_page_change() {
        let page = "a\nb\nc\nd\n";
        let places = [(1..2, lines("B1\nB2")), (3..3, lines("before d"))];
        assert_eq!(replace(page, &places), "a\nB1\nB2\nc\nbefore d\nd\n");
        assert_eq!(replace(page, &[]), page);
    }
}
