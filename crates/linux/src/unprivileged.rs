//! What a program does without that root starts: setgroups(2), setresuid(2), capabilities(7) and prctl(2).

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

/// A user without rights, with one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The user.
    pub uid: u32,
    /// Their only group.
    pub gid: u32,
}

impl User {
    /// The kernel's overflow user and group (proc(5), `overflowuid`), to which nothing belongs.
    pub const OVERFLOW: User = User { uid: 65_534, gid: 65_534 };

    /// Who is to run third-party programs in place of root: the user who called sudo(8), or
    /// [`User::OVERFLOW`]. `None` if this process is not root, or is root of a user namespace that has no
    /// other user: outside, it has no more rights than the user who made that namespace.
    pub fn in_place_of_root() -> Option<User> {
        if !geteuid().is_root() {
            return None;
        }
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        let caller = User::caller(number("SUDO_UID"), number("SUDO_GID"));
        caller.into_iter().chain([User::OVERFLOW]).find(|user| user.exists_here())
    }

    fn caller(uid: Option<u32>, gid: Option<u32>) -> Option<User> {
        let user = User { uid: uid?, gid: gid? };
        (user.uid != 0 && user.gid != 0).then_some(user)
    }

    /// Whether the user namespace of this process has this user, and lets groups be dropped.
    fn exists_here(self) -> bool {
        // Without /proc this cannot be checked; assume that it does.
        let has = |file: &str, number| {
            fs::read_to_string(format!("/proc/self/{file}"))
                .map_or(true, |map| is_mapped(&map, number))
        };
        let groups = fs::read_to_string("/proc/self/setgroups");
        has("uid_map", self.uid)
            && has("gid_map", self.gid)
            && groups.map_or(true, |said| said.trim() != "deny")
    }

    /// Whether the user may pass through `folder` and all folders above it. Only their modes count.
    pub fn may_reach(self, folder: &Path) -> bool {
        let may_pass = |step: &Path| fs::metadata(step).is_ok_and(|about| self.may_pass(&about));
        fs::canonicalize(folder).is_ok_and(|folder| folder.ancestors().all(may_pass))
    }

    fn may_pass(self, about: &Metadata) -> bool {
        let bit = match () {
            () if about.uid() == self.uid => 0o100,
            () if about.gid() == self.gid => 0o010,
            () => 0o001,
        };
        about.mode() & bit != 0
    }
}

/// Whether user_namespaces(7) has `number` inside, by a map of lines `INSIDE OUTSIDE COUNT`.
fn is_mapped(map: &str, number: u32) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(first)), Some(Ok(_)), Some(Ok(count))) =
            (fields.next(), fields.next(), fields.next())
        else {
            return false;
        };
        (first..first + count).contains(&u64::from(number))
    })
}

/// Lets `command` run as `user`: without supplementary groups and capabilities, and with
/// `no_new_privs`, so that no program gives them back. Call it before
/// [`die_with_parent`](crate::parent::die_with_parent), whose setting a change of user resets.
pub fn demote(command: &mut Command, user: User) -> &mut Command {
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    let leave = move || {
        set_thread_groups(&[])?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        clear_ambient_capability_set()?;
        set_no_new_privs(true)?;
        let none = CapabilitySet::empty();
        // The change of user has emptied the others, unless securebits forbid it.
        let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, none).map_err(io::Error::from)
    };
    // SAFETY: between fork and exec, in a process of one thread, `leave` makes system calls and
    // allocates nothing.
    unsafe { command.pre_exec(leave) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_user_is_the_one_who_called_sudo_and_never_root() {
        let caller = Some(User { uid: 1_000, gid: 100 });
        assert_eq!(User::caller(Some(1_000), Some(100)), caller);
        for (uid, gid) in
            [(Some(0), Some(0)), (Some(1_000), Some(0)), (None, Some(1)), (Some(1), None)]
        {
            assert_eq!(User::caller(uid, gid), None, "{uid:?} {gid:?}");
        }
    }

    #[test]
    fn a_map_has_the_users_of_its_ranges() {
        let whole = "         0          0 4294967295\n";
        assert!(is_mapped(whole, 65_534) && is_mapped(whole, 0));
        let parts = "0 1000 1\n1 100000 65536\n";
        assert!(is_mapped(parts, 65_534) && is_mapped(parts, 65_536) && !is_mapped(parts, 65_537));
        assert!(!is_mapped("0 1000 1\n", 65_534) && !is_mapped("", 0));
    }

    #[test]
    fn a_folder_below_a_private_one_is_out_of_reach() {
        let folder = std::env::temp_dir().join(format!("trackbed-reach-{}", std::process::id()));
        let inside = folder.join("inside");
        fs::create_dir_all(&inside).unwrap();
        let may_reach = |mode| {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            let other = User { uid: geteuid().as_raw() + 1, gid: u32::MAX - 1 };
            other.may_reach(&inside)
        };
        let is_open = User::OVERFLOW.may_reach(&std::env::temp_dir());
        assert_eq!((may_reach(0o711), may_reach(0o710)), (is_open, false));
        assert!(!User::OVERFLOW.may_reach(&folder.join("none")));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_demoted_program_has_no_rights_left() {
        let Some(user) = User::in_place_of_root() else {
            return eprintln!("SKIPPED: only root can become another user");
        };
        let mut command = Command::new("cat");
        let said = demote(command.arg("/proc/self/status"), user).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let field = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let User { uid, gid } = user;
        assert_eq!(field("Uid:"), [const { "" }; 4].map(|_| uid.to_string()));
        assert_eq!(field("Gid:"), [const { "" }; 4].map(|_| gid.to_string()));
        assert!(field("Groups:").is_empty(), "{said}");
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(field(set), ["0000000000000000"], "{set}");
        }
        assert_eq!(field("NoNewPrivs:"), ["1"]);
    }
}
