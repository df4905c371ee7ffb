//! Name servers: those of the machine, and the file that directs the command's queries to the
//! gateway.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use std::path::PathBuf;

/// Where name servers listen (RFC 1035 section 4.2).
pub(super) const PORT: u16 = 53;

const FILE: &str = "/etc/resolv.conf";

/// The machine's name servers, one at a time.
#[derive(Debug)]
pub(super) struct NameServers {
    file: PathBuf,
    failures: usize,
}

impl NameServers {
    pub(super) fn new() -> NameServers {
        NameServers { file: FILE.into(), failures: 0 }
    }

    /// The current server. The file is read each time, because a machine may change its network.
    pub(super) fn current(&self) -> SocketAddr {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let servers = servers(&text);
        servers[self.failures % servers.len()]
    }

    /// A server has not answered; the next one is used from now on.
    pub(super) fn has_failed(&mut self, server: SocketAddr) {
        if self.current() == server {
            self.failures += 1;
        }
    }
}

/// The servers in a resolv.conf(5); without any, the machine's own.
fn servers(text: &str) -> Vec<SocketAddr> {
    let named = text.lines().filter_map(|line| address(line.strip_prefix("nameserver")?.trim()));
    let named: Vec<SocketAddr> = named.take(SERVERS_MAX).collect();
    if named.is_empty() { vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PORT)] } else { named }
}

/// An address, possibly with an interface (`fe80::1%eth0`).
fn address(text: &str) -> Option<SocketAddr> {
    let Some((address, zone)) = text.split_once('%') else {
        let address: IpAddr = text.parse().ok()?;
        return Some(SocketAddr::new(address, PORT));
    };
    let index = || fs::read_to_string(format!("/sys/class/net/{zone}/ifindex")).ok();
    let scope = zone.parse().ok().or_else(|| index()?.trim().parse().ok())?;
    Some(SocketAddrV6::new(address.parse().ok()?, PORT, 0, scope).into())
}

/// The text of /etc/resolv.conf behind the link: the machine's, with `gateway` as the only server.
pub(crate) fn inside(gateway: IpAddr) -> String {
    replace_servers(&fs::read_to_string(FILE).unwrap_or_default(), gateway)
}

fn replace_servers(text: &str, gateway: IpAddr) -> String {
    let keep = |line: &&str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        !word.is_empty() && word != "nameserver" && !word.starts_with(['#', ';'])
    };
    let kept: String = text.lines().filter(keep).map(|line| format!("{line}\n")).collect();
    format!(
        "# The name servers of this machine, asked through the link.\nnameserver {gateway}\n{kept}"
    )
}

/// `MAXNS` of resolv.conf(5).
const SERVERS_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# by hand\nsearch example.org example.net\nnameserver 127.0.0.53\n\
                        nameserver\tfe80::1%7\noptions edns0 trust-ad\n";

    #[test]
    fn search_domains_and_options_are_kept() {
        let inside = replace_servers(TEXT, "100.64.0.1".parse().unwrap());
        let lines: Vec<&str> = inside.lines().skip(1).collect();
        let expected =
            ["nameserver 100.64.0.1", "search example.org example.net", "options edns0 trust-ad"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn every_kind_of_server_is_understood() {
        let v6 = SocketAddrV6::new("fe80::1".parse().unwrap(), PORT, 0, 7);
        assert_eq!(servers(TEXT), ["127.0.0.53:53".parse().unwrap(), v6.into()]);
        assert_eq!(servers("search x\nnameserver nonsense"), ["127.0.0.1:53".parse().unwrap()]);
    }

    #[test]
    fn the_next_server_is_asked_when_one_fails() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("resolv.conf");
        fs::write(&file, "nameserver 192.0.2.1\nnameserver 192.0.2.2\n").unwrap();
        let mut names = NameServers { file, failures: 0 };
        let first = names.current();
        names.has_failed(first);
        assert_eq!(names.current(), "192.0.2.2:53".parse().unwrap());
        // A late failure of the first one.
        names.has_failed(first);
        assert_eq!(names.current(), "192.0.2.2:53".parse().unwrap());
    }
}
