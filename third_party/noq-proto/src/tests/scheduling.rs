//! Tests for connections whose paths a scheduler chooses

use alloc::{boxed::Box, sync::Arc, vec::Vec};
use core::{net::SocketAddr, time::Duration};

use testresult::TestResult;

use super::util::{ConnPair, ManyToManyRouting, subscribe};
use crate::{
    Dir, FourTuple, PathId, PathScheduler, PathSchedulerFactory, PathStatus, SchedulablePath,
    Side::*, TransportConfig,
};

/// Sends on the path with the highest id, however long it takes
#[derive(Debug)]
struct Latest;

impl PathScheduler for Latest {
    fn rank(&mut self, paths: &mut Vec<SchedulablePath>) {
        paths.sort_by_key(|path| core::cmp::Reverse(path.id));
        paths.truncate(1);
    }
}

impl PathSchedulerFactory for Latest {
    fn build(&self) -> Box<dyn PathScheduler> {
        Box::new(Self)
    }
}

/// A connection with two paths, of which the second carries everything, and the ends of the first
fn two_paths() -> TestResult<(ConnPair, PathId, [SocketAddr; 2])> {
    let mut config = TransportConfig {
        initial_rtt: Duration::from_millis(10),
        ..TransportConfig::default()
    };
    config
        .max_concurrent_multipath_paths(2)
        .path_scheduler_factory(Some(Arc::new(Latest)));
    let mut pair = ConnPair::builder().with_transport_cfg(config).connect();
    pair.drive();
    let [client, server] = {
        let routes = pair.routes.as_basic();
        [routes.client_addr, routes.server_addr]
    };
    let mut ends = [client, server];
    ends.iter_mut().for_each(|end| end.set_port(end.port() + 1));
    pair.routes = ManyToManyRouting::simple_symmetric([client, ends[0]], [server, ends[1]]).into();
    let second = FourTuple::new(ends[1], Some(ends[0].ip()));
    let second = pair.open_path(Client, second, PathStatus::Available)?;
    pair.drive();
    Ok((pair, second, [client, server]))
}

fn send(pair: &mut ConnPair, len: usize) -> TestResult<()> {
    let stream = pair.streams(Client).open(Dir::Uni).unwrap();
    pair.send_stream(Client, stream).write(&alloc::vec![7; len])?;
    pair.send_stream(Client, stream).finish()?;
    pair.drive();
    let stream = pair.streams(Server).accept(Dir::Uni).unwrap();
    let mut receiving = pair.recv_stream(Server, stream);
    let mut chunks = receiving.read(false)?;
    let mut received = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        received += chunk.bytes.len();
    }
    let _ = chunks.finalize();
    assert_eq!(received, len);
    Ok(())
}

#[test]
fn data_takes_the_path_that_the_scheduler_chooses() -> TestResult<()> {
    let _guard = subscribe();
    let (mut pair, second, _) = two_paths()?;
    let before = pair.path_stats(Client, PathId::ZERO).unwrap();
    send(&mut pair, 8_000)?;
    let after = pair.path_stats(Client, PathId::ZERO).unwrap();
    assert_eq!(before.frame_tx.stream, after.frame_tx.stream);
    assert!(pair.path_stats(Client, second).unwrap().frame_tx.stream > 4);
    Ok(())
}

#[test]
fn what_came_by_a_path_is_acknowledged_on_it() -> TestResult<()> {
    let _guard = subscribe();
    let (mut pair, second, _) = two_paths()?;
    pair.ping_path(Client, PathId::ZERO)?;
    pair.drive();
    let before = pair.path_stats(Server, second).unwrap();
    pair.ping_path(Client, PathId::ZERO)?;
    pair.drive();
    let after = pair.path_stats(Server, second).unwrap();
    assert_eq!(before.frame_tx.path_acks, after.frame_tx.path_acks);
    Ok(())
}

#[test]
fn what_is_lost_with_a_path_takes_another_one() -> TestResult<()> {
    let _guard = subscribe();
    let (mut pair, second, [client, server]) = two_paths()?;
    pair.routes = ManyToManyRouting::simple_symmetric([client], [server]).into();
    send(&mut pair, 8_000)?;
    assert!(pair.path_stats(Client, second).unwrap().lost_packets > 4);
    assert!(pair.path_stats(Client, PathId::ZERO).unwrap().frame_tx.stream > 4);
    Ok(())
}
