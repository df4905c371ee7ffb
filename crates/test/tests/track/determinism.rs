//! The same seed gives the same bytes at the same times.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use trackbed_test::{Bitrate, Link, Ratio, TcpListener, TcpStream, Track, spawn};

/// When each packet of a transfer over a lossy link was sent, and its bytes.
fn packets(seed: u64) -> Vec<(Duration, Vec<u8>)> {
    let mut track = Track::new(seed);
    let share = Ratio::from_parts(2, 100);
    let link = Link::new().rate(Bitrate::from_mbps(10)).queue(30).delay(Duration::from_millis(15));
    let link = link.loss(share).duplication(share).reordering(share, Duration::from_millis(4));
    let (a, b) = track.link(link);
    let all = Arc::new(Mutex::new(Vec::new()));
    for end in [&a, &b] {
        let all = Arc::clone(&all);
        track.on_send(end, move |packet| {
            all.lock().unwrap().push((packet.time(), packet.bytes().to_vec()));
        });
    }
    track.run(async {
        let listener = TcpListener::bind(&b, b.address(80)).unwrap();
        spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(&[7; 300_000]).await.unwrap();
        });
        let mut stream = TcpStream::connect(&a, b.address(80)).await.unwrap();
        let mut body = Vec::new();
        stream.read_to_end(&mut body).await.unwrap();
        assert_eq!(body.len(), 300_000);
    });
    std::mem::take(&mut *all.lock().unwrap())
}

#[test]
fn a_seed_repeats_its_packets_and_another_has_others() {
    let first = packets(1);
    assert!(first.len() > 200, "{}", first.len());
    assert!(first == packets(1), "the packets differ");
    assert!(first != packets(2), "the packets do not depend on the seed");
}
