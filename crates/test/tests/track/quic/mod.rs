//! QUIC with the crate `noq`, client and server over the virtual UDP.

mod runtime;

use std::sync::Arc;
use std::time::Duration;

use noq::{ClientConfig, Endpoint, EndpointConfig, ServerConfig};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use trackbed_test::{Bitrate, Link, Ratio, Track, UdpSocket, elapsed, spawn};

use runtime::{Runtime, Socket};

fn endpoint(socket: UdpSocket, server: Option<ServerConfig>) -> Endpoint {
    let socket = Box::new(Socket::new(socket));
    let config = EndpointConfig::default();
    Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(Runtime)).unwrap()
}

/// A server's certificate for "server", and a client that trusts it.
fn configs() -> (ServerConfig, ClientConfig) {
    let own = rcgen::generate_simple_self_signed(["server".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone()).unwrap();
    let server = ServerConfig::with_single_cert(vec![own.cert.der().clone()], key).unwrap();
    (server, ClientConfig::with_root_certificates(Arc::new(roots)).unwrap())
}

/// Sends a megabyte to the client that asks first.
async fn serve(endpoint: Endpoint) {
    let connection = endpoint.accept().await.unwrap().await.unwrap();
    let (mut send, mut receive) = connection.accept_bi().await.unwrap();
    assert_eq!(receive.read_to_end(10).await.unwrap(), b"GET");
    send.write_all(&vec![7; 1_000_000]).await.unwrap();
    send.finish().unwrap();
    connection.closed().await;
}

#[test]
fn a_megabyte_arrives_over_a_lossy_link() {
    let mut track = Track::new(1);
    let link = Link::new().rate(Bitrate::from_mbps(10)).queue(50).delay(Duration::from_millis(30));
    let (client, server) =
        track.link(link.loss(Ratio::from_parts(1, 100)).names("client", "server"));
    let (of_server, of_client) = configs();
    let (body, took) = track.run(async {
        let socket = UdpSocket::bind(&server, server.address(443)).unwrap();
        spawn(serve(endpoint(socket, Some(of_server))));
        let endpoint = endpoint(UdpSocket::bind(&client, client.address(0)).unwrap(), None);
        let connecting = endpoint.connect_with(of_client, server.address(443), "server").unwrap();
        let connection = connecting.await.unwrap();
        let (mut send, mut receive) = connection.open_bi().await.unwrap();
        send.write_all(b"GET").await.unwrap();
        send.finish().unwrap();
        (receive.read_to_end(2_000_000).await.unwrap(), elapsed())
    });
    assert_eq!(body, vec![7; 1_000_000]);
    // 1 MB takes 0.8 s at 10 Mbit/s.
    assert!(took > Duration::from_millis(800) && took < Duration::from_secs(20), "{took:?}");
}
