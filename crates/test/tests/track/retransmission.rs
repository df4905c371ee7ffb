//! A protocol over UDP: numbered blocks, one at a time, each sent again until it is acknowledged. A
//! packet hook loses one acknowledgement, which shows a bug of the first receiver.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use trackbed_test::{Link, Track, UdpSocket, spawn, timeout};

async fn send(socket: &UdpSocket, to: SocketAddr, blocks: &[&str]) {
    for (number, block) in (0_u8..).zip(blocks) {
        let datagram = [&[number], block.as_bytes()].concat();
        let mut acknowledged = [u8::MAX];
        while acknowledged[0] != number {
            socket.send_to(&datagram, to).await.unwrap();
            let answer = socket.recv_from(&mut acknowledged);
            let _ = timeout(Duration::from_millis(200), answer).await;
        }
    }
}

/// Acknowledges every block. The fixed receiver takes only the next one.
async fn receive(socket: UdpSocket, is_fixed: bool, text: Arc<Mutex<String>>) {
    let (mut buffer, mut next) = ([0; 100], 0);
    loop {
        let (length, sender) = socket.recv_from(&mut buffer).await.unwrap();
        if buffer[0] == next || !is_fixed {
            *text.lock().unwrap() += std::str::from_utf8(&buffer[1..length]).unwrap();
            next = buffer[0] + 1;
        }
        socket.send_to(&buffer[..1], sender).await.unwrap();
    }
}

/// What arrives of the blocks "one ", "two ", "three " if acknowledgement number `lost` is lost.
fn transfer(is_fixed: bool, lost: Option<u64>) -> String {
    let mut track = Track::new(1);
    let (a, b) = track.link(Link::new().delay(Duration::from_millis(20)));
    track.on_send(&b, move |packet| {
        if Some(packet.number()) == lost {
            packet.discard();
        }
    });
    let text = Arc::default();
    track.run(async {
        spawn(receive(UdpSocket::bind(&b, b.address(7)).unwrap(), is_fixed, Arc::clone(&text)));
        let sender = UdpSocket::bind(&a, a.address(0)).unwrap();
        send(&sender, b.address(7), &["one ", "two ", "three "]).await;
    });
    text.lock().unwrap().clone()
}

#[test]
fn without_losses_both_receivers_are_right() {
    assert_eq!(transfer(false, None), "one two three ");
    assert_eq!(transfer(true, None), "one two three ");
}

#[test]
fn a_lost_acknowledgement_shows_the_bug() {
    assert_eq!(transfer(false, Some(2)), "one two two three ");
    assert_eq!(transfer(true, Some(2)), "one two three ");
}
