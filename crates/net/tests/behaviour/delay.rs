use trackbed_net::models::delay::{DelayLaw, parse_delay_trace};

use crate::harness::*;

const DRAWS: u32 = 200_000;

/// Delays in milliseconds, sorted.
fn draws(law: &dyn DelayLaw) -> Vec<f64> {
    let mut rng = Seed::of_run(9, 0).stream("delays");
    let mut draws: Vec<f64> =
        (0..DRAWS).map(|_| law.draw(Time::ZERO, &mut rng).as_secs_f64() * 1e3).collect();
    draws.sort_by(f64::total_cmp);
    draws
}

#[test]
fn a_uniform_delay_fills_its_bounds_evenly() {
    let draws = draws(&Uniform::new(ms(10), ms(14)).unwrap());
    assert_near(mean(&draws), 12.0, 0.001);
    assert_near(draws[DRAWS as usize / 4], 11.0, 0.005);
    assert!(draws[0] >= 10.0 && draws[DRAWS as usize - 1] <= 14.0);
    assert!(Uniform::new(ms(2), ms(1)).is_err());
}

#[test]
fn a_normal_delay_has_its_mean_and_deviation_and_stops_at_zero() {
    let sorted = draws(&Normal { mean: ms(10), deviation: ms(2) });
    assert_near(mean(&sorted), 10.0, 0.002);
    let variance = sorted.iter().map(|d| (d - 10.0).powi(2)).sum::<f64>() / f64::from(DRAWS);
    assert_near(variance.sqrt(), 2.0, 0.01);
    // With the mean at zero, half of all delays are zero.
    let zero = draws(&Normal { mean: ms(0), deviation: ms(2) });
    let share = zero.iter().filter(|d| **d == 0.0).count() as f64 / f64::from(DRAWS);
    assert_near(share, 0.5, 0.01);
}

#[test]
fn a_pareto_delay_has_its_tail() {
    let sorted = draws(&Pareto::new(ms(10), 3.0, ms(60_000)).unwrap());
    assert_near(mean(&sorted), 15.0, 0.005);
    // P(delay > 20 ms) = (10 / 20)^3.
    let above = sorted.iter().filter(|d| **d > 20.0).count() as f64 / f64::from(DRAWS);
    assert_near(above, 0.125, 0.02);
    assert!(sorted[0] >= 10.0);
    assert_eq!(draws(&Pareto::new(ms(10), 3.0, ms(20)).unwrap())[DRAWS as usize - 1], 20.0);
    assert!(Pareto::new(ms(10), 0.0, ms(20)).is_err());
    assert!(Pareto::new(ms(10), f64::NAN, ms(20)).is_err());
    assert!(Pareto::new(ms(30), 3.0, ms(20)).is_err());
}

#[test]
fn jitter_keeps_the_order_unless_told_otherwise() {
    let jitter = || Delay::new(Uniform::new(ms(1), ms(20)).unwrap());
    let in_order: Vec<u32> = (0..1_000).collect();
    let kept = run(&LinkSpec::new().then(jitter()), every(ms(1), 1_000));
    assert_eq!(numbers(&kept, Point::Delivered), in_order);
    let free = run(&LinkSpec::new().then(jitter().with_overtaking()), every(ms(1), 1_000));
    let mut arrived = numbers(&free, Point::Delivered);
    assert_ne!(arrived, in_order);
    arrived.sort_unstable();
    assert_eq!(arrived, in_order);
}

#[test]
fn both_orders_draw_the_same_delays() {
    let jitter = || Delay::new(Uniform::new(ms(1), ms(20)).unwrap());
    let arrival = |spec: LinkSpec| {
        let mut events = run(&spec, every(ms(100), 50));
        events.sort_by_key(|(at, _, _)| *at);
        times(&events, Point::Delivered)
    };
    let kept = arrival(LinkSpec::new().then(jitter()));
    assert_eq!(kept, arrival(LinkSpec::new().then(jitter().with_overtaking())));
}

#[test]
fn a_timetable_counts_from_the_time_of_setting_out() {
    let rows = [(0, 10), (5, 50), (20, 1)];
    let rows = rows.map(|(from, delay)| (Time::from_millis(from), ms(delay)));
    let law = Timetable::new(rows).unwrap();
    let free = LinkSpec::new().then(Delay::new(law.clone()).with_overtaking());
    let events = run(&free, every(us(2_500), 10));
    let arrivals: Vec<f64> =
        times(&events, Point::Delivered).iter().map(|t| t.as_millis_f64()).collect();
    assert_eq!(arrivals, [10.0, 12.5, 21.0, 23.5, 55.0, 57.5, 60.0, 62.5, 65.0, 67.5]);
    // In order, those that set out at 20 ms wait for the ones before.
    let events = run(&LinkSpec::new().then(Delay::new(law)), every(us(2_500), 10));
    assert_eq!(times(&events, Point::Delivered)[7..], [Time::from_micros(67_500); 3]);
}

#[test]
fn a_trace_file_is_a_timetable_in_milliseconds() {
    let law = parse_delay_trace("\u{feff}# time delay\r\n0 10\r\n\r\n250.5\t12.125\r\n").unwrap();
    let rows = [(0, 10_000), (250_500, 12_125)];
    let rows = rows.map(|(from, delay)| (Time::from_micros(from), us(delay)));
    assert_eq!(law, Timetable::new(rows).unwrap());
    for (text, part) in [
        ("", "give one, from 0 s on"),
        ("5 10\n", "start it at 0 s"),
        ("0 10\n0 11\n", "in order of time"),
        ("0 10\n5\n", "line 2"),
        ("0 10\n5 6 7\n", "line 2"),
        ("0 -10\n", "line 1"),
        ("0 ten\n", "line 1"),
    ] {
        let error = parse_delay_trace(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}
