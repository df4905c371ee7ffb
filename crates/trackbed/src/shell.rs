//! Quoting for shells.

/// A word for a POSIX shell: quoted if the shell would split or expand it, or if a program would
/// take it for an option.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_or_expand_them() {
        for (text, expected) in [
            ("trackbed-out/vru", "trackbed-out/vru"),
            ("--set", "--set"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
