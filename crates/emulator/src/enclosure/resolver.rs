//! Where the programs of an enclosure learn whom to ask for names: resolv.conf(5), and the
//! short-cuts past it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};

/// Puts a file with this text in the place of /etc/resolv.conf, for this process and those that it
/// starts. Call it in a mount namespace of its own.
///
/// # Errors
/// If there is no such file: what is not there cannot be replaced without changing the machine.
pub(super) fn replace(text: &str) -> io::Result<()> {
    let there = |path| fs::exists(path).unwrap_or(false);
    if !there(FILE) {
        let why = format!("there is no {FILE}; make one, an empty one will do");
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    // A file that is nowhere else: in a file system in memory, whose folder is gone again when the
    // file has its place. The new /proc will cover the old one anyway.
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", SCAFFOLD, "tmpfs", flags, None)?;
    let file = format!("{SCAFFOLD}/resolv.conf");
    let placed = fs::write(&file, text)
        .and_then(|()| fs::set_permissions(&file, Permissions::from_mode(0o444)))
        // Through a symbolic link to what it points to: many machines have one here.
        .and_then(|()| Ok(mount_bind(&file, FILE)?));
    unmount(SCAFFOLD, UnmountFlags::DETACH)?;
    placed?;
    for socket in SHORT_CUTS.into_iter().filter(|path| there(path)) {
        // Who speaks to it is refused, and then asks as resolv.conf says.
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
