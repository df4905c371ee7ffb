//! The environment of third-party programs.

use std::env;
use std::ffi::OsString;

/// The environment variables of this process that third-party programs receive. Others may be
/// secrets.
pub fn environment() -> Vec<(OsString, OsString)> {
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_plain)).collect()
}

fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name) || name.starts_with("LC_")
}

const PLAIN: [&str; 8] =
    ["PATH", "HOME", "LANG", "TMPDIR", "TERM", "TZ", "VIRTUAL_ENV", "LD_LIBRARY_PATH"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_party_programs_get_no_secrets() {
        for name in ["PATH", "LC_ALL", "LANG", "VIRTUAL_ENV"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
