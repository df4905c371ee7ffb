//! The client of the kernel's MPTCP path manager against the kernel, in separate network
//! namespaces. Without namespaces, or without MPTCP in the kernel, the tests report it and pass.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, listen};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use trackbed_linux::mptcp_pm::{
    Counters, Endpoint, EndpointFlags, Limits, PathManager, PathManagerError, counters,
};

use crate::*;

/// Addresses of the loopback interface: as good as paths, since each has its own subflow.
fn address(number: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 1, number).into()
}

#[test]
fn endpoints_and_limits_are_read_back_as_they_were_set() {
    with_path_manager(|mut manager| {
        assert_eq!(manager.endpoints().unwrap(), []);
        let limits = Limits { subflows: 3, add_addresses_accepted: 1 };
        manager.set_limits(limits).unwrap();
        assert_eq!(manager.limits().unwrap(), limits);
        let loopback = Interface::named("lo").unwrap().index();
        let mut wanted = vec![
            Endpoint { id: 7, ..Endpoint::new(address(1), EndpointFlags::SUBFLOW) },
            Endpoint {
                id: 200,
                port: Some(8_080),
                interface: loopback.try_into().ok(),
                ..Endpoint::new(address(2), EndpointFlags::SIGNAL | EndpointFlags::BACKUP)
            },
            Endpoint {
                id: 9,
                ..Endpoint::new("fd00::1".parse().unwrap(), EndpointFlags::FULLMESH | SUBFLOW)
            },
        ];
        wanted.iter().for_each(|endpoint| manager.add_endpoint(endpoint).unwrap());
        let mut read = manager.endpoints().unwrap();
        read.sort_by_key(|endpoint| endpoint.address);
        wanted.sort_by_key(|endpoint| endpoint.address);
        assert_eq!(read, wanted);
        agrees_with_ip_mptcp(&wanted);

        // The backup flag comes and goes; the others stay.
        for backup in [true, true, false, false] {
            manager.set_backup(9, backup).unwrap();
            let read = manager.endpoints().unwrap();
            let flags = read.iter().find(|endpoint| endpoint.id == 9).unwrap().flags;
            assert!(flags.contains(EndpointFlags::FULLMESH | SUBFLOW));
            assert_eq!(flags.contains(EndpointFlags::BACKUP), backup);
        }
    });
}

/// The same endpoints as listed by iproute2.
fn agrees_with_ip_mptcp(wanted: &[Endpoint]) {
    let Ok(output) = Command::new("ip").args(["mptcp", "endpoint", "show"]).output() else {
        return eprintln!("SKIPPED the look with ip(8): install the Debian package iproute2");
    };
    let text = String::from_utf8(output.stdout).unwrap();
    for endpoint in wanted {
        let id = format!(" id {} ", endpoint.id);
        let line = text.lines().find(|line| format!("{line} ").contains(&id)).unwrap();
        assert!(line.starts_with(&endpoint.address.to_string()), "{line}");
        assert!(line.contains(&endpoint.flags.to_string()), "{line}");
        assert_eq!(line.contains("port 8080"), endpoint.port == Some(8_080), "{line}");
        assert_eq!(line.contains("dev lo"), endpoint.interface.is_some(), "{line}");
    }
}

#[test]
fn a_flag_that_changes_is_said_to_the_peer_of_a_live_connection() {
    with_path_manager(|mut manager| {
        set_up(&mut manager);
        manager.add_endpoint(&Endpoint { id: 5, ..Endpoint::new(address(2), SUBFLOW) }).unwrap();
        let connection = Connection::open();
        until(|counters| counters.get("MPJoinAckRx") == 1);
        assert_eq!(priorities(&counters().unwrap()), (0, 0));
        for (said, backup) in (1..).zip([true, false, true]) {
            // The second call changes nothing, so nothing is sent.
            manager.set_backup(5, backup).unwrap();
            manager.set_backup(5, backup).unwrap();
            until(|counters| priorities(counters) == (said, said));
        }
        connection.carries_data();
        assert_eq!(priorities(&counters().unwrap()), (3, 3));
    });
}

#[test]
fn what_the_kernel_refuses_is_said_in_its_words() {
    with_path_manager(|mut manager| {
        let error = manager.set_backup(99, true).unwrap_err();
        assert!(
            error.to_string().starts_with("cannot change the flags of the MPTCP endpoint 99: ")
        );
        let PathManagerError::Refused { explanation: Some(explanation), .. } = error else {
            panic!("{error:?}")
        };
        assert!(explanation.contains("not found"), "{explanation}");
        let far_too_many = Limits { subflows: 1_000, add_addresses_accepted: 0 };
        assert!(manager.set_limits(far_too_many).is_err());
    });
}

#[test]
fn without_the_right_to_change_it_can_be_read_and_the_error_says_what_to_do() {
    with_path_manager(|mut manager| {
        manager.add_endpoint(&Endpoint { id: 5, ..Endpoint::new(address(2), SUBFLOW) }).unwrap();
        // Of this thread alone, which ends with the test.
        let mut sets = capabilities(None).unwrap();
        sets.effective -= CapabilitySet::NET_ADMIN;
        set_capabilities(None, sets).unwrap();
        let mut manager = PathManager::open().unwrap();
        let error = manager.set_backup(5, true).unwrap_err();
        assert!(matches!(error, PathManagerError::NotPermitted { .. }), "{error:?}");
        assert!(error.to_string().contains("CAP_NET_ADMIN"));
    });
}

/// Two addresses, and room for subflows.
fn set_up(manager: &mut PathManager) {
    let loopback = Interface::named("lo").unwrap();
    (1..=2).for_each(|number| loopback.add_address((address(number), 32)).unwrap());
    let limits = Limits { subflows: 2, add_addresses_accepted: 2 };
    manager.set_limits(limits).unwrap();
}

/// Sent and received; both ends are in this namespace.
fn priorities(counters: &Counters) -> (u64, u64) {
    (counters.get("MPPrioTx"), counters.get("MPPrioRx"))
}

#[expect(clippy::disallowed_methods, reason = "the kernel acts in real time")]
fn until(is_so: impl Fn(&Counters) -> bool) {
    for _ in 0..2_000 {
        if is_so(&counters().unwrap()) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("after 20 s {:?}", counters().unwrap());
}

/// A connection over MPTCP from the first address to itself.
struct Connection {
    client: TcpStream,
    /// Further subflows need it.
    _server: TcpListener,
    accepted: TcpStream,
}

impl Connection {
    fn open() -> Connection {
        let server = mptcp();
        bind(&server, &SocketAddr::new(address(1), 0)).unwrap();
        listen(&server, 1).unwrap();
        let server = TcpListener::from(server);
        let client = mptcp();
        bind(&client, &SocketAddr::new(address(1), 0)).unwrap();
        connect(&client, &server.local_addr().unwrap()).unwrap();
        let (accepted, _) = server.accept().unwrap();
        let connection = Connection { client: client.into(), _server: server, accepted };
        // The first data is what makes further subflows possible (RFC 8684 section 3.1).
        connection.carries_data();
        connection
    }

    fn carries_data(&self) {
        let (mut client, mut accepted) = (&self.client, &self.accepted);
        let mut buffer = [0; 5];
        client.write_all(b"there").unwrap();
        accepted.read_exact(&mut buffer).unwrap();
        accepted.write_all(&buffer).unwrap();
        client.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"there");
    }
}

fn mptcp() -> OwnedFd {
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(ipproto::MPTCP)).unwrap()
}

const SUBFLOW: EndpointFlags = EndpointFlags::SUBFLOW;
