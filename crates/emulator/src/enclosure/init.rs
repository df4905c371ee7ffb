//! The first process of an enclosure: it starts the command, buries the dead, passes signals on,
//! and takes everything with it when it goes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::thread;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;
use trackbed_linux::inherited;

/// What the init is told by the process that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitOptions {
    /// The number of the descriptor whose end ends everything.
    pub lifeline: i32,
    /// The name server for the command.
    pub name_server: Option<IpAddr>,
}

impl InitOptions {
    /// As arguments of this program, before those of the command.
    pub(super) fn to_arguments(self) -> Vec<String> {
        let name_server = self.name_server.map_or("-".to_owned(), |address| address.to_string());
        vec![INIT.to_owned(), self.lifeline.to_string(), name_server]
    }
}

/// If this process was started as an init, does that work and returns its exit code; `None`
/// otherwise. Call it first of all, with all arguments of the process.
pub fn init(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut arguments = arguments.into_iter().skip(1);
    arguments.next().filter(|first| first == INIT)?;
    let mut number = || arguments.next()?.into_string().ok();
    let lifeline = number()?.parse().ok()?;
    let name_server = number()?.parse().ok();
    Some(serve(InitOptions { lifeline, name_server }, &arguments.collect::<Vec<_>>()))
}

fn serve(options: InitOptions, command: &[OsString]) -> u8 {
    let Ok(lifeline) = inherited(options.lifeline) else { return FAILED };
    if let Err(why) = furnish(options.name_server) {
        eprintln!("trackbed: some of the enclosure's files could not be set up: {why}");
    }
    // Before the command starts, so that no signal is lost.
    let Ok(signals) = Signals::new([SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH]) else {
        return FAILED;
    };
    thread::spawn(move || follow(&lifeline));
    let Some((program, arguments)) = command.split_first() else { return FAILED };
    match Command::new(program).args(arguments).spawn() {
        Ok(child) => {
            let child = Pid::from_child(&child);
            thread::spawn(move || pass_on(signals, child));
            outlive(child)
        }
        Err(why) => {
            eprintln!("trackbed: cannot run {}: {why}", program.display());
            if why.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
        }
    }
}

/// Ends this process, and all others of the enclosure, when the lifeline ends.
fn follow(lifeline: &OwnedFd) {
    // Nobody ever writes.
    while rustix::io::read(lifeline, &mut [0; 1]) == Err(rustix::io::Errno::INTR) {}
    std::process::exit(FAILED.into());
}

fn pass_on(mut signals: Signals, child: Pid) {
    for signal in signals.forever() {
        if let Some(signal) = Signal::from_named_raw(signal) {
            // It may just have ended.
            let _ = kill_process(child, signal);
        }
    }
}

/// Waits for the command, and for every orphan until then. An exit by signal `n` is 128 + `n`, as
/// with a shell.
fn outlive(command: Pid) -> u8 {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => {
                let status = ExitStatus::from_raw(status.as_raw());
                let code = status.code().or_else(|| Some(128 + status.signal()?));
                return code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return FAILED,
        }
    }
}

/// Files that must not be the machine's: `/proc` shows the processes of the enclosure, and
/// `/etc/resolv.conf` its name server.
fn furnish(name_server: Option<IpAddr>) -> io::Result<()> {
    let down = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", down)?;
    // Containers hide parts of /proc and then do not allow a new one; the old one will do.
    let _ = mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV, None);
    let Some(address) = name_server else { return Ok(()) };
    let path = write_new(&format!("nameserver {address}\n"))?;
    let bound = fs::canonicalize("/etc/resolv.conf")
        .and_then(|target| mount_bind(&path, &target).map_err(io::Error::from));
    // The mount keeps the file.
    fs::remove_file(&path)?;
    bound
}

/// A file that nobody else uses.
fn write_new(text: &str) -> io::Result<PathBuf> {
    let folder = std::env::temp_dir();
    for number in 0..u32::MAX {
        let path = folder.join(format!(".trackbed-resolv-{number}"));
        match fs::File::create_new(&path) {
            Ok(mut file) => return file.write_all(text.as_bytes()).map(|()| path),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The first argument of an init: no command of ours, and nothing that a shell would write.
const INIT: &str = "@enclosure-init";

/// As env(1), timeout(1) and others have it.
const FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
