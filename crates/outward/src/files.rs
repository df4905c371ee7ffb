//! Files in a folder that others may have filled. A file by a name of ours there is written to the folder
//! itself, never through a symbolic link to another place, and is read without waiting for a pipe.

use std::ffi::OsString;
use std::fs::{self, File, FileType, OpenOptions, Permissions};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::{Builder, NamedTempFile};

/// How the name of a [`Fresh`] file ends until it is kept.
pub const PARTIAL: &str = ".partial";

/// Opens a file for reading, by a link too.
///
/// # Errors
/// If that is not possible, or it is something else than a file.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, OFlags::NONBLOCK, OpenOptions::new().read(true))
}

/// The text of the file at `path`.
///
/// # Errors
/// As [`open`], and if it is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// The bytes of the file at `path`, of which there may be at most `limit`.
///
/// # Errors
/// As [`open`], and if it is longer.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::other(format!("it is larger than {} MB", limit / 1_000_000))),
        false => Ok(bytes),
    }
}

/// Opens a file for reading, and for writing behind what is there. One that is not there is made.
///
/// # Errors
/// If that is not possible, or a link or something else is in its place.
pub fn append(path: &Path) -> io::Result<File> {
    opened_here(path, OpenOptions::new().create(true).append(true).read(true))
}

/// Makes an empty file, in place of what an older one holds.
///
/// # Errors
/// As [`append`].
pub fn create(path: &Path) -> io::Result<File> {
    opened_here(path, OpenOptions::new().create(true).write(true).truncate(true))
}

/// As [`create`], readable by its owner alone.
///
/// # Errors
/// As [`append`].
pub fn create_private(path: &Path) -> io::Result<File> {
    opened_here(path, OpenOptions::new().create(true).write(true).truncate(true).mode(0o600))
}

/// Makes a folder in one that is there, unless it is there already.
///
/// # Errors
/// As [`append`].
pub fn folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
            let kind = fs::symlink_metadata(path)?.file_type();
            if kind.is_dir() { Ok(()) } else { Err(refusal(path, kind)) }
        }
        made => made,
    }
}

/// A file that takes its place as a whole, and survives a power cut, when it is [kept](Fresh::keep). If it
/// is not, nothing has changed.
#[derive(Debug)]
pub struct Fresh {
    file: NamedTempFile,
    path: PathBuf,
}

impl Fresh {
    /// Begins the file that is to be at `path`, under a name beside it that cannot be foreseen.
    ///
    /// # Errors
    /// As [`append`].
    pub fn begin(path: &Path) -> io::Result<Fresh> {
        check_place(path)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let prefix = [".".as_ref(), name, ".".as_ref()].into_iter().collect::<OsString>();
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(PARTIAL).permissions(Permissions::from_mode(0o666));
        Ok(Fresh { file: builder.tempfile_in(folder_of(path))?, path: path.to_owned() })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn keep(self) -> io::Result<()> {
        let Fresh { file, path } = self;
        // Otherwise the new name may outlive a power cut, and the data may not.
        file.as_file().sync_all()?;
        file.persist(&path)?;
        // File systems that cannot do this with a folder must do without.
        let _ = File::open(folder_of(&path))?.sync_all();
        Ok(())
    }
}

impl Write for Fresh {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn opened_here(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    check_place(path)?;
    // A link that came since the look is not followed either.
    opened(path, OFlags::NOFOLLOW | OFlags::NONBLOCK, options)
}

fn opened(path: &Path, flags: OFlags, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() { Ok(file) } else { Err(refusal(path, kind)) }
}

/// Refuses to write where something else than a file is.
fn check_place(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(known) if !known.is_file() => Err(refusal(path, known.file_type())),
        _ => Ok(()),
    }
}

fn refusal(path: &Path, kind: FileType) -> io::Error {
    let what = match () {
        () if kind.is_symlink() => "a symbolic link, which may lead anywhere",
        () if kind.is_dir() => "a folder",
        () => "not a regular file",
    };
    io::Error::other(format!("{} is {what}; remove it or rename it", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let scratch = tempfile::tempdir().unwrap();
        let [target, link, new] = ["target", "link", "new"].map(|name| scratch.path().join(name));
        fs::write(&target, "years of work").unwrap();
        symlink(&target, &link).unwrap();
        symlink(scratch.path().join("nowhere"), &new).unwrap();
        for path in [&link, &new] {
            let refused = [
                append(path).err(),
                create(path).err(),
                create_private(path).err(),
                Fresh::begin(path).err(),
                folder(path).err(),
            ];
            for why in refused.map(|why| why.unwrap().to_string()) {
                assert!(why.contains("is a symbolic link") && why.contains("remove it"), "{why}");
            }
        }
        assert_eq!(
            read_to_string(&link).unwrap(),
            "years of work",
            "it may be read through the link"
        );
        assert_eq!(names(scratch.path()).len(), 3);
    }

    #[test]
    fn a_file_takes_its_place_as_a_whole_or_not_at_all() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("page.html");
        fs::write(&path, "old").unwrap();
        let mut fresh = Fresh::begin(&path).unwrap();
        fresh.write_all(b"half").unwrap();
        drop(fresh);
        assert_eq!(
            (read_to_string(&path).unwrap().as_str(), names(scratch.path()).len()),
            ("old", 1)
        );
        let mut fresh = Fresh::begin(&path).unwrap();
        fresh.write_all(b"new").unwrap();
        fresh.keep().unwrap();
        assert_eq!(
            (read_to_string(&path).unwrap().as_str(), names(scratch.path()).len()),
            ("new", 1)
        );
        let modes = [&path, &scratch.path().join("plain")]
            .map(|path| create(path).unwrap().metadata().unwrap().permissions().mode());
        assert_eq!(modes[0], modes[1], "as if it had been made in place");
    }

    /// The other end is not open.
    #[test]
    fn a_pipe_is_no_file_and_is_not_waited_for() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for why in [open(&pipe).err(), append(&pipe).err(), create(&pipe).err()] {
            assert!(why.unwrap().to_string().contains("is not a regular file"));
        }
        assert!(open(scratch.path()).unwrap_err().to_string().contains("is a folder"));
        assert!(read_bounded(&pipe, 9).unwrap_err().to_string().contains("not a regular file"));
    }

    #[test]
    fn a_file_that_is_too_long_is_not_read_to_its_end() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("hole");
        create(&path).unwrap().set_len(1 << 40).unwrap();
        let why = read_bounded(&path, 2_000_000).unwrap_err().to_string();
        assert_eq!(why, "it is larger than 2 MB");
        fs::write(&path, "abc").unwrap();
        assert_eq!(
            (read_bounded(&path, 3).unwrap(), read_bounded(&path, 2).is_err()),
            (b"abc".to_vec(), true)
        );
    }
}
