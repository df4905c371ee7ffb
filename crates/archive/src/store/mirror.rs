//! A run directory that is being written, and its copy in a store.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Take};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use object_store::buffered::BufWriter;
use object_store::{ObjectStoreExt as _, PutMode, PutPayload};
use sha2::Digest as _;
use tokio::io::AsyncWriteExt as _;
use trackbed_core::text::hex;

use super::{ABOUT, PIECES, RUNS, Store, StoreError};
use crate::hashing::Hashing;

/// The interval of uploads after the first minute. A machine that disappears loses at most the results of
/// this time.
pub const PERIOD: Duration = Duration::from_secs(20);

const FIRST: Duration = Duration::from_secs(1);

/// Uploads the results of a run directory to a store as they arrive, and the other files at the end.
#[derive(Debug)]
pub struct Mirror {
    sending: Arc<Mutex<Sending>>,
    stop: Option<Sender<()>>,
    worker: Option<JoinHandle<()>>,
}

/// What has been uploaded.
#[derive(Debug)]
struct Sending {
    store: Store,
    directory: PathBuf,
    /// The uploaded bytes of the file of results.
    sent: u64,
    /// The pieces in the store whose results are all in the directory.
    pieces: Vec<String>,
}

impl Mirror {
    /// Copies the contents of the store to `directory`: nothing, or the results of earlier processes.
    ///
    /// # Errors
    /// If the store cannot be read, or files cannot be written.
    pub fn restore(store: &Store, directory: &Path) -> Result<Restored, StoreError> {
        let pieces = match store.fetch(directory) {
            Ok(fetched) => fetched.pieces.get(directory).cloned().unwrap_or_default(),
            Err(StoreError::Empty { .. }) => Vec::new(),
            Err(why) => return Err(why),
        };
        let is_new = !directory.join(ABOUT).exists();
        Ok(Restored { store: store.clone(), directory: directory.to_owned(), pieces, is_new })
    }

    /// Uploads the remaining results and stops. The file of results may be sorted afterwards.
    ///
    /// # Errors
    /// If the store does not accept them.
    pub fn stop(&mut self) -> Result<(), StoreError> {
        drop(self.stop.take());
        if let Some(worker) = self.worker.take() {
            worker
                .join()
                .map_err(|_| StoreError::System("the upload of results panicked".to_owned()))?;
        }
        locked(&self.sending).send_new()
    }

    /// Uploads all files of the directory. The results become one piece, which replaces the pieces that it
    /// contains; pieces of other processes stay.
    ///
    /// # Errors
    /// If files cannot be read, or the store does not accept them.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.stop()?;
        locked(&self.sending).send_all()
    }
}

impl Drop for Mirror {
    /// Uploads the remaining results. Call [`Mirror::stop`] before this to get errors.
    fn drop(&mut self) {
        if self.stop.is_some() {
            let _ = self.stop();
        }
    }
}

/// A directory equal to the store, before anything is added.
#[derive(Debug)]
pub struct Restored {
    store: Store,
    directory: PathBuf,
    pieces: Vec<String>,
    is_new: bool,
}

impl Restored {
    /// Starts to upload new results: first after a second, then at growing intervals of up to `period`. The
    /// directory must already contain `about.json`. Errors are passed to `trouble`, and the upload is tried
    /// again.
    ///
    /// # Errors
    /// If another process started at the same address, or the store accepts nothing.
    pub fn mirror(
        self,
        period: Duration,
        trouble: impl Fn(&StoreError) + Send + 'static,
    ) -> Result<Mirror, StoreError> {
        let Restored { store, directory, pieces, is_new } = self;
        if is_new {
            claim(&store, &directory)?;
        }
        let sent = length(&directory.join(RUNS))?;
        let sending = Arc::new(Mutex::new(Sending { store, directory, sent, pieces }));
        let (stop, stopped) = mpsc::channel();
        let shared = Arc::clone(&sending);
        let work = move || {
            let mut wait = period.min(FIRST);
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                if let Err(why) = locked(&shared).send_new() {
                    trouble(&why);
                }
                wait = period.min(wait * 2);
            }
        };
        let worker = thread::Builder::new().name("store".to_owned()).spawn(work);
        let worker = worker.map_err(|why| StoreError::System(why.to_string()))?;
        Ok(Mirror { sending, stop: Some(stop), worker: Some(worker) })
    }
}

/// Creates `about.json` in the store, which later processes will find.
fn claim(store: &Store, directory: &Path) -> Result<(), StoreError> {
    let path = directory.join(ABOUT);
    let text = fs::read(&path).map_err(StoreError::file(&path))?;
    let location = store.location(&[ABOUT]);
    let payload = || PutPayload::from(text.clone());
    let created =
        store.wait(store.objects().put_opts(&location, payload(), PutMode::Create.into()));
    match created {
        Ok(_) => Ok(()),
        Err(object_store::Error::AlreadyExists { .. }) => {
            Err(StoreError::Taken { address: store.address().to_owned() })
        }
        // Some stores do not support this condition.
        Err(
            object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. },
        ) => {
            let put = store.wait(store.objects().put(&location, payload()));
            put.map(drop).map_err(|why| store.failed(&location, why))
        }
        Err(why) => Err(store.failed(&location, why)),
    }
}

impl Sending {
    /// Uploads new complete lines. An error states which bytes are not stored yet.
    fn send_new(&mut self) -> Result<(), StoreError> {
        let path = self.directory.join(RUNS);
        self.send_lines(&path).map_err(|why| {
            let bytes = length(&path).unwrap_or(self.sent).saturating_sub(self.sent);
            StoreError::NotStored { why: Box::new(why), path, bytes }
        })
    }

    fn send_lines(&mut self, path: &Path) -> Result<(), StoreError> {
        while length(path)? > self.sent
            && let Some(end) = next_end(path, self.sent).map_err(StoreError::file(path))?
        {
            let (name, _) = digest(path, self.sent..end).map_err(StoreError::file(path))?;
            self.send(path, self.sent..end, &[PIECES, &format!("{name}.jsonl")])?;
            self.pieces.push(name);
            self.sent = end;
        }
        Ok(())
    }

    fn send_all(&mut self) -> Result<(), StoreError> {
        let whole = self.send_results()?;
        for name in self.pieces.drain(..).filter(|name| *name != whole) {
            let location = self.store.location(&[PIECES, &format!("{name}.jsonl")]);
            match self.store.wait(self.store.objects().delete(&location)) {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(why) => return Err(self.store.failed(&location, why)),
            }
        }
        self.send_folder(&self.directory, &mut Vec::new())
    }

    /// Uploads the file of results as one piece, and returns its name.
    fn send_results(&self) -> Result<String, StoreError> {
        let path = self.directory.join(RUNS);
        let (name, bytes) = digest(&path, WHOLE).map_err(StoreError::file(&path))?;
        if bytes > 0 {
            self.send(&path, WHOLE, &[PIECES, &format!("{name}.jsonl")])?;
        }
        Ok(name)
    }

    /// Uploads every file of `folder`, except results, which are in pieces, and files for this machine only.
    fn send_folder(&self, folder: &Path, parts: &mut Vec<String>) -> Result<(), StoreError> {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        for entry in entries.map_err(StoreError::file(folder))? {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name.ends_with(".partial") {
                continue;
            }
            let path = entry.path();
            parts.push(name);
            let words: Vec<&str> = parts.iter().map(String::as_str).collect();
            if path.is_dir() {
                self.send_folder(&path, parts)?;
            } else if words != [RUNS] {
                self.send(&path, WHOLE, &words)?;
            }
            parts.pop();
        }
        Ok(())
    }

    /// Uploads these bytes of a file, in parts if there are many.
    fn send(&self, path: &Path, bytes: Range<u64>, parts: &[&str]) -> Result<(), StoreError> {
        let location = self.store.location(parts);
        let mut file = open(path, bytes).map_err(StoreError::file(path))?;
        self.store.wait(async {
            let failed = |why: io::Error| {
                let why = object_store::Error::Generic { store: "upload", source: Box::new(why) };
                self.store.failed(&location, why)
            };
            let mut writer = BufWriter::new(Arc::clone(self.store.objects()), location.clone());
            let mut bytes = vec![0; CHUNK];
            loop {
                let count = file.read(&mut bytes).map_err(StoreError::file(path))?;
                if count == 0 {
                    return writer.shutdown().await.map_err(failed);
                }
                writer.write_all(&bytes[..count]).await.map_err(failed)?;
            }
        })
    }
}

fn length(path: &Path) -> Result<u64, StoreError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(why) => Err(StoreError::file(path)(why)),
    }
}

/// Locks the state, which stays valid even if another thread panicked.
fn locked(sending: &Mutex<Sending>) -> MutexGuard<'_, Sending> {
    sending.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The maximum size in bytes of a piece uploaded during the campaign, unless a single line is longer.
const PIECE_MAX: u64 = 8 << 20;
/// The number of bytes read at a time.
const CHUNK: usize = 1 << 20;
/// All bytes of a file.
const WHOLE: Range<u64> = 0..u64::MAX;

fn open(path: &Path, bytes: Range<u64>) -> io::Result<Take<File>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(bytes.start))?;
    Ok(file.take(bytes.end - bytes.start))
}

/// The end of a piece of complete lines that begins at `start`; `None` without a complete line.
fn next_end(path: &Path, start: u64) -> io::Result<Option<u64>> {
    let (mut file, mut at, mut end) = (open(path, start..u64::MAX)?, start, None);
    let mut buffer = vec![0; CHUNK];
    while end.is_none() || at - start < PIECE_MAX {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        let last = buffer[..count].iter().rposition(|byte| *byte == b'\n');
        end = last.map(|last| at + last as u64 + 1).or(end);
        at += count as u64;
    }
    Ok(end)
}

/// The SHA-256 of these bytes of a file, in hexadecimal, and their number.
fn digest(path: &Path, bytes: Range<u64>) -> io::Result<(String, u64)> {
    let mut hashing = Hashing::new(io::sink());
    let count = io::copy(&mut open(path, bytes)?, &mut hashing)?;
    Ok((hex(&hashing.hash.finalize()), count))
}
