//! Name resolution inside an enclosure: resolv.conf(5), and daemons that bypass it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};

/// Replaces /etc/resolv.conf with a file of this text, for this process and those that it starts.
/// Call it in a separate mount namespace.
///
/// # Errors
/// If the file does not exist: it could not be replaced without changing the machine.
pub(super) fn replace(text: &str) -> io::Result<()> {
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
