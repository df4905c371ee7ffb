//! Standard output, which may be a pipe that closes early, and standard error, which may be closed. Whatever
//! goes there is made printable here, since names, values and reasons may be somebody else's.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use console::Term;
use trackbed_lab::campaign::cluster;
use trackbed_lab::shell;
use trackbed_outward::files::Fresh;
use trackbed_outward::printable;

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
    let written = stdout.write_all(printable(text).as_bytes()).and_then(|()| stdout.flush());
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
    let _ = writeln!(io::stderr().lock(), "{}", printable(&message.to_string()));
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

/// Writes the file that the user named: a device, a pipe or a link as it is, and anything else as
/// [`write_own`].
///
/// # Errors
/// If it cannot be written.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut (dyn io::Write + Send)) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    spare_results(path)?;
    if path.symlink_metadata().is_ok_and(|known| !known.is_file()) {
        let mut file = BufWriter::new(File::create(path).with_context(|| no_place(path))?);
        write(&mut file)?;
        return file.flush().with_context(|| no_place(path));
    }
    write_own(path, write)
}

/// Writes a file by a name that this program gives. A full disk or a kill leaves no half of it, and what was
/// there before; no link is followed.
///
/// # Errors
/// If it cannot be written.
pub fn write_own(
    path: &Path,
    write: impl FnOnce(&mut (dyn io::Write + Send)) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut file = BufWriter::new(Fresh::begin(path).with_context(|| no_place(path))?);
    write(&mut file)?;
    let kept = file.into_inner().map_err(IntoInnerError::into_error).and_then(Fresh::keep);
    kept.with_context(|| no_place(path))
}

/// What is said of a path that cannot be written.
pub fn no_place(path: &Path) -> String {
    format!("cannot write {}; give another place with --out", path.display())
}

/// A path as a shell reads it, and no program takes it for an option.
pub fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.starts_with('-') {
        true => shell::word(&format!("./{text}")),
        false => shell::word(&text),
    }
}
