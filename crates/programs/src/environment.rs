//! The environment of third-party programs.

use std::env;
use std::ffi::OsString;

use trackbed_linux::unprivileged::User;

/// The environment variables of this process that third-party programs receive. Others may be secrets.
/// Programs of another `user` do not receive the paths of this one.
pub fn environment(user: Option<User>) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &str| is_plain(name) && (user.is_none() || !OF_ONE_USER.contains(&name));
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)).collect()
}

fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name) || name.starts_with("LC_")
}

const PLAIN: [&str; 8] =
    ["PATH", "HOME", "LANG", "TMPDIR", "TERM", "TZ", "VIRTUAL_ENV", "LD_LIBRARY_PATH"];

/// Folders that another user may not enter.
const OF_ONE_USER: [&str; 2] = ["HOME", "TMPDIR"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_user_gets_no_folders_of_ours() {
        let has = |user, name: &str| environment(user).iter().any(|(other, _)| other == name);
        assert!(has(None, "PATH") && has(Some(User::OVERFLOW), "PATH"));
        assert!(!has(Some(User::OVERFLOW), "HOME") && !has(Some(User::OVERFLOW), "TMPDIR"));
    }

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
