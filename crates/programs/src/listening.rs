//! Checks whether a server listens, without sending anything: proc_pid_net(5).

use std::fs;

use crate::program::{Listens, Transport};

/// Whether a socket in the network namespace of process `pid` is listening.
pub(crate) fn is_listening(pid: u32, wanted: Listens) -> bool {
    let tables: &[(&str, &str)] = match wanted.transport {
        Some(Transport::Tcp) => &TCP,
        Some(Transport::Udp) => &UDP,
        None => &[TCP[0], TCP[1], UDP[0], UDP[1]],
    };
    tables.iter().any(|(table, state)| {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        has_socket(&text, wanted.port, state)
    })
}

/// Whether a table has a socket with this local port and state.
fn has_socket(table: &str, port: u16, state: &str) -> bool {
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (Some(local), _, Some(found)) = (fields.next(), fields.next(), fields.next()) else {
            return false;
        };
        let local = local.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
        local == Some(port) && found == state
    })
}

/// The tables of each transport, and the state of a listening socket: `TCP_LISTEN`, and for UDP,
/// whose sockets do not listen, `TCP_CLOSE`.
const TCP: [(&str, &str); 2] = [("tcp", "0A"), ("tcp6", "0A")];
const UDP: [(&str, &str); 2] = [("udp", "07"), ("udp6", "07")];

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;

    /// While sockets of other programs come and go, a single check may miss one (proc_pid_net(5)
    /// gives no snapshot); the next one finds it.
    #[test]
    fn a_socket_is_seen_while_it_is_there() {
        let here = std::process::id();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let ports = [tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port()];
        let see =
            |transport, port| (0..100).any(|_| is_listening(here, Listens { transport, port }));
        assert!(see(Some(Transport::Tcp), ports[0]) && see(None, ports[0]));
        assert!(see(Some(Transport::Udp), ports[1]) && see(None, ports[1]));
    }

    #[test]
    fn no_socket_listens_on_port_0() {
        for transport in [Some(Transport::Tcp), Some(Transport::Udp), None] {
            assert!(!is_listening(std::process::id(), Listens { transport, port: 0 }));
        }
    }

    #[test]
    fn a_connection_is_no_listener() {
        let line = "  sl  local_address rem_address   st\n   0: 0100000A:01BB 0200000A:C350 01 0:0";
        assert!(!has_socket(line, 443, "0A"));
        assert!(has_socket(line, 443, "01"));
    }
}
