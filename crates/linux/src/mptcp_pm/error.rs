//! What can keep us from speaking to the path manager, and what to do about it.

use std::fmt;
use std::io;

/// Something about the path manager that did not work, and what would help.
#[derive(Debug)]
#[non_exhaustive]
pub enum PathManagerError {
    /// The kernel has no Multipath TCP.
    NoMptcp,
    /// The process may not change it.
    NotPermitted {
        /// What was being done.
        what: String,
    },
    /// The kernel does not do it.
    Refused {
        /// What was being done.
        what: String,
        /// What the kernel says.
        why: io::Error,
        /// And in its own words, if it has any.
        explanation: Option<String>,
    },
    /// The socket to the kernel does not work.
    Socket(io::Error),
    /// The kernel's answer makes no sense.
    Garbled {
        /// What was being done.
        what: String,
    },
}

impl fmt::Display for PathManagerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathManagerError::NoMptcp => f.write_str(
                "this kernel has no Multipath TCP (generic netlink family \"mptcp_pm\")\n  help: use \
                 Linux 5.16 or later with CONFIG_MPTCP=y; `sysctl net.mptcp.enabled` tells",
            ),
            PathManagerError::NotPermitted { what } => write!(
                f,
                "cannot {what}: it takes the capability CAP_NET_ADMIN in this network namespace\n  \
                 help: run this as root, or give a service AmbientCapabilities=CAP_NET_ADMIN"
            ),
            PathManagerError::Refused { what, why, explanation: Some(explanation) } => {
                write!(f, "cannot {what}: {explanation} ({why})")
            }
            PathManagerError::Refused { what, why, explanation: None } => {
                write!(f, "cannot {what}: {why}")
            }
            PathManagerError::Socket(why) => write!(f, "cannot speak to the kernel: {why}"),
            PathManagerError::Garbled { what } => {
                write!(f, "cannot {what}: the kernel's answer is garbled")
            }
        }
    }
}

impl std::error::Error for PathManagerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PathManagerError::Refused { why, .. } | PathManagerError::Socket(why) => Some(why),
            _ => None,
        }
    }
}

impl From<io::Error> for PathManagerError {
    fn from(why: io::Error) -> PathManagerError {
        PathManagerError::Socket(why)
    }
}
