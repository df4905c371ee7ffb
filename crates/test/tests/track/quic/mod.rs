//! QUIC with the crate `noq`, client and server over the virtual UDP.

mod runtime;

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use noq::{ClientConfig, Endpoint, EndpointConfig, ServerConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use trackbed_test::{Bitrate, End, Link, Ratio, Track, UdpSocket, elapsed, spawn};

use runtime::{Runtime, Socket};

/// The engine draws connection IDs, packet numbers that it skips and the like from the end's seed.
fn endpoint(end: &End, port: u16, server: Option<ServerConfig>) -> Endpoint {
    let mut seed = [0; 32];
    end.fill_random(&mut seed).unwrap();
    let mut config = EndpointConfig::default();
    config.rng_seed(Some(seed));
    let socket = Box::new(Socket::new(UdpSocket::bind(end, end.address(port)).unwrap()));
    Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(Runtime)).unwrap()
}

/// A certificate for "server", the same in all runs. Signatures of Ed25519 have 64 bytes, those of ECDSA
/// 70 to 72.
static CERTIFICATE: LazyLock<(CertificateDer<'static>, Vec<u8>)> = LazyLock::new(|| {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let parameters = rcgen::CertificateParams::new(["server".to_owned()]).unwrap();
    (parameters.self_signed(&key).unwrap().der().clone(), key.serialize_der())
});

/// A server with this certificate, and a client that trusts it.
fn configs() -> (ServerConfig, ClientConfig) {
    let (certificate, key) = CERTIFICATE.clone();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let key = PrivateKeyDer::Pkcs8(key.into());
    let server = ServerConfig::with_single_cert(vec![certificate], key).unwrap();
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

/// Fetches a megabyte over a lossy link: how long it takes, and the time and length of each packet.
fn fetch(seed: u64) -> (Duration, Vec<(Duration, usize)>) {
    let mut track = Track::new(seed);
    let link = Link::new().rate(Bitrate::from_mbps(10)).queue(50).delay(Duration::from_millis(30));
    let (client, server) =
        track.link(link.loss(Ratio::from_parts(1, 100)).names("client", "server"));
    let (of_server, of_client) = configs();
    let packets = Arc::new(Mutex::new(Vec::new()));
    for end in [&client, &server] {
        let packets = Arc::clone(&packets);
        track.on_send(end, move |packet| {
            packets.lock().unwrap().push((packet.time(), packet.bytes().len()));
        });
    }
    let (body, took) = track.run(async {
        spawn(serve(endpoint(&server, 443, Some(of_server))));
        let endpoint = endpoint(&client, 0, None);
        let connecting = endpoint.connect_with(of_client, server.address(443), "server").unwrap();
        let connection = connecting.await.unwrap();
        let (mut send, mut receive) = connection.open_bi().await.unwrap();
        send.write_all(b"GET").await.unwrap();
        send.finish().unwrap();
        (receive.read_to_end(2_000_000).await.unwrap(), elapsed())
    });
    assert_eq!(body, vec![7; 1_000_000]);
    let packets = std::mem::take(&mut *packets.lock().unwrap());
    (took, packets)
}

#[test]
fn a_megabyte_arrives_over_a_lossy_link() {
    let (took, _) = fetch(1);
    // 1 MB takes 0.8 s at 10 Mbit/s.
    assert!(took > Duration::from_millis(800) && took < Duration::from_secs(20), "{took:?}");
}

/// Keys come from the operating system, so the bytes differ. Times and lengths do not.
#[test]
fn a_seed_repeats_its_packets_and_another_has_others() {
    let first = fetch(1);
    assert_eq!(first, fetch(1));
    assert_ne!(first, fetch(2));
}
