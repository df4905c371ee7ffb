//! The first process of an enclosure: it starts the command, reaps processes, forwards signals, and
//! ends everything when it exits.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::{io, thread};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount,
};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use trackbed_linux::inherited;
use trackbed_linux::unprivileged::{User, demote};

use super::account::Account;
use crate::clock::Clock;

/// The arguments that start this program as an init, before those of the command. `lifeline` is the
/// number of the descriptor whose end ends everything, `account` that of the descriptor for the
/// resources used by the command. `resolver` is the new text of /etc/resolv.conf, if there is one, and
/// `user` the user of the command, if it is another.
pub(super) fn arguments(
    lifeline: i32,
    account: i32,
    resolver: Option<&str>,
    user: Option<User>,
) -> [String; 5] {
    let resolver = resolver.unwrap_or_default().to_owned();
    let user = user.map_or_else(String::new, |User { uid, gid }| format!("{uid}:{gid}"));
    [INIT.to_owned(), lifeline.to_string(), account.to_string(), resolver, user]
}

/// If this process was started as an init, does its work and returns the exit code; otherwise
/// `None`. Call it first, with all arguments of the process.
pub fn init(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut arguments = arguments.into_iter().skip(1);
    arguments.next().filter(|first| first == INIT)?;
    let mut descriptor = || arguments.next()?.into_string().ok()?.parse().ok();
    let (lifeline, account) = (descriptor()?, descriptor()?);
    let resolver = arguments.next()?.into_string().ok()?;
    let user = match arguments.next()?.to_str()? {
        "" => None,
        // What is not understood must not run as root.
        text => Some(user(text)?),
    };
    let command: Vec<OsString> = arguments.collect();
    Some(serve(lifeline, account, &resolver, user, &command))
}

fn user(text: &str) -> Option<User> {
    let (uid, gid) = text.split_once(':')?;
    Some(User { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
}

fn serve(
    lifeline: i32,
    account: i32,
    resolver: &str,
    user: Option<User>,
    command: &[OsString],
) -> u8 {
    let (Ok(lifeline), Ok(account)) = (inherited(lifeline), inherited(account)) else {
        return FAILED;
    };
    if let Err(why) = furnish(resolver) {
        eprintln!("trackbed: cannot separate the enclosure's mounts: {why}");
    }
    // Before the command starts, so that no signal is lost.
    let Ok(signals) = SignalsInfo::<WithOrigin>::new(PASSED_ON) else { return FAILED };
    thread::spawn(move || follow(&lifeline));
    let Some((program, arguments)) = command.split_first() else { return FAILED };
    let begin = Clock::since(0).now();
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(user) = user {
        demote(&mut command, user);
    }
    match command.spawn() {
        Ok(child) => {
            let child = Pid::from_child(&child);
            thread::spawn(move || pass_on(signals, child));
            let code = outlive(child);
            Account::close(begin).tell(account);
            code
        }
        Err(why) => {
            let user = user.map(|user| format!(" as user {}", user.uid)).unwrap_or_default();
            eprintln!("trackbed: cannot run {}{user}: {why}", program.display());
            if why.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
        }
    }
}

/// Ends this process, and all others of the enclosure, when the lifeline ends.
fn follow(lifeline: &OwnedFd) {
    // No data is ever written to it.
    while rustix::io::read(lifeline, &mut [0; 1]) == Err(rustix::io::Errno::INTR) {}
    std::process::exit(FAILED.into());
}

fn pass_on(mut signals: SignalsInfo<WithOrigin>, child: Pid) {
    for origin in signals.forever() {
        // The command gets signals of the terminal directly. Processes outside have no number here.
        let is_from_outside = origin.process.is_some_and(|sender| sender.pid == 0);
        let is_of_keys = [SIGINT, SIGQUIT].contains(&origin.signal);
        if is_of_keys && !is_from_outside {
            continue;
        }
        if let Some(signal) = Signal::from_named_raw(origin.signal) {
            // It may just have ended.
            let _ = kill_process(child, signal);
        }
    }
}

/// Waits for the command, and reaps orphans until then. The exit code for signal `n` is 128 + `n`,
/// as in a shell.
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

/// Makes `/proc` show the processes of the enclosure, and the C library use the enclosure's
/// resolver.
fn furnish(resolver: &str) -> io::Result<()> {
    let down = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", down)?;
    if !resolver.is_empty()
        && let Err(why) = replace_resolver(resolver)
    {
        eprintln!("trackbed: names are not resolved through the link: {why}");
    }
    // Containers hide parts of /proc and then do not allow a new one; the old one suffices.
    let _ = mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV, None);
    Ok(())
}

/// The signals forwarded to the command.
const PASSED_ON: [i32; 8] = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH];

/// The first argument of an init: not a command, and nothing that a user would type.
const INIT: &str = "@enclosure-init";

/// As in env(1), timeout(1) and others.
const FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Replaces /etc/resolv.conf with a file of this text, for this process and those that it starts.
/// Call it in a separate mount namespace.
///
/// # Errors
/// If the file does not exist: it could not be replaced without changing the machine.
pub(super) fn replace_resolver(text: &str) -> io::Result<()> {
    let there = |path| fs::exists(path).unwrap_or(false);
    if !there(FILE) {
        let why = format!("{FILE} does not exist; create it, an empty file suffices");
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    // The file is in an in-memory file system, whose mount point is removed once the file is in
    // place. The new /proc will cover the old one anyway.
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", SCAFFOLD, "tmpfs", flags, None)?;
    let file = format!("{SCAFFOLD}/resolv.conf");
    let placed = fs::write(&file, text)
        .and_then(|()| fs::set_permissions(&file, Permissions::from_mode(0o444)))
        // Follows a symbolic link: many machines have one here.
        .and_then(|()| Ok(mount_bind(&file, FILE)?));
    unmount(SCAFFOLD, UnmountFlags::DETACH)?;
    placed?;
    for socket in SHORT_CUTS.into_iter().filter(|path| there(path)) {
        // Connections to it are refused, and clients then use resolv.conf.
        let _ = mount_bind("/dev/null", socket);
    }
    Ok(())
}

const FILE: &str = "/etc/resolv.conf";
/// A folder that every machine has.
const SCAFFOLD: &str = "/proc";

/// Sockets of daemons that answer for the C library without a packet on the link: nss-resolve(8)
/// and nscd(8).
const SHORT_CUTS: [&str; 3] =
    ["/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket", "/var/run/nscd/socket"];
