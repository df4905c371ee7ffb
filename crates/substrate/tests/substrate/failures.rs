//! Stalled runs and their diagnosis.

use crate::support::*;

fn fail<F: Future<Output = ()>>(
    simulation: &Simulation,
    main: impl FnOnce(Hosts) -> F + Send,
) -> RunError {
    simulation.run(seed(), slow_pair(), main).unwrap_err()
}

#[test]
fn a_stall_says_who_waits_for_what() {
    let error = fail(&Simulation::default(), |hosts| async move {
        let server = hosts.get("server").unwrap();
        let socket = server.bind_udp(address(SERVER, 7)).unwrap();
        spawn_named("echo server", async move {
            let _ = receive(&*socket).await;
        })
        .detach();
        let listener = server.listen_tcp(address(SERVER, 80), &Default::default()).unwrap();
        spawn_named("web server", async move {
            let _ = listener.accept().await;
        })
        .detach();
        spawn_named("lost", pending::<()>()).detach();
        sleep(Duration::from_millis(3)).await;
        pending::<()>().await;
    });
    let text = error.to_string();
    let (at, reason, diagnosis) = stalled(error);
    assert_eq!((at, reason), (Time::from_millis(3), StallReason::NothingLeft));
    let lines = [
        "main: waits since 3.000000 ms for something inside the program",
        "echo server: waits since 0.000000 ms to receive from UDP 10.0.0.2:7",
        "web server: waits since 0.000000 ms to accept from TCP listener 10.0.0.2:80",
        "lost: waits since 0.000000 ms for something inside the program",
        "UDP 10.0.0.2:7, 0 datagrams received and not read",
        "TCP listener 10.0.0.2:80, 0 connections not accepted",
        "a packet on a link: never",
    ];
    assert_lines(&diagnosis, &lines);
    assert!(text.starts_with("the run stalled at 3.000000 ms: nothing is left"), "{text}");
}

#[test]
fn a_run_without_end_reaches_the_limit_of_time() {
    let simulation = Simulation::default().with_time_limit(Time::from_millis(1_000));
    let error = fail(&simulation, |_| async {
        loop {
            sleep(Duration::from_millis(300)).await;
        }
    });
    let (at, reason, diagnosis) = stalled(error);
    assert_eq!((at, reason), (Time::from_millis(900), StallReason::TimeLimit));
    assert!(diagnosis.contains("main: waits since 900.000000 ms for the time 1200.000000 ms"));
}

#[test]
fn tasks_that_wake_one_another_without_end_are_a_livelock() {
    let simulation = Simulation::default().with_events_per_instant(10_000);
    let error = fail(&simulation, |_| async {
        sleep(Duration::from_millis(1)).await;
        poll_fn::<(), _>(|cx| {
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    });
    let (at, reason, _) = stalled(error);
    assert_eq!((at, reason), (Time::from_millis(1), StallReason::Livelock));
}

#[test]
fn many_events_are_no_livelock_as_long_as_time_passes() {
    let simulation = Simulation::default().with_events_per_instant(0);
    // The two nodes of the network add 2,000 events.
    let end = simulation.run(seed(), slow_pair(), |_| async {
        for _ in 0..100_000 {
            sleep(Duration::from_nanos(1)).await;
        }
        now()
    });
    assert_eq!(end.unwrap(), Time::from_nanos(100_000));
}

#[test]
fn a_panic_anywhere_in_a_run_is_its_result() {
    let in_main = |_| async {
        sleep(Duration::from_millis(2)).await;
        panic!("number {}", 5);
    };
    let in_task = |_| async {
        let task = spawn(async {
            sleep(Duration::from_millis(2)).await;
            panic!("number {}", 5);
        });
        task.await;
    };
    let errors = [fail(&Simulation::default(), in_main), fail(&Simulation::default(), in_task)];
    for error in errors {
        let RunError::Panicked { at, message, location } = error else { panic!("{error}") };
        assert_eq!((at, &*message), (Time::from_millis(2), "number 5"));
        assert!(location.unwrap().contains("failures.rs"));
    }
    // The next run is as good as new.
    assert_eq!(Simulation::default().run(seed(), slow_pair(), |_| async { 1 }).unwrap(), 1);
}

#[test]
fn a_panic_before_the_first_poll_is_caught_too() {
    let main = |hosts: Hosts| {
        assert!(hosts.get("missing").is_some(), "there is no such host");
        async {}
    };
    let error = fail(&Simulation::default(), main);
    assert!(matches!(error, RunError::Panicked { message, .. } if message.contains("no such")));
}

#[test]
fn a_cancelled_run_ends_at_its_next_step() {
    let cancel = Cancel::default();
    let simulation = Simulation::default().with_cancel(cancel.clone());
    let error = fail(&simulation, |_| async move {
        sleep(Duration::from_millis(1)).await;
        cancel.cancel();
        sleep(Duration::from_millis(1)).await;
    });
    let RunError::Cancelled { at } = error else { panic!("{error}") };
    assert_eq!(at, Time::from_millis(1));
}

#[test]
fn seeded_entropy_is_the_runs_own_and_ends_with_it() {
    let draw = |entropy: &Entropy| {
        let Entropy::Seeded(seeded) = entropy else { panic!("not seeded") };
        let mut bytes = [0; 32];
        seeded.fill(&mut bytes).map(|()| bytes)
    };
    let main = |hosts: Hosts| async move {
        let [client, server] = ["client", "server"].map(|name| hosts.get(name).unwrap());
        let first = draw(&client.entropy()).unwrap();
        let other = draw(&server.entropy()).unwrap();
        let elsewhere = client.entropy();
        let refused = std::thread::scope(|s| s.spawn(|| draw(&elsewhere)).join().unwrap()).is_err();
        assert!(refused, "another thread got seeded bytes");
        (first, other, client.entropy())
    };
    let (first, other, entropy) = Simulation::default().run(seed(), slow_pair(), main).unwrap();
    assert_ne!(first, other);
    assert!(draw(&entropy).is_err(), "seeded bytes after the run");
    let (again, ..) = Simulation::default().run(seed(), slow_pair(), main).unwrap();
    assert_eq!(first, again);
    let late =
        Simulation::default().run(seed(), slow_pair(), |_| async { draw(&entropy).is_err() });
    assert!(late.unwrap(), "seeded bytes in another run");
    // The bytes come from the stream with this name.
    let mut expected = [0; 32];
    seed().stream("entropy/client").fill(&mut expected);
    assert_eq!(first, expected);
}

#[test]
fn sockets_that_outlive_their_run_fail_and_do_no_harm() {
    let (socket, host) = Simulation::default()
        .run(seed(), slow_pair(), |hosts| async move {
            let host = hosts.get("client").unwrap();
            (host.bind_udp("0.0.0.0:0".parse().unwrap()).unwrap(), host)
        })
        .unwrap();
    assert!(host.bind_udp("0.0.0.0:0".parse().unwrap()).is_err());
    drop(socket);
}

#[test]
fn another_thread_that_wakes_a_task_is_told_that_it_must_not() {
    let told = Simulation::default().run(seed(), slow_pair(), |_| async {
        let waker = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&waker);
        spawn(poll_fn::<(), _>(move |cx| {
            *seen.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        }))
        .detach();
        sleep(Duration::from_millis(1)).await;
        let waker = waker.lock().unwrap().take().unwrap();
        std::thread::spawn(move || waker.wake()).join().is_err()
    });
    assert!(told.unwrap());
}
