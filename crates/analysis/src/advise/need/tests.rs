use trackbed_stats::Statistic;

use super::*;

fn names() -> Names {
    const METRICS: &str = "rtt_ms cpu_percent fps lost_count throughput_mbps memory_bytes \
                           deadline_miss_ratio completion_ms client_cpu_ms server_cpu_ms";
    Names::new(METRICS.split(' '), ["plt_ms"])
}

fn parse(text: &str) -> Need {
    Need::parse(text, &names()).unwrap_or_else(|error| panic!("{error}"))
}

fn one(text: &str) -> Comparison {
    match parse(text) {
        Need::Compare(comparison) => comparison,
        other => panic!("{other:?}"),
    }
}

fn comparison(statistic: Statistic, metric: &str, relation: Relation, bound: Bound) -> Comparison {
    Comparison { statistic, metric: metric.to_owned(), relation, bound }
}

#[test]
fn comparisons_are_read_as_people_write_them() {
    let p99 = Statistic::Quantile(0.99);
    let below_50 = comparison(p99, "rtt_ms", Relation::Below, Bound::Value(50.0));
    let all = "p99 rtt < 50 ms|p99 rtt_ms<50ms|P99 RTT < 50_000 us| p99  rtt < 0.05 s |p99 rtt < 50000 µs";
    for text in all.split('|') {
        assert_eq!(one(text), below_50, "{text}");
    }
    let mean = Statistic::Mean;
    let expected = comparison(mean, "fps", Relation::AtLeast, Bound::Baseline(0.97));
    for text in ["fps >= 0.97 baseline", "mean fps ≥ 97 % of baseline", "fps >= 0.97 x baseline"]
    {
        let found = one(text);
        let Bound::Baseline(factor) = found.bound else { panic!("{text}") };
        assert!((factor - 0.97).abs() < 1e-12);
        assert_eq!((found.metric, found.relation), (expected.metric.clone(), expected.relation));
    }
    let value = |text: &str| match one(text).bound {
        Bound::Value(value) => value,
        Bound::Baseline(_) => panic!("{text}"),
    };
    for (text, expected) in [
        ("cpu < 150 %", 150.0),
        ("cpu < 150", 150.0),
        ("lost = 0", 0.0),
        ("rtt = 0", 0.0),
        ("deadline miss ratio <= 0.5 %", 0.005),
        ("deadline-miss <= 0.005", 0.005),
        ("throughput > 500 kbit/s", 0.5),
        ("throughput > 1 Gbps", 1_000.0),
        ("memory < 1 MiB", 1_048_576.0),
        ("fps >= 25 /s", 25.0),
        ("mean completion < 2 min", 120_000.0),
        ("rtt < 1.5s", 1_500.0),
    ] {
        assert!((value(text) - expected).abs() <= 1e-12 * expected.max(1.0), "{text}");
    }
    assert_eq!(one("median rtt < baseline").statistic, Statistic::Quantile(0.5));
    let Statistic::Quantile(p) = one("p99.9 rtt < 1 s").statistic else { panic!() };
    assert!((p - 0.999).abs() < 1e-12);
    assert_eq!(one("max rtt < 1 s").statistic, Statistic::Max);
    assert_eq!(one("cpu < 1").metric, "cpu_percent", "the name without its unit comes first");
}

#[test]
fn and_binds_closer_than_or_and_parentheses_closest() {
    let leaf = |text: &str| parse(text);
    let (a, b, c) = ("rtt < 1 ms", "fps > 2", "lost = 0");
    assert_eq!(
        parse(&format!("{a} or {b} and {c}")),
        Need::Any(vec![leaf(a), Need::All(vec![leaf(b), leaf(c)])])
    );
    assert_eq!(
        parse(&format!("({a} or {b}) AND {c}")),
        Need::All(vec![Need::Any(vec![leaf(a), leaf(b)]), leaf(c)])
    );
    assert_eq!(parse(&format!("(({a}))")), leaf(a));
    assert_eq!(parse(&format!("{a} or {b} or {c}")).comparisons().len(), 3);
}

/// The mark is below the invalid words, and the message says what to write.
#[test]
fn errors_point_at_the_place() {
    let cases: Vec<&str> = include_str!("errors.txt").lines().collect();
    for case in cases.chunks(3) {
        let [text, mark, message] = case else { panic!("{case:?}") };
        let shown = Need::parse(text, &names()).unwrap_err().to_string();
        let lines: Vec<&str> = shown.splitn(3, '\n').collect();
        assert_eq!(lines[1], *mark, "{shown}");
        assert!(lines[2].contains(message), "{shown}");
    }
}

#[test]
fn no_text_breaks_the_parser() {
    for text in ["(".repeat(900), "(".repeat(100_000), "x".repeat(1_000), "rtt ".repeat(200)] {
        assert!(Need::parse(&text, &names()).is_err());
    }
    let pieces: Vec<&str> = "rtt p99 < >= 5 ms and or ( ) baseline % of é .".split(' ').collect();
    // Every sequence of four pieces, with and without spaces.
    let count = pieces.len();
    for index in 0..count.pow(4) {
        let chosen: Vec<&str> = (0..4).map(|k| pieces[index / count.pow(k) % count]).collect();
        for text in [chosen.join(" "), chosen.concat()] {
            if let Err(error) = Need::parse(&text, &names()) {
                assert_eq!(error.to_string().lines().count(), 3, "{error}");
            }
        }
    }
}
