//! Copies a run directory from a store to this machine.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use object_store::{ObjectMeta, ObjectStoreExt as _};
use sha2::Digest as _;
use trackbed_core::text::hex;
use trackbed_outward::files::{self, Fresh};

use crate::hashing::Hashing;

use super::{PIECES, RUNS, Store, StoreError};

/// What was fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The number of objects.
    pub objects: usize,
    /// Their total size in bytes.
    pub bytes: u64,
    /// The names of the pieces of results, by folder.
    pub(crate) pieces: BTreeMap<PathBuf, Vec<String>>,
}

impl Store {
    /// Copies everything below this address to `directory`, which is created if it does not exist: a run
    /// directory, or the folders of shards. Pieces of results are joined into one file. Existing files with
    /// the same names are replaced; results only if all pieces match the hashes in their names.
    ///
    /// # Errors
    /// If there are no objects, the store cannot be read, a piece does not match its name, or files cannot be
    /// written.
    pub fn fetch(&self, directory: &Path) -> Result<Fetched, StoreError> {
        let all = self.list()?;
        if all.is_empty() {
            return Err(StoreError::Empty { address: self.address().to_owned() });
        }
        let mut fetched = Fetched::default();
        let mut results: BTreeMap<PathBuf, BufWriter<Fresh>> = BTreeMap::new();
        for object in &all {
            let parts = self.parts_of(&object.location);
            let Some(target) = target(directory, &parts) else { continue };
            match piece_of(&parts) {
                Some(name) => {
                    let folder = target.parent().and_then(Path::parent).unwrap_or(directory);
                    let path = folder.join(RUNS);
                    if !results.contains_key(&path) {
                        make_folder_of(&path)?;
                        let file = Fresh::begin(&path).map_err(StoreError::file(&path))?;
                        results.insert(path.clone(), BufWriter::new(file));
                    }
                    let file = results.get_mut(&path).expect("it was put there just now");
                    self.copy_piece(object, name, &path, file)?;
                    fetched.pieces.entry(folder.to_owned()).or_default().push(name.to_owned());
                }
                None => {
                    make_folder_of(&target)?;
                    let mut file = files::create(&target).map_err(StoreError::file(&target))?;
                    self.copy(object, &target, &mut file)?;
                }
            }
            fetched.objects += 1;
            fetched.bytes += object.size;
        }
        for (path, file) in results {
            let kept = file.into_inner().map_err(IntoInnerError::into_error).and_then(Fresh::keep);
            kept.map_err(StoreError::file(&path))?;
        }
        Ok(fetched)
    }

    /// Copies a piece of results, which must match the hash in its name.
    fn copy_piece(
        &self,
        object: &ObjectMeta,
        name: &str,
        path: &Path,
        file: &mut impl Write,
    ) -> Result<(), StoreError> {
        let mut hashing = Hashing::new(file);
        self.copy(object, path, &mut hashing)?;
        let (hash, last) = (hex(&hashing.hash.finalize()), hashing.last);
        let why = match (hash == name, last) {
            (true, b'\n') => return Ok(()),
            (true, _) => "its last line is incomplete",
            (false, _) => "its name is not the SHA-256 of its bytes",
        };
        let address = format!("{}/{}", self.address(), self.parts_of(&object.location).join("/"));
        Err(StoreError::Damaged { address, why: why.to_owned() })
    }

    /// Streams an object into `file`, which is at `path`.
    fn copy(
        &self,
        object: &ObjectMeta,
        path: &Path,
        file: &mut impl Write,
    ) -> Result<(), StoreError> {
        self.wait(async {
            let failed = |why| self.failed(&object.location, why);
            let mut stream =
                self.objects().get(&object.location).await.map_err(failed)?.into_stream();
            while let Some(bytes) = stream.next().await {
                let bytes = bytes.map_err(failed)?;
                file.write_all(&bytes).map_err(StoreError::file(path))?;
            }
            Ok(())
        })
    }
}

/// The path for the object with these name parts; `None` for names that no run directory has, and which could
/// lead out of the directory.
fn target(directory: &Path, parts: &[String]) -> Option<PathBuf> {
    let is_plain = |part: &String| {
        !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', '%', '\0', ':'])
    };
    let known = !parts.is_empty() && parts.iter().all(is_plain);
    known.then(|| parts.iter().fold(directory.to_owned(), |path, part| path.join(part)))
}

/// The name of a piece of results, without its extension.
fn piece_of(parts: &[String]) -> Option<&str> {
    let [.., folder, name] = parts else { return None };
    let name = name.strip_suffix(".jsonl")?;
    (folder == PIECES).then_some(name)
}

fn make_folder_of(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(StoreError::file(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn no_name_leads_out_of_the_directory() {
        let directory = Path::new("/results");
        let at = |text: &str| target(directory, &parts(text));
        assert_eq!(at("shard-1-of-2/run.json"), Some("/results/shard-1-of-2/run.json".into()));
        for hostile in ["../passwd", "a/../../b", "%2E%2E/b", ".lock", "", "a//b", "c:\\d"] {
            assert_eq!(at(hostile), None, "{hostile}");
        }
    }

    #[test]
    fn pieces_lie_in_their_folder() {
        assert_eq!(piece_of(&parts("runs/ab.jsonl")), Some("ab"));
        assert_eq!(piece_of(&parts("shard-1-of-2/runs/ab.jsonl")), Some("ab"));
        assert_eq!(piece_of(&parts("timelines/ab.jsonl")), None);
        assert_eq!(piece_of(&parts("runs.jsonl")), None);
    }
}
