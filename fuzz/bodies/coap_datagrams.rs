//! Any datagrams to a server of CoAP: `coap` if the first byte is even, `coap+dtls` otherwise, then
//! datagrams with two bytes of length before each. Whatever they are, a client is served afterwards.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{Request, Response, body};
use trackbed_core::Seed;
use trackbed_core::packet::Ecn;
use trackbed_net::models::Delay;
use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};
use trackbed_protocols::{ClientConfig, ServerConfig, find};
use trackbed_substrate::simulated::{Hosts, Simulation};
use trackbed_substrate::{Datagram, sleep};

/// One input.
pub fn run(data: &[u8]) {
    let Some((&kind, datagrams)) = data.split_first() else { return };
    let name = if kind % 2 == 0 { "coap" } else { "coap+dtls" };
    let seed = Seed::of_run(1, 0);
    let mut builder = NetworkBuilder::new();
    let (client, server) = (builder.host("client"), builder.host("server"));
    let link = LinkSpec::new().then(Delay::fixed(Duration::from_millis(1)));
    let end = |node, number: u8| End::new(node, [[10, 0, 0, number].into()]);
    builder.connect(end(client, 1), end(server, 2), Duplex::new(&link, &link, &seed));
    let network = builder.build().expect("two hosts and a link are a network");
    let outcome = Simulation::new().run(seed, network, |hosts| talk(hosts, name, datagrams));
    outcome.expect("the run ends");
}

async fn talk(hosts: Hosts, name: &str, mut datagrams: &[u8]) {
    let protocol = find(name).expect("it is registered");
    let host = |name| hosts.get(name).expect("it was made");
    let listen: SocketAddr = ([10, 0, 0, 2], 5_684).into();
    let echo = async |request: Request| Response { status: 200, body: request.body };
    let server = protocol.serve(host("server"), listen, &ServerConfig::default(), Rc::new(echo));
    let server = server.expect("the port is free");
    let socket = host("client").bind_udp(([10, 0, 0, 1], 9).into()).expect("the port is free");
    while let Some((len, rest)) = datagrams.split_first_chunk() {
        let len = usize::from(u16::from_be_bytes(*len)).min(rest.len()).min(1_472);
        let (payload, rest) = rest.split_at(len);
        let (destination, ecn) = (listen, Ecn::NotCapable);
        let datagram = Datagram { source: None, destination, ecn, payload, segment_size: None };
        let _refused = poll_fn(|cx| socket.poll_send(cx, &datagram)).await;
        sleep(Duration::from_micros(10)).await;
        datagrams = rest;
    }
    let config = ClientConfig { trust: server.trust().cloned(), ..ClientConfig::default() };
    let dialer = protocol.dialer(Arc::clone(&host("client")), &config);
    let connection = dialer.expect("it is supported").connect(listen).await.expect("it connects");
    let request = Request::new("/", body::full(&b"hello"[..]));
    let response = connection.exchange(request).await.expect("it is answered");
    let content = body::collect(response.body, 5).await.expect("all of it comes");
    assert_eq!(content, "hello", "a client is served");
}
