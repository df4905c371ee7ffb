//! What can keep a machine from giving us namespaces, and what to do about it.

use std::fs;
use std::io;

/// Something about namespaces that did not work, and what would help.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {why}{}", .remedy.as_ref().map(|what| format!("\n  help: {what}")).unwrap_or_default())]
pub struct NamespaceError {
    step: Step,
    why: io::Error,
    remedy: Option<String>,
}

/// What was being done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum Step {
    #[error("this machine does not let you make a user namespace")]
    User,
    #[error("the user namespace got no identity")]
    UserMap,
    #[error("this machine does not let you make a network namespace")]
    Network,
    #[error("this machine does not let you make mount and process namespaces")]
    Process,
    #[error("cannot move into a network namespace")]
    Enter,
    #[error("cannot read /proc")]
    Proc,
    #[error("cannot start a thread")]
    Thread,
    #[error("{0}")]
    Configure(String),
    #[error("cannot open a packet socket")]
    PacketSocket,
}

impl NamespaceError {
    pub(crate) fn new(step: Step, why: io::Error) -> NamespaceError {
        let denied = matches!(step, Step::User | Step::UserMap | Step::Network | Step::Process);
        let remedy = denied.then(|| remedy(&Machine::read(), &why)).flatten();
        NamespaceError { step, why, remedy }
    }

    /// Whether what was to be made is there already.
    pub(crate) fn is_taken(&self) -> bool {
        self.why.kind() == io::ErrorKind::AlreadyExists
    }
}

/// The settings of a machine that keep users from making namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Machine {
    /// `user.max_user_namespaces`.
    max_user_namespaces: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, of Debian's older kernels.
    unprivileged_clone: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, of Ubuntu from 23.10 on.
    apparmor_restricts: Option<u64>,
    /// A container engine has left its mark.
    in_container: bool,
}

impl Machine {
    fn read() -> Machine {
        let number =
            |name: &str| fs::read_to_string(format!("/proc/sys/{name}")).ok()?.trim().parse().ok();
        let there = |path: &str| fs::exists(path).unwrap_or(false);
        Machine {
            max_user_namespaces: number("user/max_user_namespaces"),
            unprivileged_clone: number("kernel/unprivileged_userns_clone"),
            apparmor_restricts: number("kernel/apparmor_restrict_unprivileged_userns"),
            in_container: there("/.dockerenv") || there("/run/.containerenv"),
        }
    }
}

fn remedy(machine: &Machine, why: &io::Error) -> Option<String> {
    let set = |setting: &str| Some(format!("run `sudo sysctl -w {setting}`, or run this as root"));
    match machine {
        Machine { max_user_namespaces: Some(0), .. } => set("user.max_user_namespaces=10000"),
        Machine { unprivileged_clone: Some(0), .. } => set("kernel.unprivileged_userns_clone=1"),
        Machine { apparmor_restricts: Some(1..), .. } => {
            set("kernel.apparmor_restrict_unprivileged_userns=0")
        }
        Machine { in_container: true, .. } => Some(
            "let the container do it: `docker run --cap-add SYS_ADMIN --cap-add NET_ADMIN \
             --security-opt seccomp=unconfined --security-opt apparmor=unconfined ...`"
                .to_owned(),
        ),
        _ if why.raw_os_error() == Some(ENOSPC) => {
            set("user.max_net_namespaces=10000 user.max_user_namespaces=10000")
        }
        _ if why.kind() == io::ErrorKind::PermissionDenied => Some(
            "something (a seccomp filter, a security module) forbids it; run this as root, or \
             outside of the sandbox"
                .to_owned(),
        ),
        _ => None,
    }
}

/// What the kernel says when there are too many namespaces.
const ENOSPC: i32 = rustix::io::Errno::NOSPC.raw_os_error();

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(machine: &Machine) -> String {
        remedy(machine, &io::Error::from_raw_os_error(1)).unwrap()
    }

    #[test]
    fn each_obstacle_has_its_own_remedy() {
        let free = Machine { max_user_namespaces: Some(96_000), ..Machine::default() };
        assert!(advice(&free).contains("seccomp"));
        let none = Machine { max_user_namespaces: Some(0), ..free.clone() };
        assert!(advice(&none).contains("user.max_user_namespaces="));
        let debian = Machine { unprivileged_clone: Some(0), ..free.clone() };
        assert!(advice(&debian).contains("kernel.unprivileged_userns_clone=1"));
        let ubuntu = Machine { apparmor_restricts: Some(1), ..free.clone() };
        assert!(advice(&ubuntu).contains("apparmor_restrict_unprivileged_userns=0"));
        let docker = Machine { in_container: true, ..free };
        assert!(advice(&docker).contains("docker run"));
    }
}
