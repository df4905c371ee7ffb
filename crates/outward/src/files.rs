//! Files in a folder whose contents are untrusted. Files are never written through a symbolic link to another
//! place, and reading does not block on a pipe.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File, FileType, OpenOptions, Permissions};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use flate2::read::MultiGzDecoder;
use rustix::fs::OFlags;
use tempfile::{Builder, NamedTempFile};

/// The suffix of a [`Fresh`] file's name until it is kept.
pub const PARTIAL: &str = ".partial";

/// Opens a file for reading; symbolic links are followed.
///
/// # Errors
/// If it cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, OFlags::NONBLOCK, OpenOptions::new().read(true))
}

/// The bytes of the file at `path`, at most `limit`.
///
/// # Errors
/// As [`open`], and if it is longer.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_from(open(path)?, limit)
}

/// The bytes of a source, at most `limit`.
///
/// # Errors
/// If it cannot be read, or has more.
pub fn read_from(source: impl io::Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::other(format!("it is larger than {} MB", limit / 1_000_000))),
        false => Ok(bytes),
    }
}

/// How files begin that are not plain text, and what they are.
pub const MARKS: [(&[u8], &str); 6] = [
    (b"\x1f\x8b", "gzip"),
    (b"\xff\xfe", "UTF-16"),
    (b"PK\x03\x04", "a ZIP archive or a workbook; extract the file, or save the table as CSV"),
    (b"\xfd7zXZ", "compressed with xz; decompress it, or use gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; decompress it, or use gzip"),
    (b"BZh", "compressed with bzip2; decompress it, or use gzip"),
];

/// What gzip compressed, if `bytes` begin as it does, else `bytes`; at most `limit` bytes.
///
/// # Errors
/// If it is damaged, longer, or compressed otherwise.
pub fn decompressed(bytes: Cow<'_, [u8]>, limit: u64) -> io::Result<Cow<'_, [u8]>> {
    let found = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark));
    let plain = match found.map(|(_, what)| *what) {
        None | Some("UTF-16") => return Ok(bytes),
        Some("gzip") => read_from(MultiGzDecoder::new(&*bytes), limit),
        Some(what) => return Err(io::Error::other(format!("it is {what}"))),
    };
    let damaged = |why: io::Error| match why.kind() {
        io::ErrorKind::Other => why,
        _ => io::Error::other(format!("it is not valid gzip: {why}")),
    };
    plain.map(Cow::Owned).map_err(damaged)
}

/// The text that `bytes` are: UTF-8, UTF-16 as Windows writes it, or NMEA sentences among a receiver's own messages.
///
/// # Errors
/// If they are none of these.
pub fn text_of(bytes: Vec<u8>) -> Result<String, FromUtf8Error> {
    if bytes.starts_with(&[0xff, 0xfe]) {
        let units = bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]]));
        return Ok(char::decode_utf16(units).map(|one| one.unwrap_or('\u{fffd}')).collect());
    }
    let has_sentences = |bytes: &[u8]| bytes.windows(2).any(|two| two == b"$G");
    String::from_utf8(bytes).or_else(|why| match has_sentences(why.as_bytes()) {
        true => Ok(String::from_utf8_lossy(why.as_bytes()).into_owned()),
        false => Err(why),
    })
}

/// The text of the file at `path`, decompressed, at most `limit` bytes, without a byte order mark.
///
/// # Errors
/// As [`read_bounded`], [`decompressed`] and [`text_of`].
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let text = decompressed(read_bounded(path, limit)?.into(), limit)?.into_owned();
    let mut text =
        text_of(text).map_err(|_| io::Error::other("it is not UTF-8; save it as UTF-8"))?;
    if text.starts_with('\u{feff}') {
        text.drain(..3);
    }
    Ok(text)
}

/// Opens a file for reading and appending; creates it if it does not exist.
///
/// # Errors
/// If it cannot be opened, or the path is a link or not a regular file.
pub fn append(path: &Path) -> io::Result<File> {
    opened_here(path, OpenOptions::new().create(true).append(true).read(true))
}

/// Creates an empty file, or truncates an existing one.
///
/// # Errors
/// As [`append`].
pub fn create(path: &Path) -> io::Result<File> {
    opened_here(path, OpenOptions::new().create(true).write(true).truncate(true))
}

/// As [`create`], readable only by its owner.
///
/// # Errors
/// As [`append`].
pub fn create_private(path: &Path) -> io::Result<File> {
    opened_here(path, OpenOptions::new().create(true).write(true).truncate(true).mode(0o600))
}

/// Creates a folder in an existing one, unless it already exists.
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

/// A file that appears atomically, and survives a power cut, when it is [kept](Fresh::keep). Otherwise
/// nothing changes.
#[derive(Debug)]
pub struct Fresh {
    file: NamedTempFile,
    path: PathBuf,
}

impl Fresh {
    /// Creates the file for `path` under an unpredictable name beside it.
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

    /// Renames it to its final path.
    ///
    /// # Errors
    /// If it cannot be written or renamed.
    pub fn keep(self) -> io::Result<()> {
        let Fresh { file, path } = self;
        // Without this, after a power cut the new name may exist without its data.
        file.as_file().sync_all()?;
        file.persist(&path)?;
        // Some file systems do not support this for folders.
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
    // A link created since the check is not followed either.
    opened(path, OFlags::NOFOLLOW | OFlags::NONBLOCK, options)
}

fn opened(path: &Path, flags: OFlags, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() { Ok(file) } else { Err(refusal(path, kind)) }
}

/// Refuses to write to anything but a regular file.
fn check_place(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(known) if !known.is_file() => Err(refusal(path, known.file_type())),
        _ => Ok(()),
    }
}

fn refusal(path: &Path, kind: FileType) -> io::Error {
    let what = match () {
        () if kind.is_symlink() => "a symbolic link, which may point anywhere",
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
        let read = read_bounded(&link, 20).unwrap();
        assert_eq!(read, b"years of work", "reading through the link is allowed");
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
        assert_eq!((fs::read(&path).unwrap(), names(scratch.path()).len()), (b"old".to_vec(), 1));
        let mut fresh = Fresh::begin(&path).unwrap();
        fresh.write_all(b"new").unwrap();
        fresh.keep().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(scratch.path()).len()), (b"new".to_vec(), 1));
        let modes = [&path, &scratch.path().join("plain")]
            .map(|path| create(path).unwrap().metadata().unwrap().permissions().mode());
        assert_eq!(modes[0], modes[1], "as if it had been created in place");
    }

    /// The other end of the pipe is not open.
    #[test]
    fn a_pipe_is_no_file_and_is_not_waited_for() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
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
        // Of `gzip -n`: the text "abc", and its first half.
        let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\x03KLJ\x06\0\xc2A$5\x03\0\0\0";
        fs::write(&path, gzip).unwrap();
        assert_eq!(read_text(&path, 99).unwrap(), "abc");
        fs::write(&path, b"\xff\xfea\0\xe9\0").unwrap();
        assert_eq!(read_text(&path, 99).unwrap(), "a\u{e9}");
        fs::write(&path, b"\xb5\x62\x01\n$GPGGA,").unwrap();
        assert!(read_text(&path, 99).unwrap().ends_with("\n$GPGGA,"));
        let why = decompressed((&gzip[..]).into(), 2).unwrap_err().to_string();
        assert!(why.contains("larger"), "{why}");
        assert!(decompressed((&gzip[..12]).into(), 99).unwrap_err().to_string().contains("gzip"));
    }
}
