//! Connections of the kernel substrate on several paths, in a separate network namespace. Without
//! namespaces, or without MPTCP in the kernel, the test reports it and passes.

use std::io;

use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
use trackbed_linux::mptcp_pm::{Endpoint, EndpointFlags, Limits, PathManager, counters};
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::{Multipath, PathWish, TcpOptions, sleep};

use crate::*;

/// Addresses of the loopback interface are as good as paths: each has its own subflow.
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 1, 1));
const FIRST: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 2, 1));
const SECOND: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 2, 2));

#[test]
fn paths_are_told_of_and_become_backups() {
    with_path_manager(two_paths);
}

fn two_paths(mut manager: PathManager) {
    manager.set_limits(Limits { subflows: 2, add_addresses_accepted: 0 }).unwrap();
    for address in [FIRST, SECOND] {
        manager.add_endpoint(&Endpoint::new(address, EndpointFlags::SUBFLOW)).unwrap();
    }
    let execution = Execution::new(Origin::now()).with_time_limit(Time::from_millis(60_000));
    execution.run(converse).unwrap().unwrap();
}

async fn converse(machine: Machine) -> io::Result<()> {
    let scheduler = "linux".to_owned();
    let multipath = Some(Multipath { scheduler, ..Multipath::default() });
    let options = TcpOptions { congestion: "reno".to_owned(), multipath, ..TcpOptions::default() };
    let server = machine.host("server", [SERVER]);
    let client = machine.host("client", [FIRST, SECOND]);
    let listener = server.listen_tcp(SocketAddr::new(SERVER, 0), &options)?;
    let local = listener.local_addr();
    let mut stream = client.connect_tcp(Some(FIRST), local, &options).await?;
    let mut accepted = listener.accept().await?;
    // The second path is opened once the first has carried something.
    while stream.paths().iter().filter(|path| path.usable).count() < 2 {
        stream.write_all(b"hello").await?;
        let mut read = [0; 5];
        accepted.read_exact(&mut read).await?;
        assert_eq!(&read, b"hello");
        sleep(Duration::from_millis(5)).await;
    }
    let mut ends: Vec<IpAddr> = stream.paths().iter().map(|path| path.local.ip()).collect();
    ends.sort();
    assert_eq!(ends, [FIRST, SECOND]);
    let sent: u64 = stream.paths().iter().map(|path| path.info.segments_sent).sum();
    assert_eq!(stream.info().segments_sent, sent);
    assert!(stream.paths().iter().all(|path| !path.backup && path.remote == local));

    let before = counters()?.get("MPPrioTx");
    assert!(stream.set_path(SECOND, PathWish::Backup(true)));
    let backups: Vec<IpAddr> =
        stream.paths().iter().filter(|path| path.backup).map(|path| path.local.ip()).collect();
    assert_eq!(backups, [SECOND]);
    assert_eq!(counters()?.get("MPPrioTx"), before + 1);
    assert!(stream.set_path(SECOND, PathWish::Backup(false)));
    assert!(stream.paths().iter().all(|path| !path.backup));

    // The kernel's scheduler supports no such request, and there is no such path.
    assert!(!stream.set_path(SECOND, PathWish::Blocked(true)));
    assert!(!stream.set_path(SERVER, PathWish::Backup(true)));
    Ok(())
}
