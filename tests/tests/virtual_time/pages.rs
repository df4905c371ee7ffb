//! On a clean link, a page takes the round trips and the time on the line that can be counted by
//! hand.

use std::fs;
use std::path::PathBuf;

use trackbed_tests::{cell, document};

/// A manifest with an object for each line: path, kind, bytes, and what it is found in.
fn manifest(name: &str, objects: &[(String, &str, u32, &str)]) -> String {
    let text: String = objects
        .iter()
        .map(|(path, kind, bytes, found_in)| {
            let found_in = match *found_in {
                "" => String::new(),
                other => format!("found-in = \"{other}\"\n"),
            };
            format!(
                "[[object]]\npath = \"{path}\"\nkind = \"{kind}\"\nsize = {bytes}\n{found_in}\n"
            )
        })
        .collect();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    format!("workload.manifest={}", path.display())
}

/// A document of 1 kB, a style sheet of 1 kB in it, and an image in that.
fn chain(image_bytes: u32) -> String {
    let objects = [
        ("/index.html".to_owned(), "html", 1_000, ""),
        ("/style.css".to_owned(), "css", 1_000, "/index.html"),
        ("/image.gif".to_owned(), "image", image_bytes, "/style.css"),
    ];
    manifest(&format!("chain-{image_bytes}"), &objects)
}

fn check(overrides: &[&str], expected_ms: &[(&str, f64)]) {
    let protocols: Vec<&str> = expected_ms.iter().map(|(protocol, _)| *protocol).collect();
    let protocols = format!("protocol={}", protocols.join(","));
    let all = ["runs=2", "link.loss=0", "link.queue=100000packets", &protocols];
    let document = document("web", &[&all, overrides].concat());
    for (protocol, expected) in expected_ms {
        let cell = cell(&document, &[("protocol", protocol)]);
        assert_eq!(cell.failed, 0, "{:?}", cell.failures);
        let plt = &cell.metrics["plt_ms"];
        for found in [plt.min, plt.max] {
            let off = found / expected - 1.0;
            assert!(off.abs() < 0.02, "{protocol}: {found} ms, expected {expected} ms");
        }
    }
}

/// At 1 Gbit/s bytes take next to no time, and everything is round trips of 200 ms.
///
/// Until the first request can leave: TCP 1 (RFC 9293 section 3.5) and TLS 1.3 1 (RFC 8446 section
/// 2); QUIC 1 (RFC 9001 section 4). The document and the style sheet take 1 each, and are so short
/// that windows do not grow: Linux lets them where half of one was in use, and so do we. So far 4
/// over TCP, 3 over QUIC.
///
/// The image, in slow start: TCP sends 10 segments of 1448 bytes in the first round (RFC 6928, and
/// 12 bytes of time stamps in each), then twice as many in each: 14, 43, 101 and 217 kB in all. So
/// 20 kB take 2 rounds, 200 kB take 4. QUIC sends 12 kB in the first round (RFC 9002 section 7.2,
/// with packets of 1200 bytes), and in the second, as acknowledgments come, another 12 kB at once
/// (section 7.7): 20 kB take 2 rounds. (What is beyond these is paced, and takes parts of rounds.)
#[test]
fn objects_that_lead_to_one_another_take_round_trips_and_slow_start() {
    let fast = ["link.rate=1gbit", "link.delay=100ms"];
    let small = chain(20_000);
    let expected = [("http1", 1_200.0), ("http2", 1_200.0), ("http3", 1_000.0)];
    check(&[&fast[..], &[&small]].concat(), &expected);
    check(&[&fast[..], &[&chain(200_000)]].concat(), &[("http1", 1_600.0), ("http2", 1_600.0)]);
}

/// Twelve images of 500 bytes, together less than an initial window, all found at the end of the
/// document.
///
/// Over HTTP/1.1 the document is there after 3 round trips, at 600 ms. Its connection then carries
/// one image after the other, at 600, 800 and 1000 ms. Five more are opened at 600 ms, and carry an
/// image each from 1000 ms on. By then 8 have been requested, and the last 4 leave at 1200 ms: 1400
/// ms. Without keep-alive six connections are opened at 600 ms, whose images are there at 1200 ms,
/// and then six more: 1800 ms. Where exchanges share a connection, all images leave with the
/// document's last byte: one round trip later they arrive.
#[test]
fn six_connections_take_turns_where_one_carries_all_at_once() {
    let mut objects = vec![("/index.html".to_owned(), "html", 1_000, "")];
    objects.extend((1..=12).map(|n| (format!("/{n}.gif"), "image", 500, "/index.html")));
    let fast = ["link.rate=1gbit", "link.delay=100ms", &manifest("parallel", &objects)];
    check(&fast, &[("http1", 1_400.0), ("http2", 800.0), ("http3", 600.0)]);
    check(&[&fast[..], &["workload.keep-alive=false"]].concat(), &[("http1", 1_800.0)]);
    let six = "workload.connections=6";
    check(&[&fast[..], &["workload.keep-alive=false", six]].concat(), &[("http1", 1_800.0)]);
    // With two: at 600 ms the second is opened, and carries images from 1000 ms on; by then the
    // first has carried 2, the other ten take 5 rounds.
    check(&[&fast[..], &["workload.connections=2"]].concat(), &[("http1", 2_000.0)]);
}

/// At 10 Mbit/s and 20 ms round trip, an image of 1 MB is mostly time on the line.
///
/// Over TCP, 1448 bytes of it take a packet of 1500, and 16 kB a TLS record of 22 and, over HTTP/2,
/// a frame of 9 bytes more (over HTTP/1.1 a chunk's frame of about as much): 1.038 MB, 830 ms.
/// Before it lie 5 round trips (TCP, TLS, document, style sheet, and its own request and first
/// byte), 100 ms, the 2 kB of document and style sheet, 2 ms, the handshake's 3 kB, 2 ms, and what
/// is left of the first round after ten packets of 1.2 ms, 9 ms: 943 ms.
///
/// Over QUIC, packets of 1480 bytes, which are found soon after the start (RFC 8899), carry about
/// 1416: 1.045 MB, 836 ms. Before it lie 4 round trips, 80 ms, 2 ms, 3 ms for a handshake padded to 1200
/// bytes, and 11 ms of the first round after ten packets of 1 ms: 932 ms.
#[test]
fn a_long_object_takes_its_time_on_the_line() {
    let slow = ["link.rate=10mbit", "link.delay=10ms", &chain(1_000_000)];
    check(&slow, &[("http1", 943.0), ("http2", 943.0), ("http3", 932.0)]);
}
