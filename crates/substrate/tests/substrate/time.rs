//! The clock, timers and the order of tasks.

use std::pin::pin;

use trackbed_substrate::is_simulating;

use crate::support::run_alone as run;
use crate::support::*;

#[test]
fn sleeping_takes_exactly_as_long_as_asked_and_no_time_passes_otherwise() {
    let end = run(|| async {
        assert_eq!(now(), Time::ZERO);
        for nanos in [1, 999, 1_000_000_007] {
            let before = now();
            sleep(Duration::from_nanos(nanos)).await;
            assert_eq!(now() - before, Duration::from_nanos(nanos));
        }
        sleep_until(Time::from_nanos(5)).await;
        now()
    });
    assert_eq!(end, Time::from_nanos(1_000_001_007));
}

#[test]
fn the_images_of_time_move_with_it() {
    run(|| async {
        let (instant, wall) = (to_std_instant(now()), wall_clock());
        assert_eq!(wall.as_secs(), 1_767_225_600);
        sleep(Duration::from_nanos(1_500_000_001)).await;
        assert_eq!(to_std_instant(now()) - instant, Duration::from_nanos(1_500_000_001));
        assert_eq!(wall_clock() - wall, Duration::from_nanos(1_500_000_001));
        assert_eq!(from_std_instant(to_std_instant(now())), now());
    });
}

#[test]
fn tasks_run_in_the_order_in_which_they_were_woken() {
    let order = run(|| async {
        let order = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = [30, 10, 20, 10, 30]
            .into_iter()
            .enumerate()
            .map(|(index, millis)| {
                let order = Rc::clone(&order);
                spawn(async move {
                    order.borrow_mut().push((0, index));
                    sleep(Duration::from_millis(millis)).await;
                    order.borrow_mut().push((millis, index));
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
        order.take()
    });
    let started = (0..5).map(|index| (0, index));
    let woken = [(10, 1), (10, 3), (20, 2), (30, 0), (30, 4)];
    assert_eq!(order, started.chain(woken).collect::<Vec<_>>());
}

#[test]
fn a_timer_that_is_reset_again_and_again_is_due_at_the_last_deadline() {
    run(|| async {
        let mut timer = sleep(Duration::from_secs(1));
        for _ in 0..10_000 {
            sleep(Duration::from_micros(10)).await;
            timer.reset(now() + Duration::from_secs(1));
            assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut timer).poll(cx).is_pending())).await);
        }
        (&mut timer).await;
        assert_eq!(now(), Time::from_millis(1_100));
        timer.reset(Time::from_millis(1_101));
        (&mut timer).await;
        assert_eq!(now(), Time::from_millis(1_101));
        timer.reset(Time::ZERO);
        timer.await;
        assert_eq!(now(), Time::from_millis(1_101));
    });
}

#[test]
fn a_timer_moved_closer_wakes_who_already_waits_for_it() {
    run(|| async {
        let mut timer = sleep(Duration::from_secs(100));
        let mut ticks = 0;
        poll_fn(|cx| {
            ticks += 1;
            if ticks == 1 {
                assert!(Pin::new(&mut timer).poll(cx).is_pending());
                timer.reset(Time::from_millis(3));
            }
            Pin::new(&mut timer).poll(cx)
        })
        .await;
        assert_eq!((now(), ticks), (Time::from_millis(3), 2));
    });
}

#[test]
fn dropping_a_task_cancels_it_and_detaching_does_not() {
    run(|| async {
        let log = Rc::new(RefCell::new(Vec::new()));
        let start = |name: &'static str| {
            let log = Rc::clone(&log);
            spawn(async move {
                sleep(Duration::from_millis(1)).await;
                log.borrow_mut().push(name);
            })
        };
        drop(start("dropped"));
        start("detached").detach();
        let kept = start("kept");
        sleep(Duration::from_millis(2)).await;
        assert!(kept.is_finished());
        kept.await;
        assert_eq!(log.take(), ["detached", "kept"]);
    });
}

#[test]
fn tasks_left_at_the_end_are_dropped_with_their_run() {
    struct Noisy(std::sync::mpsc::Sender<bool>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            // A destructor may still spawn; nothing of it ever runs.
            spawn(async { unreachable!() }).detach();
            let _ = self.0.send(is_simulating());
        }
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    run(move || async move {
        for _ in 0..3 {
            let noisy = Noisy(sender.clone());
            spawn(async move {
                sleep(Duration::from_secs(1)).await;
                drop(noisy);
            })
            .detach();
        }
        sleep(Duration::from_millis(1)).await;
    });
    assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [true; 3]);
}

#[test]
fn only_the_thread_of_a_run_simulates() {
    assert!(!is_simulating());
    run(|| async {
        assert!(is_simulating());
        std::thread::scope(|scope| scope.spawn(|| assert!(!is_simulating())).join().unwrap());
    });
    assert!(!is_simulating());
}

#[test]
fn main_may_borrow_and_be_woken_by_its_own_tasks() {
    let words = ["a".to_owned(), "b".to_owned()];
    let joined = run(|| async {
        let length = spawn(async {
            sleep(Duration::from_millis(1)).await;
            1
        });
        let mut length = pin!(length);
        let doubled = poll_fn(|cx| length.as_mut().poll(cx).map(|n| n * 2)).await;
        words.join("-").repeat(doubled)
    });
    assert_eq!(joined, "a-ba-b");
}
