//! Hosts that serve one peer alone.

use std::net::Ipv4Addr;

use super::{defaults, execute};
use crate::support::*;

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1));
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
const UNKNOWN: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

#[test]
fn connections_of_unknown_peers_are_closed() {
    let run = execute(|machine| async move {
        let server = machine.host_for("server", [SERVER], PEER);
        let listener = server.listen_tcp(SocketAddr::new(SERVER, 0), &defaults()).unwrap();
        let connect = async |from: IpAddr| {
            let host = machine.host("client", [from]);
            host.connect_tcp(Some(from), listener.local_addr(), &defaults()).await.unwrap()
        };
        let mut unknown = connect(UNKNOWN).await;
        let _peer = connect(PEER).await;
        assert_eq!(listener.accept().await.unwrap().peer_addr().ip(), PEER);
        assert_eq!(read(&mut unknown).await, Ok(0));
    });
    run.unwrap();
}

/// The end of what comes, or why it ended.
async fn read(stream: &mut Box<dyn TcpStream>) -> Result<usize, ErrorKind> {
    let mut byte = [0];
    let read = poll_fn(|cx| Pin::new(&mut **stream).poll_read(cx, &mut byte));
    read.await.map_err(|error| error.kind())
}

#[test]
fn datagrams_of_unknown_peers_are_discarded() {
    let run = execute(|machine| async move {
        let server = machine.host_for("server", [SERVER], PEER);
        let socket = server.bind_udp(SocketAddr::new(SERVER, 0)).unwrap();
        let bind = |from: IpAddr| {
            machine.host("client", [from]).bind_udp(SocketAddr::new(from, 0)).unwrap()
        };
        let (peer, unknown) = (bind(PEER), bind(UNKNOWN));
        for number in 0..10_u8 {
            send(&*unknown, socket.local_addr(), b"let me in").await.unwrap();
            send(&*peer, socket.local_addr(), &[number; 5]).await.unwrap();
            send(&*unknown, socket.local_addr(), &[]).await.unwrap();
        }
        for number in 0..10_u8 {
            let (payload, meta) = receive(&*socket).await.unwrap();
            assert_eq!((payload, meta.source.ip()), (vec![number; 5], PEER));
        }
    });
    run.unwrap();
}
