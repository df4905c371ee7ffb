//! Stalled runs and their diagnosis.

use trackbed_substrate::{Cancel, RunError};

use super::{defaults, execute, execution, loopback, run};
use crate::support::*;

#[test]
fn nothing_to_wait_for_is_a_stall() {
    let failed = execute(|machine| async move {
        // Sockets without waiting tasks wake no task.
        let _idle = loopback(&machine).bind_udp(address("127.0.0.1", 0)).unwrap();
        spawn_named("lost", pending::<()>()).detach();
        sleep(Duration::from_millis(3)).await;
        pending::<()>().await;
    });
    let (at, reason, diagnosis) = stalled(failed.unwrap_err());
    assert!(at >= Time::from_millis(3));
    assert_eq!(reason, StallReason::NothingLeft);
    let lines = ["main: waits since", "lost: waits since", "UDP 127.0.0.1:", "a timer: never"];
    assert_lines(&diagnosis, &lines);
}

#[test]
fn a_run_ends_at_its_limit_and_says_who_waits_for_what() {
    let limit = Time::from_millis(30);
    let execution = execution().with_time_limit(limit);
    let failed = execution.run(|machine| async move {
        let host = loopback(&machine);
        let socket = host.bind_udp(address("127.0.0.1", 0)).unwrap();
        spawn_named("echo server", async move {
            let _ = receive(&*socket).await;
        })
        .detach();
        let options = defaults();
        let listener = host.listen_tcp(address("127.0.0.1", 0), &options).unwrap();
        let _stream = host.connect_tcp(None, listener.local_addr(), &options).await.unwrap();
        let _accepted = listener.accept().await.unwrap();
        let _ = listener.accept().await;
    });
    let (at, reason, diagnosis) = stalled(failed.unwrap_err());
    assert!(at >= limit);
    assert_eq!(reason, StallReason::TimeLimit);
    let lines = [
        "to accept from TCP listener 127.0.0.1:",
        "to receive from UDP 127.0.0.1:",
        ", Established, 0 B not sent yet",
        "0 datagrams lost",
    ];
    assert_lines(&diagnosis, &lines);
}

#[test]
fn tasks_that_wake_one_another_without_end_reach_the_limit() {
    let failed = execution().with_time_limit(Time::from_millis(20)).run(|_| {
        poll_fn::<(), _>(|cx| {
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    });
    let (_, reason, _) = stalled(failed.unwrap_err());
    assert_eq!(reason, StallReason::TimeLimit);
}

#[test]
fn a_switch_stops_runs_that_wait_and_runs_that_are_busy() {
    for busy in [false, true] {
        let cancel = Cancel::default();
        let execution = execution().with_cancel(cancel.clone());
        let switch = std::thread::spawn(move || cancel.cancel());
        let result = execution.run(|machine| async move {
            let socket = loopback(&machine).bind_udp(address("127.0.0.1", 0)).unwrap();
            if busy {
                loop {
                    send(&*socket, socket.local_addr(), b"to myself").await.unwrap();
                }
            }
            receive(&*socket).await.unwrap();
        });
        assert!(matches!(result, Err(RunError::Cancelled { .. })), "{result:?}");
        switch.join().unwrap();
    }
}

#[test]
fn a_panic_is_the_result_and_the_thread_as_good_as_new() {
    let result = execute(|_| async {
        let task = spawn(async {
            sleep(Duration::from_millis(2)).await;
            panic!("number {}", 5);
        });
        task.await;
    });
    let Err(RunError::Panicked { at, message, location }) = result else { panic!("{result:?}") };
    assert!(at >= Time::from_millis(2));
    assert_eq!(message, "number 5");
    assert!(location.unwrap().contains("failures.rs"));
    assert_eq!(run(|_| async { 1 }), 1);
}

#[test]
fn the_tasks_of_a_run_are_dropped_with_it_and_their_sockets_closed() {
    let (alive, port) = execute(|machine| async move {
        let listener = loopback(&machine).listen_tcp(address("127.0.0.1", 0), &defaults()).unwrap();
        let port = listener.local_addr().port();
        let alive = Rc::new(());
        let held = Rc::clone(&alive);
        spawn(async move {
            let _held = held;
            let _ = listener.accept().await;
        })
        .detach();
        sleep(Duration::from_millis(1)).await;
        (alive, port)
    })
    .unwrap();
    assert_eq!(Rc::strong_count(&alive), 1);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn sockets_that_outlive_their_run_fail_and_do_no_harm() {
    let (socket, stream, host, machine) = execute(|machine| async move {
        let host = loopback(&machine);
        let socket = host.bind_udp(address("127.0.0.1", 0)).unwrap();
        let options = defaults();
        let listener = host.listen_tcp(address("127.0.0.1", 0), &options).unwrap();
        let stream = host.connect_tcp(None, listener.local_addr(), &options).await.unwrap();
        (socket, stream, host, machine)
    })
    .unwrap();
    assert!(host.bind_udp(address("127.0.0.1", 0)).is_err());
    assert_eq!(machine.datagrams_dropped(), 0);
    stream.abort();
    assert_eq!(stream.info(), Default::default());
    run(|_| async move {
        assert!(receive(&*socket).await.is_err());
        assert!(send(&*socket, socket.local_addr(), b"late").await.is_err());
    });
}

#[test]
fn runs_do_not_nest() {
    let result = execute(|_| async { execute(|_| async {}) });
    let Err(RunError::Panicked { message, .. }) = result else { panic!("{result:?}") };
    assert!(message.contains("cannot start inside another run"));
}

#[test]
fn a_host_without_an_address_of_the_family_says_so() {
    let error = execute(|machine| async move {
        let host = machine.host("mute", Vec::<IpAddr>::new());
        host.connect_tcp(None, address("127.0.0.1", 9), &defaults()).await.err().unwrap()
    });
    assert!(error.unwrap().to_string().contains("mute has no address of the same IP version"));
}
