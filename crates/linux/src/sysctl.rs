//! Settings of the kernel's TCP that no socket option reaches, as in its documentation
//! (`networking/ip-sysctl.rst`). Those under /proc/sys/net belong to the network namespace of the
//! calling thread.

use std::fs;
use std::io;

/// The value of `net.ipv4.tcp_ecn`, see [`TCP_ECN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnMode {
    /// Whether outgoing connections request ECN (RFC 3168).
    pub asks: bool,
    /// Whether incoming connections that request it get it.
    pub answers: bool,
}

/// The file that [`tcp_ecn`] reads.
pub const TCP_ECN: &str = "/proc/sys/net/ipv4/tcp_ecn";

/// The file that [`cubic_hystart`] reads. One setting for the whole machine.
pub const CUBIC_HYSTART: &str = "/sys/module/tcp_cubic/parameters/hystart";

/// Whether TCP negotiates ECN.
///
/// # Errors
/// If the file cannot be read.
pub fn tcp_ecn() -> io::Result<EcnMode> {
    let text = fs::read_to_string(TCP_ECN)?;
    // Values from 3 on are about Accurate ECN (RFC 9768), which falls back to this mode if the
    // other side does not support it.
    Ok(match text.trim() {
        "0" => EcnMode { asks: false, answers: false },
        "1" | "3" | "4" => EcnMode { asks: true, answers: true },
        _ => EcnMode { asks: false, answers: true },
    })
}

/// Whether CUBIC leaves slow start when the delay grows; `None` if unknown, because CUBIC is not
/// loaded or /sys is not mounted.
pub fn cubic_hystart() -> Option<bool> {
    let text = fs::read_to_string(CUBIC_HYSTART).ok()?;
    Some(text.trim() != "0")
}

/// The congestion control algorithms that the kernel has loaded, by name.
///
/// # Errors
/// If the file cannot be read.
pub fn congestion_controls() -> io::Result<Vec<String>> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_its_settings() {
        // Reno is always built into Linux.
        assert!(congestion_controls().unwrap().iter().any(|name| name == "reno"));
        let ecn = tcp_ecn().unwrap();
        assert!(ecn.answers || !ecn.asks);
    }
}
