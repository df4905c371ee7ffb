//! Third-party programs that some tests use.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A program and the Debian package that holds it.
pub struct Tool {
    /// Its name, or the whole path of a file that is no program.
    program: &'static str,
    package: &'static str,
}

/// The tools that tests use if they are installed: `capinfos` and `tshark` read our captures back,
/// `strace` lets calls fail; the others are servers and clients at the ends of a run, or a library that
/// is one.
pub const TOOLS: &[Tool] = &[
    Tool { program: "strace", package: "strace" },
    Tool { program: "tshark", package: "tshark" },
    Tool { program: "nginx", package: "nginx" },
    Tool { program: "nghttpd", package: "nghttp2-server" },
    Tool { program: "caddy", package: "caddy" },
    Tool { program: "mosquitto", package: "mosquitto" },
    Tool { program: "mosquitto_pub", package: "mosquitto-clients" },
    Tool { program: "coap-server-openssl", package: "libcoap3-bin" },
    Tool { program: "openssl", package: "openssl" },
    Tool { program: "curl", package: "curl" },
    Tool { program: "ffmpeg", package: "ffmpeg" },
    Tool { program: "chromium", package: "chromium" },
    Tool { program: "gpsfake", package: "gpsd-clients" },
    Tool { program: "gpsd", package: "gpsd" },
    Tool { program: "nft", package: "nftables" },
    Tool { program: "ss", package: "iproute2" },
    Tool { program: "Rscript", package: "r-base-core" },
    Tool { program: "munged", package: "munge" },
    Tool { program: "slurmctld", package: "slurm-wlm" },
    Tool { program: "/usr/include/usrsctp.h", package: "libusrsctp-dev" },
];

/// The Debian packages of missing programs.
pub fn missing() -> Vec<&'static str> {
    TOOLS.iter().filter(|tool| !is_there(tool.program)).map(|tool| tool.package).collect()
}

/// Installs packages if this is Debian, as root, and returns whether it succeeded.
pub fn install(packages: &[&str]) -> bool {
    let mut words = vec!["install", "-y", "--no-install-recommends"];
    words.extend(packages);
    is_root() && is_there("apt-get") && apt(&["update"]) && apt(&words)
}

/// The Debian package of a program in the list.
pub fn package(program: &str) -> Option<&'static str> {
    TOOLS.iter().find(|tool| tool.program == program).map(|tool| tool.package)
}

/// Whether it is in a folder of `PATH`, or of those where Debian keeps servers. Servers are not
/// started to check this: some run despite unknown arguments.
pub fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let servers = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(servers).any(|folder| folder.join(program).is_file())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn apt(words: &[&str]) -> bool {
    Command::new("apt-get")
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
