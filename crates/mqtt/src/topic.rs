//! Topic names and filters (section 4.7 of both versions).

use crate::reason::{Fault, Reason};

/// Checks a topic name: not empty, no wildcards, no zero characters.
///
/// # Errors
/// [`Reason::TOPIC_NAME_INVALID`].
pub fn check_name(name: &str) -> Result<(), Fault> {
    let invalid = |why| Err(Fault::new(Reason::TOPIC_NAME_INVALID, why));
    match name {
        "" => invalid("the topic is empty"),
        _ if name.contains(['+', '#']) => invalid("a topic name contains wildcards"),
        _ if name.contains('\0') => invalid("a topic name contains a null character"),
        _ => Ok(()),
    }
}

/// Checks a filter: not empty; `+` fills a level, `#` the last level.
///
/// # Errors
/// [`Reason::TOPIC_FILTER_INVALID`].
pub fn check_filter(filter: &str) -> Result<(), Fault> {
    let invalid = |why| Err(Fault::new(Reason::TOPIC_FILTER_INVALID, why));
    if filter.is_empty() {
        return invalid("the topic filter is empty");
    }
    if filter.contains('\0') {
        return invalid("a topic filter contains a null character");
    }
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        match level {
            "+" => {}
            "#" if levels.peek().is_none() => {}
            _ if level.contains(['+', '#']) => {
                return invalid(
                    "a wildcard must fill a whole level, and `#` must be the last level",
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// A filter taken apart: the name of the group that shares it (version 5, section 4.8.2), and the
/// filter itself.
///
/// # Errors
/// [`Reason::TOPIC_FILTER_INVALID`].
pub(crate) fn parse_filter(filter: &str) -> Result<(Option<&str>, &str), Fault> {
    let Some(shared) = filter.strip_prefix("$share/") else {
        check_filter(filter)?;
        return Ok((None, filter));
    };
    let why = "a shared subscription must be `$share/`, a name, `/` and a filter";
    let invalid = Fault::new(Reason::TOPIC_FILTER_INVALID, why);
    let (group, filter) = split_group(shared).ok_or(invalid)?;
    check_filter(filter)?;
    Ok((Some(group), filter))
}

/// What follows `$share/`: a name and a filter.
pub(crate) fn split_group(shared: &str) -> Option<(&str, &str)> {
    shared.split_once('/').filter(|(group, _)| !group.is_empty() && !group.contains(['+', '#']))
}

pub(crate) fn levels(topic: &str) -> usize {
    topic.split('/').count()
}

/// Whether `filter` matches `name`, both of which are valid. Wildcards do not match a first level
/// that begins with `$`.
pub fn matches(filter: &str, name: &str) -> bool {
    if name.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let (mut filter, mut name) = (filter.split('/'), name.split('/'));
    loop {
        match (filter.next(), name.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some("+"), Some(_)) => {}
            (Some(wanted), Some(level)) if wanted == level => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of section 4.7: a filter, a name, and whether it matches.
    #[test]
    fn the_examples_of_the_specification_hold() {
        for line in include_str!("topic.txt").lines() {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(matches(words[0], words[1]), words[2] == "yes", "{line}");
        }
        for valid in ["#", "+", "+/tennis/#", "sport/+/player1", "/", "a//b", "a b"] {
            assert_eq!(check_filter(valid), Ok(()), "{valid}");
        }
        for invalid in ["", "sport/tennis#", "sport/tennis/#/ranking", "sport+", "a\0"] {
            assert!(check_filter(invalid).is_err(), "{invalid}");
        }
        assert!(check_name("a/+").is_err() && check_name("").is_err() && check_name("/").is_ok());
    }

    #[test]
    fn shared_filters_have_a_group() {
        assert_eq!(parse_filter("$share/g/a/#"), Ok((Some("g"), "a/#")));
        assert_eq!(parse_filter("a/#"), Ok((None, "a/#")));
        for invalid in ["$share/g", "$share//a", "$share/+/a", "$share/g/"] {
            assert!(parse_filter(invalid).is_err(), "{invalid}");
        }
    }
}
