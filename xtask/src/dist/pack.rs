//! Trees of files as archives. Their bytes depend only on the files and one time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Cursor, Write as _};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Files by path, in the order of their paths.
#[derive(Clone, Default)]
pub struct Tree(BTreeMap<String, Node>);

#[derive(Clone)]
enum Node {
    File { mode: u32, bytes: Vec<u8> },
    Folder { mode: u32 },
}

impl Tree {
    pub fn file(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), Node::File { mode: 0o644, bytes: bytes.into() });
    }

    /// Adds an executable file.
    pub fn program(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), Node::File { mode: 0o755, bytes: bytes.into() });
    }

    /// Adds a folder; those above a file need no entry.
    pub fn folder(&mut self, path: impl Into<String>, mode: u32) {
        self.0.insert(path.into(), Node::Folder { mode });
    }

    /// Adds the files below a folder of the disk, without its subfolders if `deep` is false.
    pub fn copy(&mut self, path: &str, from: &Path, deep: bool) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let (name, from) = entry.map(|entry| (entry.file_name(), entry.path()))?;
            let path = format!("{path}/{}", name.to_string_lossy());
            if from.is_file() {
                self.file(path, fs::read(&from)?);
            } else if deep && name != "__pycache__" {
                self.copy(&path, &from, deep)?;
            }
        }
        Ok(())
    }

    /// Adds the files of another tree, below a path.
    pub fn graft(&mut self, path: &str, other: &Tree) {
        let nodes = other.0.iter().map(|(below, node)| (format!("{path}/{below}"), node.clone()));
        self.0.extend(nodes);
    }

    /// The files and their bytes.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().filter_map(|(path, node)| match node {
            Node::File { bytes, .. } => Some((path.as_str(), bytes.as_slice())),
            Node::Folder { .. } => None,
        })
    }

    /// As a tar archive: owned by root, all of one time.
    pub fn tar(&self, time: u64) -> io::Result<Vec<u8>> {
        let mut nodes: BTreeMap<&str, &Node> = BTreeMap::new();
        for (path, node) in &self.0 {
            let above = path.match_indices('/').map(|(at, _)| (&path[..at], &PARENT));
            for (path, parent) in above {
                nodes.entry(path).or_insert(parent);
            }
            nodes.insert(path, node);
        }
        let mut archive = Builder::new(Vec::new());
        for (path, node) in nodes {
            let (mode, kind, path, bytes) = match node {
                Node::File { mode, bytes } => {
                    (*mode, EntryType::Regular, path.to_owned(), &bytes[..])
                }
                Node::Folder { mode } => (*mode, EntryType::Directory, format!("{path}/"), &[][..]),
            };
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_mode(mode);
            header.set_uid(0);
            header.set_gid(0);
            header.set_mtime(time);
            header.set_size(bytes.len() as u64);
            archive.append_data(&mut header, path, bytes)?;
        }
        archive.into_inner()
    }

    /// As a zip archive, its times the earliest that the format has.
    pub fn zip(&self) -> io::Result<Vec<u8>> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, node) in &self.0 {
            if let Node::File { mode, bytes } = node {
                let time = zip::DateTime::default();
                let options = SimpleFileOptions::default().last_modified_time(time);
                archive.start_file(path.as_str(), options.unix_permissions(0o100_000 | *mode))?;
                archive.write_all(bytes)?;
            }
        }
        Ok(archive.finish()?.into_inner())
    }
}

const PARENT: Node = Node::Folder { mode: 0o755 };

/// Compressed by gzip, without name and time.
pub fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = GzBuilder::new().write(Vec::new(), Compression::best());
    writer.write_all(bytes)?;
    writer.finish()
}

/// An archive of `ar`, which Debian's packages are.
pub fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let header = format!("{name:<16}{time:<12}0     0     100644  {:<10}`\n", bytes.len());
        archive.extend(header.into_bytes());
        archive.extend(bytes);
        // Members begin at even positions.
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// The SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The same files on disk, written in another order and at another time.
    fn packed(order: &[&str]) -> [Vec<u8>; 4] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        fs::create_dir(folder.join("sub")).unwrap();
        for name in order {
            fs::write(folder.join(name), name).unwrap();
        }
        let mut tree = Tree::default();
        tree.program("bin/tool", "#!\n");
        tree.copy("share", folder, true).unwrap();
        tree.folder("tmp", 0o1777);
        let tar = tree.tar(1_700_000_000).unwrap();
        let control = gzip(&tar).unwrap();
        let deb = ar(&[("debian-binary", b"2.0\n".to_vec()), ("odd", b"abc".to_vec())], 9);
        [tree.zip().unwrap(), tar, control, deb]
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        assert_eq!(packed(&["b", "a", "sub/c"]), packed(&["sub/c", "a", "b"]));
    }

    #[test]
    fn tar_lists_what_was_packed() {
        let [_, tar, ..] = packed(&["b", "a", "sub/c"]);
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("list.tar");
        fs::write(&path, tar).unwrap();
        let list =
            Command::new("tar").args(["--utc", "--numeric-owner", "-tvf"]).arg(&path).output();
        let list = String::from_utf8(list.unwrap().stdout).unwrap();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = list.lines().map(words).collect();
        let names: Vec<&str> = lines.iter().map(|line| line[5].as_str()).collect();
        let wanted = "bin/ bin/tool share/ share/a share/b share/sub/ share/sub/c tmp/";
        assert_eq!(names.join(" "), wanted);
        assert_eq!(lines[1][..5], ["-rwxr-xr-x", "0/0", "3", "2023-11-14", "22:13"]);
        assert_eq!(lines[7][0], "drwxrwxrwt");
    }
}
