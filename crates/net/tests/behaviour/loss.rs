use std::num::NonZeroU64;

use trackbed_net::models::loss::{LossLaw, Periodic, Sojourn};

use crate::harness::*;

const LOST: Point = Point::Dropped(DropReason::Loss);

/// Which of a million packets are lost.
fn losses(law: &dyn LossLaw) -> Vec<bool> {
    let mut process = law.begin(Seed::of_run(3, 0).stream("loss"));
    (0..1_000_000).map(|_| process.loses_next(Time::ZERO, 1_500)).collect()
}

/// Full packets with an acknowledgment behind every `spacing`-th: which of the full ones are lost, and
/// which share of the acknowledgments.
fn among_acknowledgments(spacing: usize) -> (Vec<bool>, f64) {
    let law = LossTimetable::constant("2 %".parse().unwrap());
    let mut process = law.begin(Seed::of_run(3, 0).stream("loss"));
    let (mut full, mut small) = (Vec::new(), Vec::new());
    for number in 0..500_000 {
        full.push(process.loses_next(Time::ZERO, 1_500));
        if number % spacing == 0 {
            small.push(process.loses_next(Time::ZERO, 52));
        }
    }
    (full, share(&small))
}

#[test]
fn a_packet_more_of_another_size_does_not_change_which_ones_are_lost() {
    let ((some, share_of_some), (many, share_of_many)) =
        (among_acknowledgments(3), among_acknowledgments(2));
    assert_eq!(some, many);
    for lost in [share(&some), share_of_some, share_of_many] {
        assert_near(lost, 0.02, 0.03);
    }
}

fn share(losses: &[bool]) -> f64 {
    losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
}

/// The mean length of a run of lost packets.
fn mean_burst(losses: &[bool]) -> f64 {
    let begins = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let lost = losses.iter().filter(|lost| **lost).count();
    lost as f64 / (begins + usize::from(losses[0])) as f64
}

#[test]
fn independent_loss_has_its_share_and_no_memory() {
    let losses = losses(&LossTimetable::constant(percent(3)));
    assert_near(share(&losses), 0.03, 0.02);
    // A run of independent losses has the mean length 1 / (1 - p).
    assert_near(mean_burst(&losses), 1.0 / 0.97, 0.005);
}

#[test]
fn bursts_have_the_share_and_length_of_gilbert_and_elliott() {
    for (p, r) in [(1, 20), (5, 50), (2, 8)] {
        let all = GilbertElliott {
            p: percent(p),
            r: percent(r),
            loss_bad: Ratio::ONE,
            loss_good: Ratio::ZERO,
        };
        let losses = losses(&all);
        let (p, r) = (p as f64, r as f64);
        assert_near(share(&losses), p / (p + r), 0.03);
        assert_near(mean_burst(&losses), 100.0 / r, 0.03);
    }
}

#[test]
fn partial_losses_weigh_the_states() {
    let law = GilbertElliott {
        p: percent(2),
        r: percent(8),
        loss_bad: percent(50),
        loss_good: percent(1),
    };
    // A fifth of the time bad: 0.2 * 0.5 + 0.8 * 0.01.
    assert_near(share(&losses(&law)), 0.108, 0.02);
}

#[test]
fn the_first_state_is_drawn_like_any_other() {
    let law = GilbertElliott {
        p: percent(30),
        r: percent(30),
        loss_bad: Ratio::ONE,
        loss_good: Ratio::ZERO,
    };
    let first = |run| law.begin(Seed::of_run(1, run).stream("loss")).loses_next(Time::ZERO, 1_500);
    let lost = (0..10_000).filter(|run| first(*run)).count();
    assert_near(lost as f64 / 10_000.0, 0.5, 0.03);
    assert_eq!(share(&losses(&GilbertElliott { p: Ratio::ZERO, r: Ratio::ZERO, ..law })), 0.0);
}

/// A packet each millisecond for 1,000 s: bad for 50 ms in the mean, which is a tenth of the time.
#[test]
fn states_in_time_have_their_share_and_length() {
    let [good, bad] = [450, 50].map(Duration::from_millis);
    let law = Sojourn::new(good, bad, Ratio::ONE, Ratio::ZERO).unwrap();
    let lost = |spacing: u64| -> Vec<bool> {
        let mut process = law.begin(Seed::of_run(3, 0).stream("loss"));
        let at = |number: u64| Time::ZERO + Duration::from_millis(number * spacing);
        (0..1_000_000 / spacing).map(|number| process.loses_next(at(number), 1_500)).collect()
    };
    let every = lost(1);
    assert_near(share(&every), 0.1, 0.05);
    assert_near(mean_burst(&every), 50.0, 0.05);
    // Whatever is sent: each hundredth packet has the fate that it has among all.
    let seldom: Vec<bool> = every.iter().step_by(100).copied().collect();
    assert_eq!(lost(100), seldom);
    assert!(Sojourn::new(good, Duration::ZERO, Ratio::ONE, Ratio::ZERO).is_err());
}

#[test]
fn every_nth_packet_is_lost_and_no_other() {
    let every = Periodic { every: NonZeroU64::new(4).unwrap() };
    let events = run(&LinkSpec::new().then(Loss::new(every)), burst(10));
    // Packet number 4 is the one that carries 3.
    assert_eq!(numbers(&events, LOST), [3, 7]);
}

#[test]
fn listed_packets_are_lost_and_no_other() {
    let events = run(&LinkSpec::new().then(Loss::new(Listed::new([7, 1, 7, 40]))), burst(10));
    assert_eq!(numbers(&events, LOST), [0, 6]);
    assert_eq!(numbers(&events, Point::Delivered), [1, 2, 3, 4, 5, 7, 8, 9]);
}

/// Common random numbers: a packet that is lost at 1 % is lost at 10 % too, whatever the other
/// models.
#[test]
fn a_higher_loss_takes_the_same_packets_and_more() {
    let lost = |percent_lost| {
        numbers(
            &run(&LinkSpec::new().then(Loss::bernoulli(percent(percent_lost))), burst(2_000)),
            LOST,
        )
    };
    let (few, many) = (lost(1), lost(10));
    assert!(few.len() > 5 && many.len() > 100);
    assert!(few.iter().all(|n| many.contains(n)));
}

#[test]
fn loss_changes_while_the_link_runs_and_shifts_no_draw() {
    let spec = LinkSpec::new().then(Loss::bernoulli(percent(10)));
    let untouched = numbers(&run(&spec, burst(300)), LOST);
    let mut driver = Driver::new(spec.build(&Seed::of_run(1, 0)), Events::new());
    let push = |driver: &mut Driver<Events>, numbers: std::ops::Range<u32>| {
        numbers.for_each(|n| driver.push(Time::ZERO, packet(n, 1_500)));
    };
    push(&mut driver, 0..100);
    assert!(driver.link.change(Time::ZERO, &Change::Loss(Ratio::ZERO)));
    push(&mut driver, 100..200);
    assert!(driver.link.change(Time::ZERO, &Change::Loss(percent(10))));
    push(&mut driver, 200..300);
    let expected: Vec<u32> = untouched.into_iter().filter(|n| !(100..200).contains(n)).collect();
    assert_eq!(numbers(&driver.seen, LOST), expected);
    let intact = |(_, _, seen): &(Time, Point, Packet)| *seen == packet(number(seen), 1_500);
    assert!(driver.seen.iter().all(intact));
}
