//! What can keep us from speaking to the path manager, and what to do about it.

use std::io;

/// Something about the path manager that did not work, and what would help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum PathManagerError {
    #[error(
        "this kernel has no Multipath TCP (generic netlink family \"mptcp_pm\")\n  help: use Linux \
         5.16 or later with CONFIG_MPTCP=y; `sysctl net.mptcp.enabled` tells"
    )]
    NoMptcp,
    #[error(
        "cannot {what}: it takes the capability CAP_NET_ADMIN in this network namespace\n  help: \
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
    #[error("cannot speak to the kernel: {0}")]
    Socket(#[from] io::Error),
    #[error("cannot {what}: the kernel's answer is garbled")]
    Garbled { what: String },
}

fn reason(why: &io::Error, explanation: Option<&str>) -> String {
    match explanation {
        Some(explanation) => format!("{explanation} ({why})"),
        None => why.to_string(),
    }
}
