//! From a store to this machine.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use object_store::{ObjectMeta, ObjectStoreExt as _};
use sha2::{Digest as _, Sha256};
use trackbed_outward::files::{self, Fresh};

use crate::{PIECES, RUNS_FILE, Store, StoreError};

/// What was fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Objects.
    pub objects: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// The names of the pieces of results, by the folder in which they are.
    pub(crate) pieces: BTreeMap<PathBuf, Vec<String>>,
}

impl Store {
    /// Copies everything below this place into `directory`, which is made if it is not there: a run
    /// directory, or the folders of shards. Pieces of results become one file. What is there under the same
    /// names is replaced; results only when all of their pieces are what their names say.
    ///
    /// # Errors
    /// If there is nothing, the store does not give it, a piece is not what its name says, or files cannot
    /// be written.
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
                    let path = folder.join(RUNS_FILE);
                    if !results.contains_key(&path) {
                        make_folder_of(&path)?;
                        let file = Fresh::begin(&path).map_err(StoreError::file(&path))?;
                        results.insert(path.clone(), BufWriter::new(file));
                    }
                    let file = results.get_mut(&path).expect("it was put there just now");
                    self.copy_piece(object, name, &path, file)?;
                    let pieces = fetched.pieces.entry(folder.to_owned()).or_default();
                    pieces.push(name.to_owned());
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

    /// A piece of results, which must be what its name says.
    fn copy_piece(
        &self,
        object: &ObjectMeta,
        name: &str,
        path: &Path,
        file: &mut impl Write,
    ) -> Result<(), StoreError> {
        let mut hashing = Hashing { file, hash: Sha256::new(), last: b'\n' };
        self.copy(object, path, &mut hashing)?;
        let (hash, last) = (hex(&hashing.hash.finalize()), hashing.last);
        let why = match (hash == name, last) {
            (true, b'\n') => return Ok(()),
            (true, _) => "its last line has no end",
            (false, _) => "its bytes are not those that its name is the SHA-256 of",
        };
        let address = format!("{}/{}", self.address(), self.parts_of(&object.location).join("/"));
        Err(StoreError::Damaged { address, why: why.to_owned() })
    }

    /// The bytes of an object into `file`, which is at `path`, as they come.
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

/// Where the object called by these parts goes; `None` for names that no directory of ours has, of which
/// one could lead out of it.
fn target(directory: &Path, parts: &[String]) -> Option<PathBuf> {
    let is_plain = |part: &String| {
        !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', '%', '\0', ':'])
    };
    let known = !parts.is_empty() && parts.iter().all(is_plain);
    known.then(|| parts.iter().fold(directory.to_owned(), |path, part| path.join(part)))
}

/// The name of a piece of results, without its end.
fn piece_of(parts: &[String]) -> Option<&str> {
    let [.., folder, name] = parts else { return None };
    let name = name.strip_suffix(".jsonl")?;
    (folder == PIECES).then_some(name)
}

fn make_folder_of(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(StoreError::file(folder))
}

/// Writes, and knows the hash of what it wrote.
struct Hashing<'a, W> {
    file: &'a mut W,
    hash: Sha256,
    last: u8,
}

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.last = bytes[..written].last().copied().unwrap_or(self.last);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
