//! Run directories in object stores.

#[cfg(feature = "store")]
mod with_store;
#[cfg(not(feature = "store"))]
mod without_store;

#[cfg(feature = "store")]
pub use with_store::{Remote, fetch};
#[cfg(not(feature = "store"))]
pub use without_store::{Remote, fetch};

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::output::is_url;

/// Creates a temporary folder for this process. The process number alone does not make the name unique:
/// containers that share a folder for temporary files often have equal process numbers.
///
/// # Errors
/// If it cannot be created.
pub fn temporary(purpose: &str) -> anyhow::Result<PathBuf> {
    let (all, process) = (std::env::temp_dir(), std::process::id());
    let mut number = 0;
    loop {
        let path = all.join(format!("trackbed-{purpose}-{process}-{number}"));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(why) => {
                let folder = path.display();
                let remedy = "set TMPDIR to a writable folder with free space";
                return Err(why).with_context(|| format!("cannot create {folder}; {remedy}"));
            }
        }
    }
}

/// The URL that the user gave instead of a path.
pub fn address(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| is_url(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process with the same number in another container, or a killed one, may have created it.
    #[test]
    fn an_existing_folder_is_not_used() {
        let folders = [(); 3].map(|()| temporary("test").unwrap());
        fs::write(folders[0].join("results"), "from elsewhere").unwrap();
        assert!(folders[0] != folders[1] && folders[1] != folders[2] && folders[0] != folders[2]);
        assert_eq!(fs::read_dir(&folders[1]).unwrap().count(), 0);
        folders.iter().for_each(|folder| fs::remove_dir_all(folder).unwrap());
    }
}
