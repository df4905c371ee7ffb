//! Sentences of small results, word for word.

use serde_json::{Value, json};

use trackbed_measure::results::{CellResult, Difference, Verdict};

use super::*;

fn summary(metric: &str, center: f64, [low, high]: [f64; 2]) -> Value {
    let mut value = json!({ "mean": center, "ci95": [low, high], "p50": center, "p95": high, "p99": high,
                            "min": low, "max": high, "n": 40, "samples": 40 });
    if metric.ends_with("_ms") {
        value["p50_ci95"] = json!([low, high]);
    }
    value
}

fn cell(factors: Value, metric: &str, center: f64, ci95: [f64; 2]) -> CellResult {
    let cell = json!({ "factors": factors, "metrics": { metric: summary(metric, center, ci95) },
                       "failed": 0, "failures": [] });
    serde_json::from_value(cell).unwrap()
}

fn time(factors: Value, center: f64) -> CellResult {
    cell(factors, "completion_ms", center, [center - 1.0, center + 1.0])
}

fn protocol(protocol: &str, center: f64) -> CellResult {
    time(json!({ "protocol": protocol }), center)
}

/// The difference of the medians of `cell` and `against`, with the verdict of its interval.
fn difference(cell: u32, against: u32, value: f64, reach: f64) -> Difference {
    let verdict = match () {
        () if value.abs() <= reach => "undecided",
        () if value > 0.0 => "higher",
        () => "lower",
    };
    let median = json!({ "value": value, "ci95": [value - reach, value + reach], "percent": value,
                         "verdict": verdict });
    let difference = json!({ "metric": "completion_ms", "cell": cell, "against": against, "mean": value,
                             "ci95": [0.0, 0.0], "percent": value, "n": 40, "verdict": "undecided",
                             "median": median });
    serde_json::from_value(difference).unwrap()
}

/// A difference of means, with the verdict of its interval.
fn of_means(metric: &str, cell: u32, against: u32, mean: f64, ci95: [f64; 2]) -> Difference {
    let verdict = match ci95 {
        [0.0, 0.0] => Verdict::Equal,
        [low, _] if low > 0.0 => Verdict::Higher,
        [_, high] if high < 0.0 => Verdict::Lower,
        _ => Verdict::Undecided,
    };
    let metric = metric.to_owned();
    Difference { metric, mean, ci95, verdict, median: None, ..difference(cell, against, mean, 0.0) }
}

fn answers(cells: &[CellResult], differences: &[Difference]) -> Vec<Answer> {
    let (cells, differences) = (cells.to_vec(), differences.to_vec());
    of(&Document { cells, differences, ..Document::default() })
}

fn texts(cells: &[CellResult], differences: &[Difference]) -> Vec<String> {
    answers(cells, differences).into_iter().map(|answer| answer.text).collect()
}

#[test]
fn what_handshakes_cost_and_what_saves_it_comes_last() {
    let of = |chain: &str, window: u32, handshake, bytes| {
        let factors = json!({ "protocol": "quic", "chain": chain, "initial_window": window });
        let mut cell = time(factors, 100.0);
        for (metric, value) in
            [("handshake_ms", handshake), ("wire_bytes", bytes), ("rtt_ms", 50.0)]
        {
            let summary = serde_json::from_value(summary(metric, value, [value, value]));
            cell.metrics.insert(metric.to_owned(), summary.unwrap());
        }
        cell
    };
    let small = [of("p256", 10, 50.0, 9e3), of("p256", 32, 50.0, 9e3)];
    let large = [of("ml-dsa-65", 10, 101.0, 25e3), of("ml-dsa-65", 32, 52.0, 25e3)];
    let texts = texts(&[small, large].concat(), &[]);
    let expected = "Handshakes: ml-dsa-65 adds 16.0 kB and at most 1 round trip (0 with initial window 32) over QUIC.";
    assert_eq!(texts.last().map(String::as_str), Some(expected));
}

/// A load is not chosen.
#[test]
fn where_a_load_alone_differs_the_answer_says_where_it_is_best() {
    let cells = [10, 50].map(|phones| time(json!({ "phones": phones }), phones.into()));
    let text = texts(&cells, &[difference(1, 0, 40.0, 1.0)]).remove(0);
    assert!(text.starts_with("Fastest at phones 10: median "), "{text}");
}

#[test]
fn the_best_comes_first_then_what_may_be_as_good_then_the_rest() {
    let of = |protocol: &str, tls: &str, handshake: &str, center| {
        time(json!({ "protocol": protocol, "tls": tls, "handshake": handshake }), center)
    };
    let cells = [
        of("quic", "1.3", "early", 100.0),
        of("http3", "1.3", "early", 100.5),
        of("quic", "1.3", "new", 110.0),
        of("http2", "1.2", "new", 130.0),
        of("http2", "1.3", "new", 120.0),
    ];
    let differences = [(1, 0.5), (2, 10.0), (3, 30.0), (4, 20.0)];
    let differences = differences.map(|(cell, value)| difference(cell, 0, value, 1.0));
    let expected = "Fastest: QUIC, 0-RTT: median completion time 100.0 ms (95 % CI 99.0 to 101.0), \
                    p95 101.0 ms. No significant difference: HTTP/3. Then QUIC, new connection: 10.0 ms \
                    (10 %) more (95 % CI 9.0 to 11.0); slowest HTTP/2, TLS 1.2: 30.0 ms (30 %) more (95 % \
                    CI 29.0 to 31.0).";
    assert_eq!(texts(&cells, &differences), [expected]);
}

/// Certain, and of no consequence.
#[test]
fn less_than_a_percent_is_not_behind() {
    let cells = [protocol("quic", 100.0), protocol("http3", 100.2), protocol("http2", 120.0)];
    let found = texts(&cells, &[difference(1, 0, 0.2, 0.0), difference(2, 0, 20.0, 0.0)]);
    let expected = "Less than 1 % behind: HTTP/3. Then HTTP/2: 20.0 ms (20 %) more.";
    assert!(found[0].ends_with(expected), "{found:?}");
}

#[test]
fn a_second_cell_is_named_as_its_difference_allows() {
    let of = |center: f64, tail: f64| {
        cell(json!({ "protocol": "http2" }), "completion_ms", center, [center - 1.0, tail])
    };
    let mut few = difference(1, 0, 10.0, 1.0);
    few.n = 2;
    let median = few.median.as_mut().unwrap();
    (median.ci95, median.verdict) = (None, Verdict::Undecided);
    for (other, differs, expected) in [
        // Who is level in the middle may not be in the tail.
        (
            of(100.0, 460.0),
            difference(1, 0, 0.0, 1.0),
            "No significant difference: HTTP/2. Tails: p95 101.0 ms (QUIC) to 460.0 ms (HTTP/2).",
        ),
        (
            of(200.0, 201.0),
            difference(1, 0, 50.0, 60.0),
            "Undecided after 40 runs: HTTP/2: median 200.0 ms.",
        ),
        // A median of differences of 20 does not add up with medians of 100 and 200.
        (of(200.0, 201.0), difference(1, 0, 20.0, 1.0), "Then HTTP/2: median 200.0 ms."),
        // The medians of two cells may stand the other way round than that of their pairs.
        (
            of(110.0, 111.0),
            difference(1, 0, -5.0, 1.0),
            "But paired by run, HTTP/2: 5.00 ms (5.0 %) less",
        ),
        (
            CellResult { failed: 3, ..of(90.0, 91.0) },
            difference(1, 0, -10.0, 1.0),
            "In the runs that succeeded, HTTP/2: 10.0 ms (10 %) less (95 % CI 9.0 to 11.0); but 3 runs failed. 3 of 83 \
             runs failed and are left out.",
        ),
        (of(110.0, 111.0), few, "Undecided: 2 runs cannot decide 1 comparison; 6 can (--runs 6)."),
    ] {
        let found = texts(&[protocol("quic", 100.0), other], &[differs]).remove(0);
        assert!(found.starts_with("Fastest") && found.contains(expected), "{found}");
    }
}

#[test]
fn each_condition_has_its_sentence_with_its_unit() {
    let of = |protocol: &str, loss: f64, center| {
        time(json!({ "protocol": protocol, "loss": loss, "delay_ms": 10 }), center)
    };
    let cells = [
        of("quic", 0.0, 10.0),
        of("quic", 0.01, 40.0),
        of("http2", 0.0, 20.0),
        of("http2", 0.01, 30.0),
    ];
    let found = texts(&cells, &[difference(2, 0, 10.0, 2.0), difference(1, 3, 10.0, 2.0)]);
    assert!(found[0].starts_with("Fastest at loss 0 %: QUIC: median"), "{found:?}");
    assert!(found[1].starts_with("Fastest at loss 1 %: HTTP/2: median"), "{found:?}");
    assert!(
        found[1].ends_with("Then QUIC: 10.0 ms (10 %) more (95 % CI 8.0 to 12.0)."),
        "{found:?}"
    );
}

#[test]
fn parts_have_answers_of_their_own() {
    let of = |part: &str, protocol: &str, center| {
        time(json!({ "part": part, "protocol": protocol }), center)
    };
    let cells =
        [of("a", "tcp", 1.0), of("a", "quic", 2.0), of("b", "tcp", 4.0), of("b", "quic", 3.0)];
    let answers = answers(&cells, &[difference(1, 0, 1.0, 0.1), difference(2, 3, 1.0, 0.1)]);
    let found: Vec<(Option<&str>, &str)> =
        answers.iter().map(|one| (one.part.as_deref(), &one.text[..14])).collect();
    assert_eq!(found, [(Some("a"), "Fastest: TCP: "), (Some("b"), "Fastest: QUIC:")]);
}

#[test]
fn rates_are_better_when_higher() {
    let of = |scheduler: &str, center| {
        let ends = [center - 1.0, center + 1.0];
        cell(json!({ "scheduler": scheduler }), "goodput_mbps", center, ends)
    };
    let less = of_means("goodput_mbps", 1, 0, -5.0, [-6.0, -4.0]);
    let found = texts(&[of("ecf", 35.0), of("minrtt", 30.0)], &[less]);
    let expected = "Highest goodput: ecf: mean 35.00 Mbit/s (95 % CI 34.00 to 36.00). Then minrtt: 5.00 \
                    Mbit/s (5.0 %) less (95 % CI 4.00 to 6.00).";
    assert_eq!(found, [expected]);
}

/// From 30 without to 40 with a perfect forecast; 37 is 70 % of the way.
#[test]
fn a_bound_is_no_answer() {
    let of = |foresight: &str, center: f64| {
        cell(json!({ "foresight": foresight }), "goodput_mbps", center, [center, center])
    };
    let mut bound = of("oracle", 40.0);
    bound.is_bound = true;
    let cells = [of("pha", 37.0), of("none", 30.0), bound];
    let differ = |cell, value| of_means("goodput_mbps", cell, 0, value, [value - 1.0, value + 1.0]);
    let differences = [differ(1, -7.0), differ(2, 3.0)];
    let [found] = &texts(&cells, &differences)[..] else { panic!("one sentence") };
    assert!(found.starts_with("Highest goodput: pha: "), "{found}");
    let bound = "oracle is a bound that nothing real reaches: 40.00 Mbit/s; the best goes 70 % of the way \
                 from no foresight.";
    assert!(found.ends_with(bound), "{found}");
    let mut bound = of("oracle", 36.0);
    bound.is_bound = true;
    let cells = [of("pha", 37.0), of("none", 30.0), bound];
    let [found] = &texts(&cells, &[differ(1, -7.0), differ(2, -1.0)])[..] else {
        panic!("one sentence")
    };
    assert!(
        found.ends_with("oracle, which knows the future, is no better: 36.00 Mbit/s."),
        "{found}"
    );
}

/// A cell that is ranked by `metrics`, each with its value in all runs.
fn ranked(name: &str, ranking: &[&str], metrics: &[(&str, f64)]) -> CellResult {
    let mut cell = time(json!({ "protocol": name }), 59_940.0);
    cell.ranking = ranking.iter().map(ToString::to_string).collect();
    for (name, value) in metrics {
        let summary = serde_json::from_value(summary(name, *value, [*value; 2])).unwrap();
        cell.metrics.insert((*name).to_owned(), summary);
    }
    cell
}

fn exact(metric: &str, cell: u32, against: u32, value: f64) -> Difference {
    let metric = metric.to_owned();
    Difference { metric, percent: None, ..difference(cell, against, value, 0.0) }
}

/// Messages at a given rate complete when the schedule ends, whatever the protocol.
#[test]
fn a_schedule_ranks_no_cell() {
    let of = |protocol, missed, rtt| {
        let metrics = [("deadline_miss_ratio", missed), ("rtt_ms", rtt)];
        ranked(protocol, &["deadline_miss_ratio", "rtt_ms"], &metrics)
    };
    let more = of_means("deadline_miss_ratio", 0, 1, 0.063, [0.04, 0.09]);
    let found = texts(&[of("quic", 0.098, 40.0), of("http2", 0.035, 60.0)], &[more]);
    assert!(found[0].starts_with("Fewest missed deadlines: HTTP/2: 3.500 %"), "{found:?}");
    let rtt = exact("rtt_ms", 1, 0, 20.0);
    let found = texts(&[of("quic", 0.0, 40.0), of("http2", 0.005, 60.0)], &[rtt]);
    assert!(found[0].starts_with("Fastest: QUIC: median round-trip time 40.00 ms"), "{found:?}");
}

/// A gap of 997 ms without foresight and of 141 ms with it, at the same goodput within the noise.
#[test]
fn the_best_by_another_metric_is_named() {
    let of = |name, goodput, gap| {
        let metrics = [("goodput_mbps", goodput), ("gap_ms", gap)];
        ranked(name, &["goodput_mbps", "gap_ms"], &metrics)
    };
    let level = of_means("goodput_mbps", 1, 0, -1.0, [-3.0, 1.0]);
    let differences = [level, exact("gap_ms", 1, 0, -856.0)];
    let found = texts(&[of("none", 31.0, 997.0), of("pha-d", 30.0, 141.0)], &differences);
    let expected = "Highest goodput: no traffic: mean 31.00 Mbit/s in all 40 runs. No significant difference: \
                    PHA-D. Shortest gap: PHA-D: median 141.0 ms; no traffic: median 997.0 ms.";
    assert_eq!(found, [expected]);
}

/// Only Chromium has a completion time.
#[test]
fn only_what_all_cells_have_ranks_them() {
    let foreign = ranked("chromium", &["plt_ms"], &[("plt_ms", 900.0)]);
    let mut own = ranked("trackbed", &["plt_ms"], &[("plt_ms", 800.0)]);
    own.metrics.remove("completion_ms");
    let found = answers(&[foreign.clone(), own.clone()], &[exact("plt_ms", 0, 1, 100.0)]);
    assert_eq!(found[0].metric, "plt_ms");
    let old = [foreign, own].map(|cell| CellResult { ranking: Vec::new(), ..cell });
    assert_eq!(answers(&old, &[exact("plt_ms", 0, 1, 100.0)])[0].metric, "plt_ms");
}

/// Of 100 ms, a percent and a millisecond are the same; of 20 ms the millisecond counts.
#[test]
fn what_differs_by_less_than_matters_is_equal() {
    let found = |value: f64| {
        let of = |name, value| ranked(name, &["rtt_ms"], &[("rtt_ms", value)]);
        texts(&[of("quic", 20.0), of("tcp", 20.0 + value)], &[exact("rtt_ms", 1, 0, value)])
    };
    let expected = "All equal: QUIC; TCP: median round-trip time 20.00 to 20.90 ms; differences below 1 % or 1 ms \
                    do not count.";
    assert_eq!(found(0.9), [expected]);
    assert!(found(1.1)[0].starts_with("Fastest: QUIC"), "{:?}", found(1.1));
}

/// No deadline is missed and medians are alike, but not the 99th percentiles.
#[test]
fn cells_with_other_tails_are_not_equal() {
    let of = |name, tail| {
        let metrics = [("deadline_miss_ratio", 0.0), ("rtt_ms", 80.0)];
        let mut cell = ranked(name, &["deadline_miss_ratio", "rtt_ms"], &metrics);
        cell.metrics.get_mut("rtt_ms").unwrap().p95 = tail;
        cell
    };
    let differences = [exact("deadline_miss_ratio", 1, 0, 0.0), exact("rtt_ms", 1, 0, 0.1)];
    let found = texts(&[of("quic", 261.0), of("http2", 380.0)], &differences);
    assert!(found[0].contains("Tails: p95 261.0 ms (QUIC) to 380.0 ms (HTTP/2)."), "{found:?}");
    assert!(!found[0].contains("All equal"), "{found:?}");
    let found = texts(&[of("quic", 261.0), of("http2", 262.0)], &differences);
    assert!(found[0].starts_with("All equal: QUIC; HTTP/2: missed deadlines"), "{found:?}");
}

/// As `crowd` over QUIC: 66 % of the bytes are probes, and messages wait.
#[test]
fn what_was_not_chosen_is_named_with_its_share() {
    let of = |name, filler, wait| {
        let metrics = [
            ("rtt_ms", 26.0),
            ("filler_percent", filler),
            ("lost_count", 1.0),
            ("sent_count", 100.0),
        ];
        let mut cell = ranked(name, &["completion_ms"], &metrics);
        cell.metrics.get_mut("rtt_ms").unwrap().min -= wait;
        cell
    };
    let mut cells = [of("quic", 66.0, 15.0), of("http2", 4.0, 15.0)];
    let failure =
        json!([{ "run": 0, "count": 10, "reason": "no answer within 60 s (workload.timeout)" }]);
    (cells[1].failed, cells[1].failures) = (10, serde_json::from_value(failure).unwrap());
    // 10 failed beside 40 runs.
    let expected = "Beside the question: path-MTU probes and padding are 66 % of what was sent (packet-size): QUIC; runs \
                    ended by the time limit are 20 % of the runs (workload.timeout): HTTP/2.";
    let found = texts(&cells, &[difference(1, 0, 9.0, 1.0)]);
    assert!(found[0].ends_with(expected), "{found:?}");
    let found =
        texts(&[of("quic", 66.0, 1.0), of("http2", 4.0, 1.0)], &[difference(1, 0, 9.0, 1.0)]);
    assert!(!found[0].contains("Beside"), "an idle link: {found:?}");
}

/// All miss their deadline, and messages without an answer have no round-trip time.
#[test]
fn a_cell_without_answers_is_no_rival() {
    let of = |name, lost: f64| {
        let counts = [("lost_count", lost), ("answered_count", 10.0 - lost)];
        let times = [("deadline_miss_ratio", 1.0), ("rtt_ms", 30.0)];
        let times = &times[..if lost < 10.0 { 2 } else { 1 }];
        ranked(name, &["deadline_miss_ratio", "rtt_ms"], &[times, &counts].concat())
    };
    let level = of_means("deadline_miss_ratio", 0, 1, 0.0, [0.0; 2]);
    let found = texts(&[of("tcp", 10.0), of("quic", 2.0)], std::slice::from_ref(&level));
    let expected = "Fewest missed deadlines: QUIC: 100.0 % in all 40 runs. Its median round-trip time 30.00 ms, p95 \
                    30.00 ms. Ruled out (more than half of the runs failed, or of the messages were refused or \
                    had no answer): TCP.";
    assert!(found[0].starts_with(expected), "{found:?}");
    let found = texts(&[of("tcp", 10.0), of("quic", 6.0)], &[level]);
    assert!(found[0].starts_with("No cell is ahead"), "{found:?}");
}

#[test]
fn refused_messages_win_nothing() {
    let of = |name, refused| {
        let metrics = [("refused_count", refused), ("answered_count", 10.0 - refused)];
        ranked(name, &["completion_ms"], &metrics)
    };
    let found = texts(&[of("quic", 10.0), of("http2", 10.0)], &[difference(1, 0, 9.0, 1.0)]);
    assert!(found[0].starts_with("No cell is ahead: in each, more than half"), "{found:?}");
}

/// A low median beside late answers is not the best.
#[test]
fn missed_deadlines_rank_messages_on_a_schedule() {
    let of = |protocol, missed, rtt| {
        ranked(protocol, &[], &[("deadline_miss_ratio", missed), ("rtt_ms", rtt)])
    };
    let missed = |cell, mean, ci95| of_means("deadline_miss_ratio", cell, 0, mean, ci95);
    let cells = [of("quic", 0.0, 22.5), of("http2", 0.0, 20.0), of("coap", 0.386, 19.0)];
    let differences = [missed(1, 0.0, [0.0; 2]), missed(2, 0.386, [0.14, 0.67])];
    let expected = "Fewest missed deadlines: QUIC: 0 % in all 40 runs. No significant difference: HTTP/2. \
                    Fastest of these: HTTP/2: median round-trip time 20.00 ms, p95 20.00 ms. Then CoAP: \
                    38.6 percentage points more (95 % CI 14.0 to 67.0).";
    assert_eq!(texts(&cells, &differences), [expected]);
    assert_eq!(answers(&cells, &differences)[0].metric, "deadline_miss_ratio");
}

#[test]
fn cells_of_which_all_runs_failed_are_named() {
    let failures = json!([{ "run": 0, "count": 6, "reason": "at 60 s, no progress" }]);
    let lost = |name: &str| CellResult {
        failed: 6,
        failures: serde_json::from_value(failures.clone()).unwrap(),
        metrics: BTreeMap::new(),
        ..protocol(name, 1.0)
    };
    let end = "of them so: at 60 s, no progress.";
    let found = texts(&[protocol("tcp", 1.0), lost("quic"), lost("http3")], &[]);
    assert_eq!(found, [format!("All 12 runs of QUIC; HTTP/3 failed, 12 {end}")]);
    assert_eq!(texts(&[lost("quic")], &[]), [format!("No run succeeded: all 6 failed, 6 {end}")]);
}

/// Factors that are no names in themselves.
#[test]
fn words_and_numbers_are_told_with_their_factor() {
    let of = |sack: &str, ip: &str, center| time(json!({ "sack": sack, "ip": ip }), center);
    let cells = [of("false", "4", 100.0), of("true", "6", 120.0)];
    let found = texts(&cells, &[difference(1, 0, 20.0, 1.0)]);
    assert!(found[0].starts_with("Fastest: no sack, ip 4: median"), "{found:?}");
    assert!(found[0].contains("Then sack, ip 6: 20.0 ms"), "{found:?}");
}

#[test]
fn nothing_compared_has_no_answer() {
    assert!(answers(&[], &[]).is_empty());
    assert!(answers(&[time(json!({ "protocol": "tcp" }), 1.0)], &[]).is_empty());
}

/// With its other services a unit may not keep up; one cell alone has an answer, too.
#[test]
fn a_unit_keeps_up_or_does_not() {
    let unit = |share: f64, certificates: &str, late: f64, [median, tail]: [f64; 2]| {
        let factors = json!({ "budget": share, "certificates": certificates });
        let mut cell = cell(factors, "verdict_ms", median, [median, tail]);
        let other = |name: &str, value: f64| {
            self::cell(json!({}), name, value, [value, value]).metrics.remove(name).unwrap()
        };
        cell.metrics.insert(keeping_up::METRIC.to_owned(), other(keeping_up::METRIC, late));
        let used = "verification_cpu_percent";
        cell.metrics.insert(used.to_owned(), other(used, 42.17));
        cell.unit = serde_json::from_value(json!({ "vehicles": 320, "cores": 4 })).unwrap();
        cell
    };
    let cells = [
        unit(1.0, "cached", 0.0, [0.5, 0.61]),
        unit(0.7, "cached", 0.0, [0.6, 1.1]),
        unit(0.7, "always", 0.312, [9.0, 40.0]),
    ];
    let one = CellResult { is_extrapolated: true, ..cells[0].clone() };
    assert_eq!(
        texts(&[one], &[]),
        ["Enough for 320 vehicles: 42 % of 4 cores, p95 0.6100 ms (extrapolated)."]
    );
    let expected = "Enough for 320 vehicles: 0 % used elsewhere, cached certificates: 42 % of 4 cores, p95 0.6100 ms; \
                    30 % used elsewhere, cached certificates: 42 % of 4 cores, p95 1.100 ms. Not enough for 320 vehicles: 30 % used elsewhere, each \
                    certificate verified again: 42 % of 4 cores, 31 % late.";
    assert_eq!(texts(&cells, &[]), [expected]);
}

fn with_factors(factors: Value, metrics: &[(&str, f64)]) -> CellResult {
    let cell = ranked("quic", &[metrics[0].0], metrics);
    CellResult { factors: serde_json::from_value(factors).unwrap(), ..cell }
}

#[test]
fn what_foresight_buys_and_costs_is_said() {
    let of = |foresight: &str, gap, goodput| {
        let factors = json!({ "foresight": foresight, "scheduler": "ecf" });
        with_factors(factors, &[("goodput_mbps", goodput), ("gap_ms", gap)])
    };
    // Equal runs are the one ride that was recorded.
    for (before, spread, said, rides) in [
        (987.0, 1.0, "shortens the longest gap of a ride from 0.99 to 0.14 s", "40 rides"),
        (141.3, 0.0, "leaves the longest gap of a ride at 0.14 s", "1 ride"),
    ] {
        let mut cells = [of("none", before, 25.0), of("pha-d", 141.4, 24.9)];
        cells[1].metrics.get_mut("gap_ms").unwrap().max += spread;
        let texts = texts(&cells, &[of_means("goodput_mbps", 0, 1, 0.1, [0.05, 0.2])]);
        let expected =
            format!("Foresight on this line: pha-d {said} and costs 0.4 % of goodput in {rides}.");
        assert_eq!(texts.last(), Some(&expected));
    }
}

/// Ten warnings beside downloads; the share is that of the warnings' group.
#[test]
fn what_other_groups_cost_is_said_for_each_condition() {
    let of = |protocol: &str, queue: &str, count: u32, rtt, missed, share| {
        let factors = json!({ "group": "warning", "protocol": protocol, "queue": queue, "download_count": count });
        let metrics = [
            ("deadline_miss_ratio", missed),
            ("rtt_ms", rtt),
            ("traffic_share_percent", share),
            ("queue_delay_ms", rtt - 20.0),
        ];
        with_factors(factors, &metrics)
    };
    let cells = [
        of("http2", "codel", 0, 20.3, 0.0, 100.0),
        of("http2", "codel", 4, 28.6, 0.0, 10.0),
        of("quic", "codel", 0, 20.2, 0.0, 100.0),
        of("quic", "codel", 4, 29.1, 0.0, 20.0),
        of("quic", "fair", 0, 20.2, 0.0, 100.0),
        of("quic", "fair", 4, 20.3, 0.0, 15.0),
    ];
    let less = of_means("deadline_miss_ratio", 1, 3, 0.01, [0.005, 0.02]);
    let answers = answers(&cells, &[less]);
    assert!(answers.iter().all(|answer| answer.part.as_deref() == Some("warning")));
    let texts: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
    let expected = [
        "With download count 4 instead of 0 at codel: median round-trip time HTTP/2 28.60 ms instead of 20.30, QUIC \
         29.10 ms instead of 20.20.",
        "With download count 4 instead of 0 at fair: median round-trip time changes by less than 1 %.",
        "Its share of all bytes is 10.0 % (HTTP/2, codel, download count 4) to 20.0 % (QUIC, codel, download count 4).",
        "Packets wait 0.200 ms (QUIC, codel, download count 0) to 9.10 ms (QUIC, codel, download count 4) for the shared \
         link (median).",
    ];
    assert_eq!(texts[texts.len() - 4..], expected);
}
