//! Sockets of Multipath TCP: linux/mptcp.h, RFC 8684.

use std::ffi::c_int;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use crate::socket::{self, Plain};
use crate::tcp_info::{Raw, TcpInfo};

/// Whether a connected socket speaks Multipath TCP: false for plain TCP, and after a fallback to it
/// (`MPTCP_INFO`, Linux 5.16; RFC 8684 section 3.7).
pub fn speaks_mptcp(socket: impl AsFd) -> bool {
    // The start of `struct mptcp_info`: six one-byte counters, two bytes of padding, and flags.
    let mut info = [0; 3];
    match socket::get(socket, SOL_MPTCP, MPTCP_INFO, &mut info) {
        Ok(filled) => filled >= MPTCP_INFO_FLAGS_END && info[2] & MPTCP_INFO_FLAG_FALLBACK == 0,
        Err(_) => false,
    }
}

/// One subflow of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// This end's address and port.
    pub local: SocketAddr,
    /// The other end's address and port.
    pub remote: SocketAddr,
    /// The kernel's information about it.
    pub info: TcpInfo,
}

/// The current subflows of a connection, at most 8 (`MPTCP_TCPINFO` and `MPTCP_SUBFLOW_ADDRS`,
/// Linux 5.16). Empty if one opens or closes at this moment.
///
/// # Errors
/// As getsockopt(2): `EOPNOTSUPP` for a socket of plain TCP, and after a fallback to it.
pub fn subflows(socket: impl AsFd) -> io::Result<Vec<Subflow>> {
    let socket = socket.as_fd();
    let mut infos: Table<Raw> = Table::new();
    let filled = socket::get(socket, SOL_MPTCP, MPTCP_TCPINFO, &mut infos)?;
    let mut ends: Table<Ends> = Table::new();
    let named = socket::get(socket, SOL_MPTCP, MPTCP_SUBFLOW_ADDRS, &mut ends)?;
    let (infos, count) = (infos.entries(filled), ends.entries(named).len());
    if infos.len() != count {
        return Ok(Vec::new());
    }
    let width = size_of::<Raw>();
    let pairs = infos.iter().zip(ends.entries(named));
    Ok(pairs
        .filter_map(|(raw, ends)| {
            let (local, remote) = (ends.local.address()?, ends.remote.address()?);
            Some(Subflow { local, remote, info: TcpInfo::from_raw(raw, width) })
        })
        .collect())
}

/// `struct mptcp_subflow_data`, followed by the kernel's entry for each subflow.
#[repr(C)]
struct Table<T> {
    /// Size of this header in bytes; the other sizes are in bytes too.
    size_header: u32,
    /// The number of subflows of the connection, not of those written.
    number: u32,
    /// Size of an entry in the kernel.
    size_kernel: u32,
    /// Size of an entry in our buffer.
    size_user: u32,
    entries: [T; SUBFLOWS_MAX],
}

impl<T: Copy + Default> Table<T> {
    fn new() -> Table<T> {
        Table {
            size_header: HEADER as u32,
            number: 0,
            size_kernel: 0,
            size_user: size_of::<T>() as u32,
            entries: [T::default(); SUBFLOWS_MAX],
        }
    }

    /// The entries within the first `filled` bytes.
    fn entries(&self, filled: usize) -> &[T] {
        let written = filled.saturating_sub(HEADER) / size_of::<T>();
        let number = usize::try_from(self.number).unwrap_or(usize::MAX);
        &self.entries[..written.min(number).min(SUBFLOWS_MAX)]
    }
}

// SAFETY: its fields are plain numbers, and there is no padding: the entries' size is a multiple of
// eight bytes, and they follow sixteen bytes.
unsafe impl Plain for Table<Raw> {}

// SAFETY: as above.
unsafe impl Plain for Table<Ends> {}

/// `struct mptcp_subflow_addrs`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Ends {
    local: Storage,
    remote: Storage,
}

/// `struct sockaddr_storage`: 128 bytes, the first two of which are the family in native byte
/// order.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Storage([u8; 128]);

impl Default for Storage {
    fn default() -> Storage {
        Storage([0; 128])
    }
}

impl Storage {
    /// `None` for families other than IPv4 and IPv6. An IPv4-mapped IPv6 address, as used by
    /// sockets for both, becomes IPv4.
    fn address(&self) -> Option<SocketAddr> {
        let family = c_int::from(u16::from_ne_bytes([self.0[0], self.0[1]]));
        let port = u16::from_be_bytes([self.0[2], self.0[3]]);
        let ip: IpAddr = match family {
            libc::AF_INET => {
                let octets: [u8; 4] = self.0[4..8].try_into().ok()?;
                Ipv4Addr::from(octets).into()
            }
            libc::AF_INET6 => {
                let octets: [u8; 16] = self.0[8..24].try_into().ok()?;
                IpAddr::from(Ipv6Addr::from(octets)).to_canonical()
            }
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    }
}

/// `MPTCP_SUBFLOWS_MAX` of the kernel's path manager.
const SUBFLOWS_MAX: usize = 8;

/// Size of `struct mptcp_subflow_data` in bytes.
const HEADER: usize = 16;

/// From linux/socket.h.
const SOL_MPTCP: c_int = 284;

/// From linux/mptcp.h; the end of the flags in `struct mptcp_info`.
const MPTCP_INFO: c_int = 1;
const MPTCP_TCPINFO: c_int = 2;
const MPTCP_SUBFLOW_ADDRS: c_int = 3;
const MPTCP_INFO_FLAG_FALLBACK: u32 = 1;
const MPTCP_INFO_FLAGS_END: usize = 12;

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::mem::offset_of;
    use std::net::{TcpListener, TcpStream};

    use rustix::net::{self, AddressFamily, SocketType, ipproto};

    use super::*;
    use crate::tcp_info::TcpState;

    #[test]
    fn the_fields_lie_where_the_kernel_puts_them() {
        assert_eq!(offset_of!(Table<Raw>, entries), HEADER);
        assert_eq!(offset_of!(Table<Ends>, entries), HEADER);
        assert_eq!(size_of::<Table<Raw>>(), HEADER + SUBFLOWS_MAX * size_of::<Raw>());
        assert_eq!(size_of::<Table<Ends>>(), HEADER + SUBFLOWS_MAX * 256);
    }

    #[test]
    fn plain_tcp_speaks_no_mptcp_and_has_no_subflows() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(!speaks_mptcp(&client));
        assert!(subflows(&client).is_err());
    }

    /// Over loopback, the kernel opens no second subflow by itself.
    #[test]
    fn a_connection_over_loopback_has_one_subflow() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let open = || net::socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::MPTCP));
        let (Ok(listener), Ok(client)) = (open(), open()) else {
            return eprintln!("skipped: this kernel opens no sockets of MPTCP");
        };
        net::bind(&listener, &any).unwrap();
        net::listen(&listener, 1).unwrap();
        let listener = TcpListener::from(listener);
        let at = listener.local_addr().unwrap();
        net::connect(&client, &at).unwrap();
        let mut client = TcpStream::from(client);
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 1_000]).unwrap();
        server.read_exact(&mut [0; 1_000]).unwrap();
        server.write_all(&[7; 10]).unwrap();
        client.read_exact(&mut [0; 10]).unwrap();
        assert!(speaks_mptcp(&client) && speaks_mptcp(&server));
        let found = subflows(&client).unwrap();
        let [Subflow { local, remote, info }] = found[..] else { panic!("{found:?}") };
        assert_eq!((local, remote), (client.local_addr().unwrap(), at));
        assert_eq!((info.bytes_sent, info.bytes_received), (1_000, 10));
        assert_eq!(info.state, TcpState::Established);
    }
}
