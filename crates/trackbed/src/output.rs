//! Standard output, which may be a pipe that closes early, and standard error, which may be closed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use console::Term;
use trackbed_lab::campaign::cluster;
use trackbed_lab::shell;

/// Prints what a command comes to. A reader that has gone away (`trackbed ... | head`) does not change
/// how it ends.
///
/// # Errors
/// If it cannot be written although there is somebody to read it.
pub fn print(text: &str) -> anyhow::Result<()> {
    match stream(text) {
        Err(why) if is_closed(&why) => Ok(()),
        done => done,
    }
}

/// Prints a piece of what goes on until somebody ends it.
///
/// # Errors
/// If it cannot be written. That nobody reads it any more is such an error, and a reason to end; see
/// [`is_closed`].
pub fn stream(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Prints `value` as one indented JSON document.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&json(value))
}

/// `value` as one indented JSON document.
pub fn json(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on only errors are told.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether only errors are told.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Tells the user something on standard error, if that is wished. If nobody reads it, nothing depends
/// on that.
pub fn tell(message: impl fmt::Display) {
    if !is_quiet() {
        tell_error(message);
    }
}

/// Tells what went wrong, however quiet.
pub fn tell_error(message: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// The characters of a line, if standard output is a terminal.
pub fn width() -> Option<usize> {
    let (_, width) = Term::stdout().size_checked()?;
    Some(usize::from(width))
}

/// True if the error only says that nobody reads our output any more.
pub fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Refuses to write over the results themselves, or to a folder that is called like a store.
///
/// # Errors
/// If `path` is a file that a run directory consists of, or an address.
pub fn spare_results(path: &Path) -> anyhow::Result<()> {
    if let Some(address) = path.to_str().filter(|path| cluster::is_url(path)) {
        bail!("{address}: this is written on this machine; give a path here with --out");
    }
    if trackbed_archive::is_part(path) {
        bail!("{} is part of a run directory; give another place with --out", path.display())
    }
    Ok(())
}

/// Writes a file beside `path` first, so that a full disk or a kill leaves no half of it, and what was
/// there before; but a device, a pipe or a link is written to as it is.
///
/// # Errors
/// If it cannot be written.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(BufWriter<File>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    spare_results(path)?;
    let place = || format!("cannot write {}; give another place with --out", path.display());
    let create = |path: &Path| Ok(BufWriter::new(File::create(path).with_context(place)?));
    if path.symlink_metadata().is_ok_and(|known| !known.is_file()) {
        return write(create(path)?);
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = create(&partial)
        .and_then(write)
        .and_then(|()| fs::rename(&partial, path).with_context(place));
    if written.is_err() {
        // What is wrong is known already.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// A path as a shell reads it, and no program takes it for an option.
pub fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.starts_with('-') {
        true => shell::word(&format!("./{text}")),
        false => shell::word(&text),
    }
}
