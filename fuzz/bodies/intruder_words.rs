//! A peer that breaks any protocol. The first byte chooses it, and who breaks it: a client after the handshake,
//! a server after it, or a server from its first byte on. Then come pieces with two bytes of length before
//! each, over QUIC with a byte for the stream. Another client is served; the client of such a server ends.

use std::future::poll_fn;
use std::io::IoSliceMut;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{Dialer, Transport};
use trackbed_net::models::Loss;
use trackbed_net::models::loss::Listed;
use trackbed_protocols::intruder::Intruder;
use trackbed_protocols::{
    Chain, ClientConfig, Protocol, ServerConfig, ServerLimits, TransportParameters, client_trust,
    registry,
};
use trackbed_substrate::{Host, ReceivedMeta, before, now, spawn};

use super::server_words::{SERVER, exchange, send, serve, simulate, split};

pub fn run(data: &[u8]) {
    let Some((&which, pieces)) = data.split_first() else { return };
    let (who, which) = (usize::from(which) / registry().len(), usize::from(which));
    let protocol = registry()[which % registry().len()];
    let pieces: Vec<Vec<u8>> = split(pieces).map(<[u8]>::to_vec).collect();
    let intruder = Intruder::of(protocol.name());
    if let (0, Some(intruder)) = (who % 3, intruder) {
        let act = async |client: &Arc<dyn Host>, config: &ClientConfig, _: &dyn Dialer| {
            let intrusion = intruder.connect((Arc::clone(client), SERVER), config, &pieces);
            let _refused = before(now() + Duration::from_secs(1), intrusion).await;
        };
        return serve(protocol, ServerLimits::default(), 0, act);
    }
    let is_over_tcp = protocol.capabilities().transport == Transport::Tcp;
    let bare = || is_over_tcp.then(Intruder::bare);
    ask(protocol, intruder.filter(|_| who % 3 == 1).or_else(bare), pieces);
}

/// Lets a client ask an intruder, or a socket that answers each datagram with all pieces.
fn ask(protocol: &dyn Protocol, intruder: Option<Intruder>, pieces: Vec<Vec<u8>>) {
    simulate(Loss::new(Listed::new([])), async |client, server| {
        let mut trust = client_trust(&Chain::default()).ok();
        let served = intruder.map(|intruder| {
            let at = (Arc::clone(&server), SERVER);
            let served = intruder.serve(at, &ServerConfig::default(), pieces.clone().into());
            served.expect("the port is free")
        });
        if let Some(served) = &served {
            trust = served.trust().cloned().or(trust);
        } else {
            spawn(answer(server, pieces)).detach();
        }
        let idle_timeout = Some(Duration::from_secs(1));
        let transport = TransportParameters { idle_timeout, ..TransportParameters::default() };
        let config = ClientConfig { trust, transport, ..ClientConfig::default() };
        let dialer = protocol.dialer(client, &config).expect("it is supported");
        let end = before(now() + Duration::from_secs(1_000), exchange(&*dialer)).await;
        assert!(end.is_some(), "a client of {} waits for ever", protocol.name());
    });
}

async fn answer(server: Arc<dyn Host>, pieces: Vec<Vec<u8>>) {
    let socket = server.bind_udp(SERVER).expect("the port is free");
    let (mut buffer, mut meta) = ([0; 2_000], [ReceivedMeta::default()]);
    // A client that repeats what it said is not answered for ever.
    for _ in 0..20 {
        let mut buffers = [IoSliceMut::new(&mut buffer)];
        let received = poll_fn(|cx| socket.poll_recv(cx, &mut buffers, &mut meta)).await;
        received.expect("the socket works");
        for payload in &pieces {
            send(&*socket, meta[0].source, payload).await;
        }
    }
}
