//! A private folder for the files of programs. Programs of another user than Trackbed's can read it, but
//! write only to files created for them and to a folder inside, where Trackbed neither reads nor writes: so
//! it never follows one of their symbolic links.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown, fchown};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::geteuid;
use trackbed_linux::unprivileged::User;

use crate::certificate::{Certificate, pem_of};
use crate::error::ProgramError;
use crate::program::Setup;

/// A folder in the system's directory for temporary files. It is removed when this is dropped; if
/// this process is killed before, the next process that creates such folders removes it, because
/// its lock is free.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Who runs the programs, if not we.
    user: Option<User>,
    _lock: File,
}

/// Each fails if its file or folder cannot be created or written.
impl Folder {
    /// Creates a folder with an empty site.
    pub fn new() -> Result<Folder, ProgramError> {
        static SWEPT: Once = Once::new();
        let user = User::in_place_of_root();
        let temporary = temporary(user);
        SWEPT.call_once(|| sweep(&temporary));
        let make = || {
            let path = make_unique(&temporary)?;
            let lock = lock(&path)?;
            let folder = Folder { path, user, _lock: lock };
            folder.share(&folder.path, 0o710)?;
            fs::create_dir(folder.setup().site)?;
            folder.share(&folder.setup().site, 0o750)?;
            DirBuilder::new().mode(0o700).create(folder.scratch())?;
            folder.hand_over(&folder.scratch())?;
            Ok(folder)
        };
        make().map_err(|why| ProgramError::File(temporary.join(PREFIX), why))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder inside that programs may write to.
    pub fn scratch(&self) -> PathBuf {
        self.setup().scratch
    }

    /// The user of the programs, if it is not that of this process.
    pub(crate) fn user(&self) -> Option<User> {
        self.user
    }

    /// The setup of a server whose files are here.
    pub fn setup(&self) -> Setup<'_> {
        Setup::within(&self.path)
    }

    /// Stores a certificate and its key.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep_certificate(&self, certificate: &Certificate) -> Result<(), ProgramError> {
        self.keep_trust(certificate.as_der())?;
        self.write("key.pem", certificate.key_pem().as_bytes())
    }

    /// Stores a certificate, in DER, whose key is elsewhere.
    pub fn keep_trust(&self, certificate: &[u8]) -> Result<(), ProgramError> {
        self.write("certificate.pem", pem_of(certificate).as_bytes())
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), ProgramError> {
        let path = self.path.join(name);
        let written = fs::write(&path, content).and_then(|()| self.share(&path, 0o640));
        written.map_err(|why| ProgramError::File(path, why))
    }

    /// Creates a file in the folder, for a program to write to.
    pub fn create(&self, name: &str) -> Result<File, ProgramError> {
        let path = self.path.join(name);
        let create = || {
            let file = File::create(&path)?;
            // Programs open it again as /dev/stderr.
            if let Some(User { uid, gid }) = self.user {
                fchown(&file, Some(uid), Some(gid))?;
            }
            Ok(file)
        };
        create().map_err(|why| ProgramError::File(path, why))
    }

    /// Creates the file for a client's TLS secrets, and returns the variable that names it to the client.
    pub fn expect_keys(&self) -> Result<(OsString, OsString), ProgramError> {
        self.create(KEYS)?;
        Ok(("SSLKEYLOGFILE".into(), self.keys().into()))
    }

    /// The file for a client's TLS secrets.
    pub fn keys(&self) -> PathBuf {
        self.path.join(KEYS)
    }

    /// Adds a file to the site: `path` as in a URL, `content` writes its content.
    pub fn publish(
        &self,
        path: &str,
        content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), ProgramError> {
        let site = self.setup().site;
        let file = site.join(path.trim_start_matches('/'));
        let write = || {
            file.parent().map(fs::create_dir_all).transpose()?;
            let mut output = io::BufWriter::new(File::create(&file)?);
            content(&mut output)?;
            io::Write::flush(&mut output)?;
            let mut folders = file.ancestors().skip(1).take_while(|above| *above != site);
            folders.try_for_each(|folder| self.share(folder, 0o750))?;
            self.share(&file, 0o640)
        };
        write().map_err(|why| ProgramError::File(file.clone(), why))
    }

    /// The last lines of a file in the folder, for messages.
    pub fn tail(&self, name: &str) -> String {
        let text = self.end_of(name).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }
}

impl Folder {
    /// Lets programs of another user read `path`.
    fn share(&self, path: &Path, mode: u32) -> io::Result<()> {
        let Some(User { gid, .. }) = self.user else { return Ok(()) };
        chown(path, None, Some(gid))?;
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    /// Gives `path` to the user of the programs.
    pub(crate) fn hand_over(&self, path: &Path) -> io::Result<()> {
        let Some(User { uid, gid }) = self.user else { return Ok(()) };
        chown(path, Some(uid), Some(gid))
    }

    /// The end of a file, which may be growing.
    fn end_of(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.path.join(name))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut end = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut end)?;
        Ok(end)
    }

    /// The length of a file in bytes; zero if it does not exist.
    pub fn length(&self, name: &str) -> u64 {
        fs::metadata(self.path.join(name)).map_or(0, |about| about.len())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If it cannot be removed now, the next process removes it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The system's folder for temporary files, or the one that all users share where `user` cannot get there.
fn temporary(user: Option<User>) -> PathBuf {
    let ours = std::env::temp_dir();
    if user.is_none_or(|user| user.may_reach(&ours)) { ours } else { SHARED.into() }
}

fn make_unique(temporary: &Path) -> io::Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = temporary.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
}

/// The lock gets its final name only when it is locked; only then the folder counts as ours.
fn lock(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join("lock.new");
    let file = File::create_new(&unnamed)?;
    file.lock()?;
    fs::rename(unnamed, folder.join(LOCK))?;
    Ok(file)
}

/// Removes the folders of processes that no longer exist.
fn sweep(temporary: &Path) {
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for folder in ours.map(|entry| entry.path()) {
        let Ok(found) = fs::symlink_metadata(&folder) else { continue };
        if found.is_dir() && found.uid() == geteuid().as_raw() && is_abandoned(&folder) {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let Ok(lock) = File::open(folder.join(LOCK)) else { return false };
    match lock.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

const PREFIX: &str = "trackbed-programs-";
const SHARED: &str = "/tmp";
const KEYS: &str = "client.keys";
const LOCK: &str = "lock";
const TAIL_LINES: usize = 5;
const TAIL_BYTES: u64 = 4_096;

#[cfg(test)]
mod tests {
    use trackbed_linux::unprivileged::demote;

    use super::*;

    #[test]
    fn a_folder_is_private_holds_what_it_is_given_and_goes() {
        let folder = Folder::new().unwrap();
        let path = folder.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o007, 0);
        let certificate = Certificate::for_names(["a.test".to_owned(), "10.0.0.1".to_owned()]);
        folder.keep_certificate(&certificate.unwrap()).unwrap();
        folder.publish("/bulk/3", |file| file.write_all(b"abc")).unwrap();
        let setup = folder.setup();
        assert_eq!(fs::read(setup.site.join("bulk/3")).unwrap(), b"abc");
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert!(text(&setup.certificate).starts_with("-----BEGIN CERTIFICATE-----\n"));
        assert!(text(&setup.key).starts_with("-----BEGIN PRIVATE KEY-----\n"));
        folder.write("said", b"1\n2\n\n3\n4\n5\n6\n").unwrap();
        assert_eq!(folder.tail("said"), "2\n3\n4\n5\n6");
        drop(folder);
        assert!(!path.exists());
    }

    /// This process tries what a program of that user could do.
    #[test]
    fn another_user_reads_the_folder_and_writes_only_inside_its_own() {
        let folder = Folder::new().unwrap();
        let Some(user) = folder.user() else {
            return eprintln!("SKIPPED: only root runs programs as another user");
        };
        folder.write("key.pem", b"key").unwrap();
        folder.publish("/a/b", |file| file.write_all(b"page")).unwrap();
        drop(folder.create("server.stderr").unwrap());
        folder.expect_keys().unwrap();
        let does = |line: &str| {
            let mut shell = std::process::Command::new("/bin/sh");
            shell.args(["-c", line]).current_dir(folder.path()).stderr(std::process::Stdio::null());
            demote(&mut shell, user).status().unwrap().success()
        };
        assert!(does("cat key.pem site/a/b && : > scratch/file && : > server.stderr"));
        assert!(does(&format!("echo secret >> {KEYS}")));
        let forbidden = ": > new;ln -s /etc/passwd client.stdout;mv server.stderr scratch;mv scratch other;rm key.pem;\
                         : > key.pem;: > lock;: > site/new;chmod 777 .";
        for line in forbidden.split(';') {
            assert!(!does(line), "{line}");
        }
    }

    #[test]
    fn only_unlocked_folders_are_swept() {
        let place = Folder::new().unwrap();
        let make = |name: &str| {
            let path = place.path().join(format!("{PREFIX}{name}"));
            fs::create_dir(&path).unwrap();
            path
        };
        let (held, abandoned, unfinished) = (make("1-0"), make("2-0"), make("3-0"));
        let other = place.path().join("other");
        fs::create_dir(&other).unwrap();
        let lock = lock(&held).unwrap();
        fs::write(abandoned.join(LOCK), "").unwrap();
        sweep(place.path());
        let there = [&held, &abandoned, &unfinished, &other].map(|path| path.exists());
        assert_eq!(there, [true, false, true, true]);
        drop(lock);
        // A process that another test is starting has a copy of the lock until its program begins.
        let is_swept = (0..100_000).any(|_| {
            sweep(place.path());
            std::thread::yield_now();
            !held.exists()
        });
        assert!(is_swept);
    }
}
