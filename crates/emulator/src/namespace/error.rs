//! Why a machine does not allow namespaces, and the remedy.

use std::fs;
use std::io;

/// A failed operation on namespaces, and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {why}{}", .remedy.as_ref().map(|what| format!("\n  help: {what}")).unwrap_or_default())]
pub struct NamespaceError {
    step: Step,
    why: io::Error,
    remedy: Option<String>,
}

/// The failed step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages describe them")]
pub enum Step {
    #[error("this machine does not let you create a user namespace")]
    User,
    #[error("cannot set the identity of the user namespace")]
    UserMap,
    #[error("this machine does not let you create a network namespace")]
    Network,
    #[error("this machine does not let you create mount and process namespaces")]
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

    /// A setting failed, as `what` says.
    pub(crate) fn configure(what: impl Into<String>, why: io::Error) -> NamespaceError {
        NamespaceError::new(Step::Configure(what.into()), why)
    }

    /// Whether the object already exists.
    pub(crate) fn is_taken(&self) -> bool {
        self.why.kind() == io::ErrorKind::AlreadyExists
    }
}

/// The settings of a machine that prevent users from creating namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Machine {
    /// `user.max_user_namespaces`.
    max_user_namespaces: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, of Debian's older kernels.
    unprivileged_clone: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, of Ubuntu from 23.10 on.
    apparmor_restricts: Option<u64>,
    /// Whether this looks like a container.
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
            "a seccomp filter or a security module forbids it; run this as root, or outside of the \
             sandbox"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The kernel's error for too many namespaces.
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
