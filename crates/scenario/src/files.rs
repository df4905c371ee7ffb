//! The files that a scenario names: each is read once, and identified by its contents.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use trackbed_core::parameter::Value;
use trackbed_core::text::hex;
use trackbed_measure::pcapng;
use trackbed_outward::files;

/// A file or folder that a scenario reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// Its absolute path.
    pub path: String,
    /// SHA-256 of its contents in hexadecimal; of a folder, of the sorted list of its files with their sizes.
    pub sha256: String,
    /// Its size in bytes; of a folder, of all files in it.
    pub bytes: u64,
    /// Whether it is a folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_folder: bool,
}

impl Input {
    /// The same file as it is now, at `place`.
    ///
    /// # Errors
    /// If it cannot be read; the text names it.
    pub fn again(&self, place: &Path) -> Result<Input, String> {
        let mut files = Files::default();
        files.canonical(&match self.is_folder {
            true => Value::Folder(place.to_owned()),
            false => Value::File(place.to_owned()),
        })?;
        files.inputs().pop().ok_or_else(|| "nothing was read".to_owned())
    }
}

/// Copies of files that replace them, by their absolute paths.
pub type Copies = BTreeMap<String, PathBuf>;

/// The key of a file in lists.
pub(crate) fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

#[derive(Debug, Default)]
pub(crate) struct Files {
    contents: BTreeMap<PathBuf, Arc<[u8]>>,
    inputs: BTreeMap<PathBuf, Input>,
}

impl Files {
    /// What was read, in the order of the paths.
    pub fn inputs(self) -> Vec<Input> {
        self.inputs.into_values().collect()
    }

    /// The value as link models take it: for a file, its contents, decompressed.
    pub fn with_contents(&mut self, value: &Value) -> Result<Value, String> {
        let Value::File(path) = value else { return Ok(value.clone()) };
        let contents = self.contents(path)?;
        let plain = files::decompressed((&*contents).into(), FILE_BYTES_MAX);
        let plain = plain.map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        if pcapng::is_capture(&plain) {
            let text = pcapng::lengths(&plain);
            let text = text.map_err(|why| format!("cannot read {}: {why}", path.display()))?;
            return Ok(Value::Contents(text.into()));
        }
        let text = files::text_of(plain.into_owned());
        let text = text.map_err(|_| format!("{} is not valid UTF-8", path.display()))?;
        Ok(Value::Contents(text.trim_start_matches('\u{feff}').into()))
    }

    /// The value in canonical form: for a file the digest of its contents, for a folder the digest
    /// of the names and sizes of its files.
    pub fn canonical(&mut self, value: &Value) -> Result<String, String> {
        match value {
            Value::Folder(path) => Ok(format!("folder sha256 {}", self.digest(path, true)?)),
            Value::File(path) => Ok(format!("sha256 {}", self.digest(path, false)?)),
            // The period is exact, the frequency is rounded.
            Value::Period(period) => Ok(format!("{} ns", period.as_nanos())),
            value => Ok(value.to_string()),
        }
    }

    fn digest(&mut self, path: &Path, is_folder: bool) -> Result<String, String> {
        if let Some(input) = self.inputs.get(path) {
            return Ok(input.sha256.clone());
        }
        let (sha256, bytes) = if is_folder {
            let (mut listing, mut bytes) = (Vec::new(), 0);
            list(path, Path::new(""), &mut listing, &mut bytes)?;
            listing.sort();
            (digest(listing.join("\n").as_bytes()), bytes)
        } else if std::fs::metadata(path).is_ok_and(|file| file.len() > FILE_BYTES_MAX) {
            // Such a file is read piece by piece, here and by its readers.
            let fail = |why: std::io::Error| format!("cannot read {}: {why}", path.display());
            let mut hash = Sha256::new();
            let mut file = files::open(path).map_err(fail)?;
            let mut piece = vec![0; 1 << 20];
            let mut bytes = 0;
            loop {
                let len = file.read(&mut piece).map_err(fail)?;
                if len == 0 {
                    break (hex(&hash.finalize()), bytes);
                }
                hash.update(&piece[..len]);
                bytes += len as u64;
            }
        } else {
            let contents = self.contents(path)?;
            (digest(&contents), contents.len() as u64)
        };
        let input = Input { path: absolute(path), sha256: sha256.clone(), bytes, is_folder };
        self.inputs.insert(path.to_owned(), input);
        Ok(sha256)
    }

    fn contents(&mut self, path: &Path) -> Result<Arc<[u8]>, String> {
        if let Some(contents) = self.contents.get(path) {
            return Ok(Arc::clone(contents));
        }
        let contents = files::read_bounded(path, FILE_BYTES_MAX);
        let contents = contents.map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        let contents: Arc<[u8]> = contents.into();
        self.contents.insert(path.to_owned(), Arc::clone(&contents));
        Ok(contents)
    }
}

/// Adds a line for each file in `folder`, at any depth, and its size; `name` is the folder's name in these lines.
fn list(
    folder: &Path,
    name: &Path,
    listing: &mut Vec<String>,
    bytes: &mut u64,
) -> Result<(), String> {
    let fail = |why: std::io::Error| format!("cannot read {}: {why}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = name.join(entry.file_name());
        let metadata = std::fs::metadata(entry.path()).map_err(fail)?;
        if metadata.is_dir() {
            list(&entry.path(), &name, listing, bytes)?;
        } else {
            listing.push(format!("{} {}", name.display(), metadata.len()));
            *bytes += metadata.len();
        }
        if listing.len() > LISTING_MAX {
            let folder = folder.display();
            let what = format!("more than {LISTING_MAX} files, subfolders included");
            return Err(format!("{folder} contains {what}"));
        }
    }
    Ok(())
}

/// Reads a file of at most `limit` bytes; the error is a message.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let fail = |why: std::io::Error| match path.is_dir() {
        true => format!("{} is a folder", path.display()),
        false => format!("cannot read {}: {why}", path.display()),
    };
    let bytes = std::fs::File::open(path).and_then(|file| files::read_from(file, limit));
    bytes.map_err(fail)
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A day of media in three resolutions fits; a mistaken path to the root does not.
const LISTING_MAX: usize = 300_000;

/// A trace of a day's drive fits; a mistaken path to a disk image does not.
const FILE_BYTES_MAX: u64 = 256_000_000;
