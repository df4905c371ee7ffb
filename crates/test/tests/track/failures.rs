//! Bad input and bad code end with an error that names the place.

use std::fs;
use std::future::{pending, poll_fn};
use std::task::Poll;
use std::time::Duration;

use trackbed_test::{
    Bitrate, Failure, Link, Ratio, TcpListener, TcpStream, Track, UdpSocket, sleep, spawn,
};

fn text(failure: Result<(), Failure>) -> String {
    failure.unwrap_err().to_string()
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is missing in:\n{text}");
    }
}

#[test]
fn tasks_that_all_wait_are_named_with_their_sockets() {
    let mut track = Track::new(5);
    let (a, b) = track.link(Link::new().delay(Duration::from_millis(10)));
    let (accepts, pends) = (line!() + 3, line!() + 4);
    let failure = text(track.try_run(async {
        let listener = TcpListener::bind(&b, b.address(80)).unwrap();
        spawn(async move { listener.accept().await.unwrap().0.set_nodelay(true) });
        spawn(pending::<()>());
        let socket = UdpSocket::bind(&a, a.address(5000)).unwrap();
        sleep(Duration::from_millis(30)).await;
        socket.recv_from(&mut [0; 10]).await.unwrap();
    }));
    contains(
        &failure,
        &[
            "stalled at 30.000000 ms: nothing is left that could wake the main future",
            "main: waits since 30.000000 ms to receive from UDP 10.0.0.1:5000",
            &format!("failures.rs:{accepts}: waits since 0.000000 ms to accept from TCP listener"),
            &format!("failures.rs:{pends}: waits since 0.000000 ms for something inside"),
            "seed: 5",
        ],
    );
}

#[test]
fn a_panic_is_named_and_leaves_a_capture() {
    let mut track = Track::new(6);
    let folder = std::env::temp_dir().join(format!("trackbed-test-{}", std::process::id()));
    track.captures(&folder);
    let (a, b) = track.link(Link::new());
    let line = format!("failures.rs:{}", line!() + 2);
    let failure = track.try_run(async {
        TcpStream::connect(&a, b.address(80)).await.expect("a server");
    });
    let failure = failure.unwrap_err();
    contains(&failure.to_string(), &["a server", &line, "seed: 6", "for Wireshark: "]);
    let capture = fs::read(failure.capture().unwrap()).unwrap();
    let name = failure.capture().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    fs::remove_dir_all(folder).unwrap();
    assert!(name.ends_with("-seed-6.pcapng"), "{name}");
    // A section header, and at least a SYN and a RST, each at both ends.
    assert_eq!(capture[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert!(capture.len() > 4 * 40, "{}", capture.len());
}

#[test]
fn a_capture_that_cannot_be_written_does_not_hide_the_failure() {
    let mut track = Track::new(1);
    track.captures("/dev/null/captures");
    let failure = text(track.try_run(async { panic!("a bug") }));
    contains(&failure, &["a bug", "no capture: /dev/null/captures: "]);
}

#[test]
fn a_panic_in_a_task_fails_the_run() {
    let failure = text(Track::new(1).try_run(async {
        spawn(async { panic!("in a task") });
        pending().await
    }));
    contains(&failure, &["in a task"]);
}

#[test]
fn time_has_a_limit() {
    let mut track = Track::new(1);
    track.time_limit(Duration::from_secs(5));
    let failure = text(track.try_run(async {
        loop {
            sleep(Duration::from_secs(2)).await;
        }
    }));
    contains(&failure, &["stalled at 4000.000000 ms: the time limit is reached"]);
}

#[test]
fn loops_without_time_end() {
    let too_many = "too many events at one instant";
    let wakes_itself = poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    contains(&text(Track::new(1).try_run(wakes_itself)), &[too_many]);
    let sleeps = async {
        loop {
            sleep(Duration::ZERO).await;
        }
    };
    contains(&text(Track::new(1).try_run(sleeps)), &[too_many]);
    let mut track = Track::new(1);
    let (a, b) = track.link(Link::new().delay(Duration::from_millis(1)));
    let sends = async {
        let socket = UdpSocket::bind(&a, a.address(0)).unwrap();
        loop {
            socket.send_to(b"", b.address(9)).await.unwrap();
        }
    };
    contains(&text(track.try_run(sends)), &[too_many]);
}

#[test]
fn ports_and_addresses_have_one_owner() {
    let mut track = Track::new(1);
    let (a, b) = track.link(Link::new());
    let outside = UdpSocket::bind(&a, a.address(53)).unwrap_err().to_string();
    contains(&outside, &["the end \"a\" has no sockets yet; use it inside Track::run"]);
    track.run(async {
        let _first = UdpSocket::bind(&a, a.address(53)).unwrap();
        let second = UdpSocket::bind(&a, a.address(53)).unwrap_err().to_string();
        contains(&second, &["10.0.0.1:53 is in use; choose another port"]);
        let other = TcpListener::bind(&a, b.address(80)).unwrap_err().to_string();
        contains(&other, &["10.0.0.2 is not an address of the host \"a\""]);
    });
}

#[test]
fn a_ratio_is_between_0_and_1() {
    assert!(Ratio::from_f64(-0.1).unwrap_err().to_string().contains("is not between 0 and 1"));
    assert!("101 %".parse::<Ratio>().unwrap_err().to_string().contains("more than 100 %"));
}

#[test]
#[should_panic(expected = "Link::rate: 0 bit/s delivers nothing; give a rate above zero")]
fn a_rate_of_zero_is_refused() {
    let _link = Link::new().rate(Bitrate::from_bps(0));
}

#[test]
#[should_panic(expected = "the queue of a link has no effect without Link::rate; add one")]
fn a_queue_without_a_rate_is_refused() {
    Track::new(1).link(Link::new().backward(Link::new().queue(10)));
}

#[test]
#[should_panic(expected = "the end \"a\" belongs to another track")]
fn a_hook_needs_an_end_of_its_track() {
    let (a, _) = Track::new(1).link(Link::new());
    Track::new(1).on_send(&a, |_| {});
}

#[test]
fn names_and_sizes_of_links_are_checked() {
    let mut track = Track::new(1);
    track.link(Link::new().names("x", "y"));
    track.link(Link::new().names("x", "z"));
    let failure = text(track.try_run(async {}));
    contains(&failure, &["two nodes are named \"x\"; give each a unique name", "seed: 1"]);
    let mut track = Track::new(1);
    track.link(Link::new().mtu(500));
    contains(
        &text(track.try_run(async {})),
        &["an MTU of 500 bytes is too small; use at least 1280"],
    );
}
