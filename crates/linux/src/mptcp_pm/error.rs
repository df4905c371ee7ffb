//! Errors of the path manager, and what to do about them.

use std::io;

/// A failed operation of the path manager, with a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum PathManagerError {
    #[error(
        "this kernel has no Multipath TCP (generic netlink family \"mptcp_pm\")\n  help: use Linux \
         5.16 or later with CONFIG_MPTCP=y; check with `sysctl net.mptcp.enabled`"
    )]
    NoMptcp,
    #[error(
        "cannot {what}: the capability CAP_NET_ADMIN is required in this network namespace\n  help: \
         run this as root, or give a service AmbientCapabilities=CAP_NET_ADMIN"
    )]
    NotPermitted { what: String },
    #[error("cannot {what}: {}", reason(.why, .explanation.as_deref()))]
    Refused {
        what: String,
        #[source]
        why: io::Error,
        explanation: Option<String>,
    },
    #[error("cannot communicate with the kernel: {0}")]
    Socket(#[from] io::Error),
    #[error("cannot {what}: the kernel's response is malformed")]
    Garbled { what: String },
}

fn reason(why: &io::Error, explanation: Option<&str>) -> String {
    match explanation {
        Some(explanation) => format!("{explanation} ({why})"),
        None => why.to_string(),
    }
}
