//! What is in every artefact of a target.

use std::fs;
use std::path::{Path, PathBuf};

use super::crates::Crates;
use super::pack::Tree;
use super::target::Target;
use crate::cargo::{printed, said};
use crate::files::told;

/// A program of a target, and what is packed with it.
pub struct Contents<'a> {
    pub target: &'a Target,
    pub version: &'a str,
    /// Seconds since 1970, of all files.
    pub time: u64,
    /// The same time, as RFC 3339 writes it.
    pub date: &'a str,
    pub root: &'a Path,
    pub program: Vec<u8>,
    pub pages: &'a Pages,
    pub crates: Crates,
    /// The licences of what is in the program.
    pub third_party: String,
}

/// What the program writes about itself.
pub struct Pages {
    /// `trackbed.1` and one page for each command.
    pub manual: Tree,
    pub bash: String,
    pub zsh: String,
    pub fish: String,
}

impl Pages {
    /// Runs the program, in a folder for its files.
    pub fn write(target: &Target, program: &Path, folder: &Path) -> Result<Pages, String> {
        let run = |words: &[&str]| {
            let command = target.command(program);
            let mut command = command.ok_or_else(|| {
                let processor = target.processor();
                format!(
                    "this machine cannot run a program for {processor}, which has to write the \
                     manual pages: install qemu-user, or add a --target for this machine"
                )
            })?;
            printed(command.args(words))
        };
        let manual = folder.join("man");
        let _ = fs::remove_dir_all(&manual);
        run(&["man", &manual.display().to_string(), "--quiet"])?;
        let mut pages = Tree::default();
        pages.copy("man1", &manual, false).map_err(told(manual.display()))?;
        Ok(Pages {
            manual: pages,
            bash: run(&["completions", "bash"])?,
            zsh: run(&["completions", "zsh"])?,
            fish: run(&["completions", "fish"])?,
        })
    }
}

impl Contents<'_> {
    /// `linux-x86_64` for example.
    pub fn platform(&self) -> String {
        format!("linux-{}", self.target.processor())
    }

    /// A file of the repository.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        fs::read(self.root.join(path)).map_err(told(path))
    }

    /// The licences, for a folder of documentation.
    pub fn licences(&self) -> Result<Tree, String> {
        let mut tree = Tree::default();
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            tree.file(name, self.read(name)?);
        }
        tree.file("THIRD-PARTY.txt", self.third_party.as_bytes());
        let shared = Path::new(said("rustc", &["--print", "sysroot"]).trim()).join("share/doc");
        // Rust's own distribution, and Debian's.
        for (name, library) in [
            ("RUST-STANDARD-LIBRARY.html", "rust/COPYRIGHT-library.html"),
            ("RUST-STANDARD-LIBRARY.txt", "libstd-rust-dev/copyright"),
        ] {
            if let Ok(text) = fs::read(shared.join(library)) {
                tree.file(name, text);
            }
        }
        Ok(tree)
    }

    /// The units for systemd.
    pub fn units(&self) -> PathBuf {
        self.root.join("contrib/systemd")
    }
}
