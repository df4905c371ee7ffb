//! What can keep us from speaking to the path manager, and what to do about it.

use std::io;

/// Something about the path manager that did not work, and what would help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathManagerError {
    /// The kernel has no Multipath TCP.
    #[error(
        "this kernel has no Multipath TCP (generic netlink family \"mptcp_pm\")\n  help: use Linux \
         5.16 or later with CONFIG_MPTCP=y; `sysctl net.mptcp.enabled` tells"
    )]
    NoMptcp,
    /// The process may not change it.
    #[error(
        "cannot {what}: it takes the capability CAP_NET_ADMIN in this network namespace\n  help: \
         run this as root, or give a service AmbientCapabilities=CAP_NET_ADMIN"
    )]
    NotPermitted {
        /// What was being done.
        what: String,
    },
    /// The kernel does not do it.
    #[error("cannot {what}: {}", reason(.why, .explanation.as_deref()))]
    Refused {
        /// What was being done.
        what: String,
        /// What the kernel says.
        #[source]
        why: io::Error,
        /// And in its own words, if it has any.
        explanation: Option<String>,
    },
    /// The socket to the kernel does not work.
    #[error("cannot speak to the kernel: {0}")]
    Socket(#[from] io::Error),
    /// The kernel's answer makes no sense.
    #[error("cannot {what}: the kernel's answer is garbled")]
    Garbled {
        /// What was being done.
        what: String,
    },
}

fn reason(why: &io::Error, explanation: Option<&str>) -> String {
    match explanation {
        Some(explanation) => format!("{explanation} ({why})"),
        None => why.to_string(),
    }
}
