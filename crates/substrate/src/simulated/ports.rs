//! The ports of one host and one transport protocol.

use std::io;
use std::net::{IpAddr, SocketAddr};

use rustc_hash::FxHashMap;

#[derive(Debug)]
pub(super) struct Ports {
    /// Only looked up, never iterated.
    bound: FxHashMap<u16, Vec<Bound>>,
    next_ephemeral: u16,
}

#[derive(Clone, Copy, Debug)]
struct Bound {
    address: IpAddr,
    key: u32,
}

impl Ports {
    pub(super) fn new() -> Ports {
        Ports { bound: FxHashMap::default(), next_ephemeral: EPHEMERAL_FIRST }
    }

    /// The socket for packets to `local`: one bound to that address before one bound to all.
    pub(super) fn lookup(&self, local: SocketAddr) -> Option<u32> {
        let bound = self.bound.get(&local.port())?;
        let exact = bound.iter().find(|b| b.address == local.ip());
        let any = || {
            bound
                .iter()
                .find(|b| b.address.is_unspecified() && b.address.is_ipv4() == local.is_ipv4())
        };
        exact.or_else(any).map(|b| b.key)
    }

    pub(super) fn is_free(&self, local: SocketAddr) -> bool {
        let overlaps = |b: &Bound| {
            b.address.is_ipv4() == local.is_ipv4()
                && (b.address == local.ip()
                    || b.address.is_unspecified()
                    || local.ip().is_unspecified())
        };
        !self.bound.get(&local.port()).is_some_and(|bound| bound.iter().any(overlaps))
    }

    pub(super) fn bind(&mut self, local: SocketAddr, key: u32) {
        self.bound.entry(local.port()).or_default().push(Bound { address: local.ip(), key });
    }

    pub(super) fn release(&mut self, local: SocketAddr, key: u32) {
        if let Some(bound) = self.bound.get_mut(&local.port()) {
            bound.retain(|b| b.key != key);
            if bound.is_empty() {
                self.bound.remove(&local.port());
            }
        }
    }

    /// `local` itself if it has a port, else with the next ephemeral port that is free and that
    /// `usable` does not reject. The ports are handed out in turn, so that a port just freed, for
    /// which packets may still be in flight, is reused last.
    pub(super) fn choose(
        &mut self,
        local: SocketAddr,
        usable: impl Fn(SocketAddr) -> bool,
    ) -> io::Result<SocketAddr> {
        if local.port() != 0 {
            return match self.is_free(local) {
                true => Ok(local),
                false => Err(in_use(format!("{local} is in use; choose another port"))),
            };
        }
        for _ in EPHEMERAL_FIRST..=EPHEMERAL_LAST {
            let candidate = SocketAddr::new(local.ip(), self.next_ephemeral);
            self.next_ephemeral = match self.next_ephemeral {
                EPHEMERAL_LAST => EPHEMERAL_FIRST,
                port => port + 1,
            };
            if self.is_free(candidate) && usable(candidate) {
                return Ok(candidate);
            }
        }
        Err(in_use(format!("every ephemeral port of {} is in use; close sockets", local.ip())))
    }
}

fn in_use(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::AddrInUse, message)
}

/// The Linux default of `net.ipv4.ip_local_port_range`.
const EPHEMERAL_FIRST: u16 = 32_768;
const EPHEMERAL_LAST: u16 = 60_999;

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_exact_binding_comes_before_one_to_all_addresses() {
        let mut ports = Ports::new();
        ports.bind(address("0.0.0.0:53"), 1);
        ports.bind(address("[::]:53"), 2);
        ports.bind(address("10.0.0.1:54"), 3);
        assert_eq!(ports.lookup(address("10.0.0.1:53")), Some(1));
        assert_eq!(ports.lookup(address("[fd00::1]:53")), Some(2));
        assert_eq!(ports.lookup(address("10.0.0.2:54")), None);
        assert!(!ports.is_free(address("10.0.0.1:53")));
        assert!(!ports.is_free(address("0.0.0.0:54")));
        assert!(ports.is_free(address("10.0.0.2:54")));
        ports.release(address("0.0.0.0:53"), 1);
        assert!(ports.is_free(address("10.0.0.1:53")));
    }

    #[test]
    fn ephemeral_ports_come_in_turn_and_run_out_with_an_error() {
        let mut ports = Ports::new();
        let any = address("10.0.0.1:0");
        let count = usize::from(EPHEMERAL_LAST - EPHEMERAL_FIRST) + 1;
        for n in 0..count {
            let local = ports.choose(any, |_| true).unwrap();
            assert_eq!(usize::from(local.port()), usize::from(EPHEMERAL_FIRST) + n);
            ports.bind(local, n as u32);
        }
        assert_eq!(ports.choose(any, |_| true).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        ports.release(address("10.0.0.1:40000"), 40_000 - u32::from(EPHEMERAL_FIRST));
        assert_eq!(ports.choose(any, |_| true).unwrap().port(), 40_000);
    }
}
