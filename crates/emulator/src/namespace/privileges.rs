//! The right to create network namespaces: by capability, or in a separate user namespace.

use std::fs;

use rustix::process::{getgid, getuid};
use rustix::thread::{
    CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use trackbed_linux::namespaces::{Kind, unshare};

use super::error::{NamespaceError, Step};

/// How this process may create namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privileges {
    /// It already has the capabilities: as root, or inside a user namespace.
    Capable,
    /// It has moved to a new user namespace, in which it is the same user and has all capabilities.
    UserNamespace,
}

/// Ensures that this process, and the programs that it starts, can create network namespaces and
/// configure them. Nothing outside changes.
///
/// Call it before the process has a second thread: the kernel moves only single-threaded processes
/// to a user namespace.
///
/// # Errors
/// If the machine forbids it; the message includes the remedy.
pub fn acquire() -> Result<Privileges, NamespaceError> {
    if is_capable() {
        return Ok(Privileges::Capable);
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(&[Kind::User]).map_err(|why| NamespaceError::new(Step::User, why))?;
    let write = |file: &str, text: String| {
        let written = fs::write(format!("/proc/self/{file}"), text);
        written.map_err(|why| NamespaceError::new(Step::UserMap, why))
    };
    // Only processes that cannot drop groups may write a group map (CVE-2014-8989).
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))?;
    hand_down().map_err(|why| NamespaceError::new(Step::UserMap, why.into()))?;
    Ok(Privileges::UserNamespace)
}

fn is_capable() -> bool {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

/// Lets started programs keep the capabilities, so that they can do the same again inside: a user
/// other than root loses them at execve(2) unless they are ambient.
fn hand_down() -> rustix::io::Result<()> {
    let mut sets = capabilities(None)?;
    let handed = [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN, CapabilitySet::NET_RAW];
    handed.iter().for_each(|capability| sets.inheritable |= *capability);
    set_capabilities(None, sets)?;
    handed.iter().try_for_each(|one| configure_capability_in_ambient_set(*one, true))
}
