//! Sorts names that contain numbers.

use std::cmp::Ordering;

/// Compares names so that `frame2` comes before `frame10`: consecutive digits are one number. Names
/// that differ only in leading zeros are compared as text.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        match (left.chars().next(), right.chars().next()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let ((first, left_rest), (second, right_rest)) = (number(left), number(right));
                // Without leading zeros, the longer number is the larger one.
                match first.len().cmp(&second.len()).then_with(|| first.cmp(second)) {
                    Ordering::Equal => (left, right) = (left_rest, right_rest),
                    unequal => return unequal,
                }
            }
            (Some(x), Some(y)) if x == y => {
                (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
            }
            (None, None) => return a.cmp(b),
            (x, y) => return x.cmp(&y),
        }
    }
}

/// The leading digits without leading zeros, and the rest.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let sorted = ["000001.jpg", "1.jpg", "2.jpg", "10.jpg", "a", "a1b2", "a1b10", "a02", "ä"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        let huge = "9".repeat(400);
        assert_eq!(compare(&huge, "1"), Ordering::Greater);
    }
}
