//! Standard output, which may be a pipe that closes early, and standard error, which may be closed. Whatever
//! goes there is made printable here, since names, values and reasons may be untrusted.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, IntoInnerError, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use console::Term;
use serde::Serialize;
use trackbed_outward::files::Fresh;
use trackbed_outward::printable;

use crate::shell;

/// Prints the result of a command. A closed pipe (`trackbed ... | head`) is not an error.
///
/// # Errors
/// If writing fails for any other reason.
pub fn print(text: &str) -> anyhow::Result<()> {
    match stream(text) {
        Err(why) if is_closed(&why) => Ok(()),
        done => done,
    }
}

/// Prints a piece of output that continues until the user ends it.
///
/// # Errors
/// If it cannot be written. A closed pipe is an error too, and a reason to end; see [`is_closed`].
pub fn stream(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(printable(text).as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// `value` as one indented JSON document.
pub fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(format!("{:#}\n", serde_json::to_value(value)?))
}

/// Prints a result as JSON, or as text for people.
pub fn answer(
    as_json: bool,
    document: &impl Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    print(&if as_json { json(document)? } else { text() })
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints only errors from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether only errors are printed.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a message to standard error unless `--quiet` is given. Write errors are ignored.
pub fn tell(message: impl fmt::Display) {
    if !is_quiet() {
        tell_error(message);
    }
}

/// Prints an error, even with `--quiet`.
pub fn tell_error(message: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(&message.to_string()));
}

/// The width of the terminal in characters, if standard output is a terminal.
pub fn width() -> Option<usize> {
    let (_, width) = Term::stdout().size_checked()?;
    Some(usize::from(width))
}

/// True if the reader of standard output closed the pipe.
pub fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Whether results go to an object store instead of a folder.
pub fn is_url(out: &str) -> bool {
    out.contains("://")
}

/// Refuses to overwrite results, or to write to a folder named like the URL of a store.
///
/// # Errors
/// If `path` is a file of a run directory, or a URL.
pub fn spare_results(path: &Path) -> anyhow::Result<()> {
    if let Some(address) = path.to_str().filter(|path| is_url(path)) {
        bail!("{address}: cannot write this file to an object store; give a local path");
    }
    if trackbed_archive::is_part(path) {
        bail!("{} is part of a run directory; give another path", path.display())
    }
    Ok(())
}

/// Writes the file that the user named. Devices, pipes and symbolic links are opened directly; anything else
/// is written by [`write_own`].
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

/// Writes `content` to the file that the user named, as [`write_file`].
pub fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    write_file(path, |file| file.write_all(content.as_ref()).with_context(|| no_place(path)))
}

/// Replaces a file atomically. A full disk or a kill leaves the previous file unchanged. Symbolic links are
/// not followed.
pub fn write_own(
    path: &Path,
    write: impl FnOnce(&mut (dyn io::Write + Send)) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut file = BufWriter::new(Fresh::begin(path).with_context(|| no_place(path))?);
    write(&mut file)?;
    let kept = file.into_inner().map_err(IntoInnerError::into_error).and_then(Fresh::keep);
    kept.with_context(|| no_place(path))
}

/// Writes `text` with a comment on its origin after the first line, which names the format.
pub fn write_with_origin(path: &Path, text: &str, origin: &str) -> anyhow::Result<()> {
    let (magic, rest) = text.split_once('\n').unwrap_or((text, ""));
    fs::write(path, format!("{magic}\n# {origin}\n{rest}"))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The message for a path that cannot be written.
pub fn no_place(path: &Path) -> String {
    format!("cannot write {}; give another path", path.display())
}

/// The command line of this process, quoted for a shell.
pub fn command_line() -> String {
    let words = std::env::args_os().map(|word| shell::word(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

/// A path quoted for a shell, and prefixed so that no program takes it for an option.
pub fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.starts_with('-') { shell::word(&format!("./{text}")) } else { shell::word(&text) }
}
