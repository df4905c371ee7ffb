//! Properties of every chain of models. The harness checks at every step that no packet appears or
//! vanishes unreported, and that everything is reported at its time.

use crate::harness::*;

const CHAINS: u64 = 400;

/// A chain of up to six models in any order.
fn random_chain(rng: &mut Rng) -> LinkSpec {
    (0..rng.below(7)).fold(LinkSpec::new(), |spec, _| random_model(spec, rng))
}

fn random_model(spec: LinkSpec, rng: &mut Rng) -> LinkSpec {
    let share = Ratio::from_parts(rng.below(30), 100);
    let rate = Bitrate::from_bps(1_000_000 + rng.below(50_000_000));
    let span = us(rng.below(20_000));
    let jitter = Delay::new(Uniform::new(span, span * 2).unwrap());
    let down = (1..4).map(|n| (Time::from_millis(n * 40), Time::from_millis(n * 40 + 5)));
    let queue =
        DropTail { packets: Some(1 + rng.below(30)), bytes: Some(ByteSize::from_bytes(40_000)) };
    let flushed = (1..5).map(|n| (Time::from_millis(n * 37), ByteSize::from_bytes(n * 4_000)));
    let rates = (0..6).map(|n| (Time::from_millis(n * 30), Bitrate::from_mbps(n * 7 % 12)));
    let losses = (1..4).map(|n| (Time::from_millis(n * 50), Ratio::from_parts(n % 3, 4)));
    match rng.below(19) {
        0 => spec.then(Rate::new(rate, queue)),
        1 => spec
            .then(Rate::new(rate, Codel { interval: ms(10), target: ms(1), ..Codel::default() })),
        2 => spec.then(RateTrace::new(Trace::parse("1\n1\n3\n7\n").unwrap(), queue)),
        3 => spec.then(RateTrace::new(Trace::parse("0\n2\n").unwrap(), Codel::default())),
        4 => spec.then(Delay::fixed(span)),
        5 => spec.then(jitter),
        6 => spec.then(jitter.with_overtaking()),
        7 => spec.then(Delay::new(Normal { mean: span, deviation: span })),
        8 => spec.then(Delay::new(Pareto::new(span, 1.5, ms(500)).unwrap()).with_overtaking()),
        9 => spec.then(Loss::bernoulli(share)),
        10 => spec.then(Loss::new(GilbertElliott {
            p: share,
            r: Ratio::from_parts(1, 3),
            loss_bad: Ratio::ONE,
            loss_good: Ratio::ZERO,
        })),
        11 => spec.then(Corruption { probability: share }),
        12 => spec.then(Duplication { probability: share }),
        13 => spec.then(Reordering { probability: share, hold: span }),
        14 => spec.then(Outage { down: Spells::new(down).unwrap() }),
        15 => spec.then(Flush::new(flushed).unwrap()),
        // The last rate is not zero: every chain must drain.
        16 => spec.then(RateTimetable::new(rates, queue).unwrap()),
        17 => spec.then(Loss::new(LossTimetable::new(losses).unwrap())),
        _ => spec.then(Pause { down: Spells::new(down).unwrap() }),
    }
}

/// 200 packets of all sizes, some of them together, in about 200 ms.
fn traffic(rng: &mut Rng) -> Vec<(Time, Packet)> {
    let mut at = Time::ZERO;
    let arrival = |n| {
        at += us([0, 10, 500, 3_000][rng.below(4) as usize]);
        let ecn = Ecn::from_bits(rng.below(3) as u8);
        (at, packet_with(n, 40 + rng.below(1_461) as usize, ecn))
    };
    (0..200).map(arrival).collect()
}

#[test]
fn every_chain_keeps_the_contract_and_drains() {
    for chain in 0..CHAINS {
        let mut rng = Seed::of_run(17, chain).stream("chain");
        let spec = random_chain(&mut rng);
        let arrivals = traffic(&mut rng);
        let sent = arrivals.clone();
        let events = run_with_seed(&spec, chain, arrivals);
        let untouched = |point: &Point| {
            !matches!(point, Point::Altered(Alteration::Corrupted | Alteration::Marked))
        };
        if events.iter().all(|(_, point, _)| untouched(point)) {
            for (_, _, packet) in &events {
                assert_eq!(*packet, sent[number(packet) as usize].1, "chain {chain}: {spec:?}");
            }
        }
    }
}

/// A late caller, as on a real clock, gets the same events in the same order.
#[test]
fn a_late_caller_is_told_the_same() {
    for chain in 0..CHAINS {
        let mut rng = Seed::of_run(20, chain).stream("chain");
        let spec = random_chain(&mut rng);
        let arrivals = traffic(&mut rng);
        let expected = run_with_seed(&spec, chain, arrivals.clone());
        let mut late = Driver::new(spec.build(&Seed::of_run(chain, 0)), Events::new());
        late.is_late = true;
        arrivals.into_iter().for_each(|(at, packet)| late.push(at, packet));
        late.advance(Time::MAX);
        assert!(late.seen == expected, "chain {chain}: {spec:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for chain in 0..100 {
        let mut rng = Seed::of_run(18, chain).stream("chain");
        let spec = random_chain(&mut rng);
        let arrivals = traffic(&mut rng);
        assert!(
            run_with_seed(&spec, 5, arrivals.clone()) == run_with_seed(&spec, 5, arrivals),
            "chain {chain}: {spec:?}"
        );
    }
    let lossy = LinkSpec::new().then(Loss::bernoulli(Ratio::from_parts(1, 2)));
    assert!(run_with_seed(&lossy, 1, burst(100)) != run_with_seed(&lossy, 2, burst(100)));
}

/// A model with nothing to do leaves every event as it was, wherever it stands. This also
/// compares chains that are woken for each departure with chains that are not.
#[test]
fn a_model_with_nothing_to_do_changes_nothing() {
    let idle: [fn(LinkSpec) -> LinkSpec; 11] = [
        |spec| spec.then(Loss::bernoulli(Ratio::ZERO)),
        |spec| spec.then(Loss::new(Listed::new([]))),
        |spec| spec.then(Corruption { probability: Ratio::ZERO }),
        |spec| spec.then(Duplication { probability: Ratio::ZERO }),
        |spec| spec.then(Reordering { probability: Ratio::ZERO, hold: ms(5) }),
        |spec| spec.then(Outage { down: Spells::new([]).unwrap() }),
        |spec| spec.then(Pause { down: Spells::new([]).unwrap() }),
        |spec| spec.then(Flush::new([(Time::from_millis(50), ByteSize::from_bytes(39))]).unwrap()),
        |spec| spec.then(Loss::new(LossTimetable::new([]).unwrap())),
        |spec| spec.then(Delay::fixed(ms(0))),
        |spec| spec.then(Delay::new(Timetable::new([(Time::ZERO, ms(0))]).unwrap())),
    ];
    for chain in 0..60 {
        // The idle model may share a stage with other models. That renames their random streams and
        // would change their draws, so the other models here draw nothing.
        let mut rng = Seed::of_run(19, chain).stream("chain");
        let length = rng.below(5);
        let choice: Vec<u64> = (0..length).map(|_| rng.below(5)).collect();
        let arrivals = traffic(&mut rng);
        let plain = choice.iter().fold(LinkSpec::new(), |spec, c| certain_model(spec, *c));
        let expected = run_with_seed(&plain, 1, arrivals.clone());
        for idle in idle {
            for place in 0..=choice.len() {
                let (before, behind) = choice.split_at(place);
                let spec = before.iter().fold(LinkSpec::new(), |spec, c| certain_model(spec, *c));
                let spec = behind.iter().fold(idle(spec), |spec, c| certain_model(spec, *c));
                let events = run_with_seed(&spec, 1, arrivals.clone());
                assert!(events == expected, "chain {chain}: {spec:?}");
            }
        }
    }
}

fn certain_model(spec: LinkSpec, choice: u64) -> LinkSpec {
    let queue = DropTail::of_packets(5);
    let down = [(Time::from_millis(30), Time::from_millis(60))];
    match choice {
        0 => spec.then(Rate::new(Bitrate::from_mbps(8), queue)),
        1 => spec.then(Delay::fixed(us(1_700))),
        2 => spec.then(RateTrace::new(Trace::parse("1\n2\n5\n").unwrap(), queue)),
        3 => spec.then(Outage { down: Spells::new(down).unwrap() }),
        _ => spec.then(Rate::new(
            Bitrate::from_mbps(20),
            Codel { interval: ms(5), target: us(500), ..Codel::default() },
        )),
    }
}

/// One model's draws are its own: another model, anywhere, shifts nothing.
#[test]
fn a_new_model_shifts_no_draws_of_the_others() {
    let loss = || Loss::bernoulli(Ratio::from_parts(1, 10));
    let lost = |spec: &LinkSpec| -> Vec<u32> {
        numbers(&run_with_seed(spec, 1, burst(1_000)), Point::Dropped(DropReason::Loss))
    };
    let alone = lost(&LinkSpec::new().then(loss()));
    let jitter = Delay::new(Uniform::new(ms(1), ms(2)).unwrap());
    let corruption = Corruption { probability: Ratio::from_parts(1, 2) };
    let spells = Spells::new([(Time::from_millis(1), Time::from_millis(2))]);
    let company = LinkSpec::new()
        .with(jitter)
        .with(corruption)
        .with(loss())
        .with(Reordering { probability: Ratio::from_parts(1, 2), hold: ms(3) })
        .with(Pause { down: spells.unwrap() });
    assert_eq!(lost(&company), alone);
}

/// With one stream for both, a packet that survives the first would survive the second as well.
#[test]
fn two_models_of_one_stage_draw_independently() {
    let half = || Loss::bernoulli(Ratio::from_parts(1, 2));
    let twice = LinkSpec::new().then(half()).then(half());
    let survives = |it| !numbers(&run_with_seed(&twice, it, burst(1)), Point::Delivered).is_empty();
    let survivors = (0..2_000).filter(|seed| survives(*seed)).count();
    assert!((440..560).contains(&survivors), "{survivors} of 2,000, expected a quarter");
}

#[test]
fn the_default_order_is_that_of_the_stages() {
    let rate = Rate::new(Bitrate::from_mbps(12), DropTail::of_packets(10));
    let spec = LinkSpec::new()
        .with(Reordering { probability: Ratio::ZERO, hold: ms(1) })
        .with(Delay::fixed(ms(1)))
        .with(Loss::bernoulli(Ratio::ONE))
        .with(rate.clone())
        .with(Pause { down: Spells::new([]).unwrap() });
    let stages: Vec<_> = spec.models().iter().map(|model| model.stage()).collect();
    assert!(stages.is_sorted(), "{stages:?}");
    // A packet that the medium loses has been sent first: it is lost after 1 ms.
    assert_eq!(run_with_seed(&spec, 1, burst(1))[0].0, Time::from_millis(1));
    let explicit = LinkSpec::new().then(Loss::bernoulli(Ratio::ONE)).then(rate);
    assert_eq!(run_with_seed(&explicit, 1, [(Time::ZERO, packet(0, 1500))])[0].0, Time::ZERO);
}
