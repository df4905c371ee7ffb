//! Settings that make no sense are refused: the error names the parameter, and says what to do.

use crate::support::{Settings, prepare};

const LINES: &str = "tests/data/lines.jsonl";
const MISSING: &str = "tests/data/missing.json";

/// A workload, its settings, the parameter that is wrong, and a part of the advice.
const REFUSED: &[(&str, &Settings, &str, &str)] = &[
    ("bulk", &[("size", "0 B")], "size", "write"),
    ("bulk", &[("phones", "20000")], "phones", "write"),
    ("bulk", &[("timeout", "0 ms")], "timeout", "write"),
    ("bulk", &[("reconnections", "101")], "reconnections", "write"),
    ("bulk", &[("moves", "101")], "moves", "write"),
    ("bulk", &[("reconnections", "10"), ("size", "10 B")], "reconnections", "write"),
    ("bulk", &[("moves", "3"), ("size", "3 B")], "moves", "write"),
    ("messages", &[("size", "355 B"), ("payload", LINES)], "size", "remove `size`"),
    ("messages", &[("size", "63 B")], "size", "64 to 10000000"),
    ("messages", &[("size", "11 MB")], "size", "bulk"),
    ("messages", &[("payload", MISSING)], "payload", "missing.json cannot be read"),
    ("messages", &[("payload", "tests/data/empty.json")], "payload", "empty.json is empty"),
    ("messages", &[("payload", "tests/data/mark.json")], "payload", "mark.json begins with"),
    ("messages", &[("payload", "tests/data/utf16.jsonl")], "payload", "utf16.jsonl begins"),
    ("messages", &[("payload", "tests/data/two.json")], "payload", "two.json:2:1: "),
    ("messages", &[("payload", "tests/data/nan.json")], "payload", "nan.json:2:1: "),
    ("messages", &[("payload", "tests/data/cut.jsonl")], "payload", "cut.jsonl:3:"),
    ("messages", &[("phones", "10001")], "phones", "at most 10000"),
    ("messages", &[("count", "5000000000")], "count", "at most 4294967295"),
    ("messages", &[("timeout", "0 s")], "timeout", "1 s"),
    ("messages", &[("deadline", "0 s")], "deadline", "1 s"),
    ("messages", &[("listeners", "1001")], "listeners", "write"),
    ("messages", &[("signed", "true"), ("size", "400 B")], "size", "signed = false"),
    ("messages", &[("signed", "true"), ("payload", LINES)], "payload", "signed = false"),
    ("messages", &[("signed", "true"), ("signing", "2 s")], "signing", "up to"),
    ("messages", &[("signed", "true"), ("workers", "65")], "workers", "at most 64"),
    ("messages", &[("signing", "1 ms")], "signing", "signed = true"),
    ("messages", &[("board", "udoo-quad")], "board", "signed = true"),
    ("messages", &[("workers", "2")], "workers", "signed = true"),
    ("page", &[("timeout", "0 ms")], "timeout", "write"),
    ("page", &[("phones", "2000")], "phones", "write"),
    ("page", &[("connections", "300")], "connections", "write"),
    ("page", &[("manifest", "none.toml")], "manifest", "write"),
    ("page", &[("har", "tests/data/page.toml")], "har", "page.toml: is not an HTTP archive"),
    (
        "page",
        &[("har", "tests/data/page.har"), ("manifest", "tests/data/page.toml")],
        "har",
        "remove",
    ),
    ("streaming", &[("duration", "0 ms")], "duration", "write"),
    ("streaming", &[("timeout", "0 ms")], "timeout", "write"),
    ("streaming", &[("buffer", "900 ms")], "buffer", "write"),
    ("streaming", &[("buffer", "2 s"), ("startup", "3 s")], "startup", "write"),
    ("streaming", &[("length", "0 ms")], "length", "write"),
    ("streaming", &[("length", "25 h")], "length", "write"),
    ("streaming", &[("piece_size", "2 GB")], "piece_size", "write"),
    ("streaming", &[("phones", "20000")], "phones", "write"),
    ("streaming", &[("media", "/nowhere")], "media", "cannot read /nowhere"),
    ("telemetry", &[("warm-up", "60 s")], "warm-up", "shorter"),
    ("telemetry", &[("deadline", "11 s")], "deadline", "write"),
    ("telemetry", &[("duration", "25 h")], "duration", "write"),
    ("telemetry", &[("duration", "0 s")], "duration", "write"),
    ("telemetry", &[("rate", "1000000 /s"), ("duration", "1 h")], "rate", "change"),
    ("telemetry", &[("size", "0 B")], "size", "write"),
    ("telemetry", &[("size", "11 MB")], "size", "write"),
    ("telemetry", &[("jitter", "1 ms")], "jitter", "remove"),
    ("telemetry", &[("jitter", "2 s"), ("intervals", "jittered")], "jitter", "write"),
    ("telemetry", &[("in-flight", "70000")], "in-flight", "write"),
    ("telemetry", &[("phones", "10001")], "phones", "write"),
];

#[test]
fn what_makes_no_sense_is_refused_with_advice() {
    for (workload, settings, parameter, advice) in REFUSED {
        let Err(why) = prepare(workload, settings) else {
            panic!("{workload} {settings:?} was taken")
        };
        assert_eq!(why.parameter, *parameter, "{workload} {settings:?}: {why}");
        assert!(why.advice.contains(advice), "{workload} {settings:?}: {why}");
    }
}
