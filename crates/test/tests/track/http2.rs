//! HTTP/2 with the crate `h2`, client and server over the virtual TCP.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use trackbed_test::{Bitrate, Link, Ratio, TcpListener, TcpStream, Track, elapsed, spawn};

/// Answers every request with 100,000 bytes.
async fn serve(listener: TcpListener) {
    let (stream, _) = listener.accept().await.unwrap();
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(request) = connection.accept().await {
        let (_, mut respond) = request.unwrap();
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from(vec![7; 100_000]), true).unwrap();
    }
}

/// Fetches a page and returns the length of its body.
async fn fetch(stream: TcpStream) -> usize {
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    spawn(async move { connection.await.unwrap() });
    let request = Request::get("http://server/").body(()).unwrap();
    let (response, _) = client.ready().await.unwrap().send_request(request, true).unwrap();
    let mut body = response.await.unwrap().into_body();
    let mut length = 0;
    while let Some(data) = body.data().await {
        let data = data.unwrap();
        body.flow_control().release_capacity(data.len()).unwrap();
        length += data.len();
    }
    length
}

#[test]
fn a_page_takes_the_time_that_the_link_needs() {
    let mut track = Track::new(1);
    let link = Link::new().rate(Bitrate::from_mbps(10)).delay(Duration::from_millis(30));
    let (client, server) = track.link(link.loss(Ratio::from_parts(1, 1000)));
    let (length, took) = track.run(async {
        spawn(serve(TcpListener::bind(&server, server.address(80)).unwrap()));
        let stream = TcpStream::connect(&client, server.address(80)).await.unwrap();
        (fetch(stream).await, elapsed())
    });
    assert_eq!(length, 100_000);
    // Two round trips of 60 ms, and 80 ms for the body at 10 Mbit/s.
    assert!(took > Duration::from_millis(200) && took < Duration::from_secs(1), "{took:?}");
}
