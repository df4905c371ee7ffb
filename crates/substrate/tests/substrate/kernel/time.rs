//! The clock and its timers.

use super::{HANG, execute, run};
use crate::support::*;

#[test]
fn timers_never_fire_before_their_time() {
    run(|_| async {
        let spans = [3_000_000, 200, 1_000_000, 50_000, 0, 1].map(Duration::from_nanos);
        let timers = spans.map(|span| {
            spawn(async move {
                for _ in 0..50 {
                    let start = now();
                    sleep(span).await;
                    let late = now() - start;
                    assert!(late >= span, "{late:?} of {span:?}");
                }
            })
        });
        for timer in timers {
            timer.await;
        }
    });
}

#[test]
fn a_timer_that_moves_is_due_at_its_last_deadline() {
    run(|_| async {
        let start = now();
        let mut timer = sleep(Duration::from_millis(2));
        timer.reset(start + Duration::from_millis(40));
        timer.reset(start + Duration::from_millis(10));
        (&mut timer).await;
        assert!(now() - start >= Duration::from_millis(10));
        timer.reset(start + Duration::from_millis(12));
        timer.await;
        assert!(now() - start >= Duration::from_millis(12));
        // Far beyond the end of the run.
        let never = sleep_until(Time::MAX);
        sleep(Duration::from_micros(10)).await;
        drop(never);
    });
}

#[test]
fn the_clock_stands_still_while_a_task_is_polled_and_then_moves_on() {
    run(|_| async {
        let start = now();
        assert_eq!(now(), start);
        sleep(Duration::ZERO).await;
        sleep(Duration::from_nanos(1)).await;
        assert!(now() > start);
        assert_eq!(from_std_instant(to_std_instant(now())), now());
    });
}

#[test]
fn runs_that_share_an_origin_share_their_time() {
    let origin = Origin::now();
    let execution = Execution::new(origin).with_time_limit(HANG);
    let first = execution.run(|_| async { now() }).unwrap();
    let copy = Execution::new(Origin::from_nanos(origin.as_nanos())).with_time_limit(HANG);
    let second = std::thread::spawn(move || copy.run(|_| async { now() }).unwrap()).join();
    assert!(second.unwrap() > first);
    assert!(execution.run(|_| async { now() }).unwrap() > first);
}

#[test]
fn before_its_origin_a_run_stands_at_zero() {
    let soon = Origin::from_nanos(Origin::now().as_nanos() + 30_000_000);
    let execution = Execution::new(soon).with_time_limit(HANG);
    let first = execution.run(|_| async {
        let start = now();
        sleep(Duration::from_millis(1)).await;
        (start, now())
    });
    let (start, end) = first.unwrap();
    assert_eq!(start, Time::ZERO);
    assert!(end >= Time::from_millis(1));
    assert!(soon.elapsed() >= end);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "compared with the system's own time of day")]
fn the_time_of_day_and_the_randomness_are_the_systems() {
    let since_1970 = || {
        let now = std::time::SystemTime::now();
        now.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap()
    };
    let before = since_1970();
    let within = execute(|machine| async move {
        assert!(matches!(machine.host("here", []).entropy(), Entropy::System));
        assert!(!trackbed_substrate::is_simulating());
        wall_clock()
    });
    assert!((before..=since_1970()).contains(&within.unwrap()));
    // Behind the run the clock is that of simulations again.
    assert!(wall_clock() < Duration::from_secs(1_767_225_600) + Duration::from_secs(3_600));
}

/// So what hosts draw that is no secret is the same on both substrates.
#[test]
fn a_machine_that_knows_a_seed_draws_as_in_virtual_time() {
    let drawn = |host: &dyn Host| [host.draw(), host.draw()];
    let network = pair(Bitrate::from_mbps(1), Duration::ZERO);
    let simulated = Simulation::default().run(seed(), network, |hosts| async move {
        ["client", "server"].map(|name| drawn(&*hosts.get(name).unwrap()))
    });
    let real = execute(|machine| async move {
        assert_eq!(machine.host("client", []).draw(), None);
        let machine = machine.with_seed(seed());
        ["client", "server"].map(|name| drawn(&*machine.host(name, [])))
    });
    let [client, server] = real.unwrap();
    assert!(client[0].is_some() && client[0] != client[1] && client != server);
    assert_eq!(simulated.unwrap(), [client, server]);
}

#[test]
fn the_end_of_a_pipe_is_noticed_and_what_comes_before_is_not_it() {
    let ended = execute(|machine| async move {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let closed = spawn(machine.closed(reader));
        rustix::io::write(&writer, b"not yet").unwrap();
        sleep(Duration::from_millis(5)).await;
        assert!(!closed.is_finished());
        drop(writer);
        closed.await.unwrap();
    });
    ended.unwrap();
}
