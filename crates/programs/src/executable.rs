//! Finds programs, and names the packages of missing ones.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A program that is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not installed\n  help: {}", .names.join(" or "), self.remedy())]
pub struct Missing {
    /// Its names.
    pub names: Vec<String>,
    /// The Debian package that contains it, if known.
    pub package: Option<&'static str>,
}

impl Missing {
    fn remedy(&self) -> String {
        match self.package {
            Some(package) => format!("apt install {package}"),
            None => match self.names.iter().find_map(|name| name.strip_prefix("trackbed-")) {
                Some(stack) => {
                    format!("in Trackbed's sources: sh contrib/stacks/install.sh {stack}")
                }
                None => "install it, or write its path instead of its name".to_owned(),
            },
        }
    }
}

/// Finds the first of `names` that exists, in the folders of `PATH` and in those for
/// administrators, where Debian installs servers. A name with a slash is a path.
///
/// # Errors
/// If none of them exists.
pub fn find_executable(names: &[&str], package: Option<&'static str>) -> Result<PathBuf, Missing> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = names.iter().find_map(|name| look_for(name, &path));
    found.ok_or_else(|| Missing {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        package: package.or_else(|| names.iter().find_map(|name| package_of(name))),
    })
}

fn look_for(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    let folders = env::split_paths(path).chain(ADMINISTRATORS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// `PATH` of ordinary users may lack these.
const ADMINISTRATORS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The Debian package of the program `executable`, if it is commonly used to test servers.
pub fn package_of(executable: &str) -> Option<&'static str> {
    let mut packages = PACKAGES.lines().filter_map(|line| line.split_once(' '));
    let has = |names: &str| names.split(' ').any(|name| name == executable);
    packages.find(|(_, names)| has(names)).map(|(package, _)| package)
}

/// A package and its programs on each line.
const PACKAGES: &str = include_str!("packages.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path_and_nothing_else_is() {
        let shell = find_executable(&["no-such-shell", "sh"], None).unwrap();
        assert!(shell.is_absolute());
        assert_eq!(find_executable(&[shell.to_str().unwrap()], None), Ok(shell));
        for not_a_program in ["/etc/passwd", "/etc", "no-such-program"] {
            assert!(find_executable(&[not_a_program], None).is_err(), "{not_a_program}");
        }
    }

    #[test]
    fn who_misses_a_program_learns_where_it_is_from() {
        let words = |names: &[&str], package| {
            Missing { names: names.iter().map(|n| n.to_string()).collect(), package }.to_string()
        };
        let text = words(&["nghttpd"], Some("nghttp2-server"));
        assert_eq!(text, "nghttpd is not installed\n  help: apt install nghttp2-server");
        assert!(words(&["mine"], None).contains("path"));
        assert_eq!(package_of("h2load"), Some("nghttp2-client"));
    }
}
