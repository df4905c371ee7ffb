//! Every common mistake has one clear message.

use std::path::{Path, PathBuf};

use super::super::{Source, load};
use super::{expect_words, mistake, plan_with, scenario, scenario_with_link as link};

/// Expects one error in `text`, marked at the last occurrence of `marked`, with `message` above and
/// `help` below, which may be empty.
#[track_caller]
fn expect(text: &str, marked: &str, message: &str, help: &str) {
    let at = text.rfind(marked).expect("the mark is in the text");
    let line = text[..at].matches('\n').count();
    let shown = text.lines().nth(line).unwrap_or_default();
    let column = at - text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let (before, marks, line) = (" ".repeat(column), "^".repeat(marked.len()), line + 1);
    let column = column + 1;
    let help = if help.is_empty() { String::new() } else { format!("\n  = {help}") };
    let expected = format!(
        "error: {message}\n --> a.toml:{line}:{column}\n  |\n{line} | {shown}\n  | {before}{marks}{help}"
    );
    let error = mistake(text, &[]);
    assert_eq!(error, expected, "\n{error}\n");
}

#[test]
fn unknown_keys() {
    let keys = "[link] takes rate, delay, loss, outage, pause, flush, corruption, duplication, \
                reordering, background, queue, mtu, up, down";
    expect(
        &link("rate = \"50 Mbit/s\"\ndely = \"5 ms\""),
        "dely",
        "unknown key \"dely\"",
        &format!("did you mean \"delay\"? {keys}"),
    );
    expect(&link("bandwidth = 5"), "bandwidth", "unknown key \"bandwidth\"", keys);
    let help = format!("it belongs to no table: in a file, write it above all of them; {keys}");
    expect(&link("medium = \"cell\""), "medium", "unknown key \"medium\"", &help);
    let help = "did you mean \"link.loss\"? `trackbed list keys` shows the keys";
    expect_words(&scenario("loss = \"1 %\""), &[], &[help]);
}

#[test]
fn all_mistakes_are_reported_together_in_the_order_of_the_file() {
    let text = "runns = 3\nprotocol = \"htp2\"\n[link]\ndely = 1\nloss = 1.5\n[workload]\n\
                kind = \"messages\"\ncount = 0\n";
    let error = plan_with(text, &["link.rate=-1mbit"]).unwrap_err();
    let firsts: Vec<&str> = error.reports().iter().map(|r| r.lines().next().unwrap()).collect();
    assert_eq!(
        firsts,
        [
            "error: unknown key \"runns\"",
            "error: unknown value \"htp2\"; write \"coap\" or \"coap+dtls\" or \"http1\" or \"http2\" or \"http3\" or \"mpquic\" or \"mptcp\" or \"mqtt\" or \"quic\" or \
             \"sctp\" or \"sctp+dtls\" or \"tcp\" or \"tcp+tls\" or \"none\"",
            "error: unknown key \"dely\"",
            "error: \"1.5\" is more than 100 %; a share is between 0 and 1 (0 % and 100 %)",
            "error: 0 is too small; write at least 1",
            "error: \"-1mbit\" is negative; write a rate as \"50 Mbit/s\"",
        ]
    );
}

#[test]
fn quantities() {
    let models = "delay also takes a model: uniform, normal, pareto, timetable, trace";
    for (written, marked) in [("delay = 5", "5"), ("delay = \"5\"", "\"5\"")] {
        expect(&link(written), marked, "\"5\" has no unit; write a time as \"10 ms\"", models);
    }
    let models = "rate also takes a model: timetable, trace";
    let message = "\"MB\" is not a unit of a rate (bit/s, kbit/s, Mbit/s, Gbit/s, bit, kbit, \
                   Mbit, Gbit, bps, kbps, Mbps, Gbps); write a rate as \"50 Mbit/s\"";
    expect(&link("rate = \"50 MB\""), "\"50 MB\"", message, models);
    let message = "\"-5 Mbit/s\" is negative; write a rate as \"50 Mbit/s\"";
    expect(&link("rate = \"-5 Mbit/s\""), "\"-5 Mbit/s\"", message, models);
    let message = "rate: a rate of 0 sends nothing; write a positive rate, or an outage";
    expect(&link("rate = \"0 Mbit/s\""), "\"0 Mbit/s\"", message, "");
    let models = "loss also takes a model: gilbert-elliott, periodic, list, timetable";
    for (value, message) in [
        ("1.5", "\"1.5\" is more than 100 %; a share is between 0 and 1 (0 % and 100 %)"),
        ("-0.1", "\"-0.1\" is negative; write a share as \"0.3 %\""),
        ("true", "\"true\" does not begin with a number; write a share as \"0.3 %\""),
        ("nan", "\"nan\" does not begin with a number; write a share as \"0.3 %\""),
    ] {
        expect(&link(&format!("loss = {value}")), value, message, models);
    }
    expect(&link("mtu = 1500"), "1500", "\"1500\" has no unit; write a size as \"355 B\"", "");
    let help = "write a size from 1280 B to 65535 B";
    expect(&link("mtu = \"100 B\""), "\"100 B\"", "an MTU of 100 B is not supported", help);
    let text = scenario("") + "rate = \"10\"\n";
    let message = "\"10\" has no unit; write a frequency as \"10 /s\", \"10 Hz\" or \"1 /min\"";
    expect(&text, "\"10\"", message, "");
    let text = scenario("") + "count = \"ten\"\n";
    expect(&text, "\"ten\"", "\"ten\" is not a whole number of at least 1", "");
}

#[test]
fn numbers_beyond_reason() {
    let too_few = "0 is too small; write at least 1";
    expect(&(scenario("") + "count = 0\n"), "0", too_few, "");
    let error = mistake(&scenario("runs = 0"), &[]);
    assert!(error.starts_with(&format!("error: {too_few}\n --> a.toml:2:8\n")), "{error}");
    let help = "a plan has at most 10000000 runs in all; write fewer";
    let text = scenario("runs = 1000000000");
    expect(&text, "1000000000", "1000000000 runs of 1 cells", help);
    let huge = "99999999999999999999999";
    let message = format!("\"{huge}\" is not a whole number of at least 1");
    expect(&scenario(&format!("runs = {huge}")), huge, &message, "");
    expect(&scenario("seed = -1"), "-1", "\"-1\" is not a whole number of at least 0", "");
    let text = scenario("") + "phones = 1000000000\n";
    let message = "phones: 1000000000 is too many; write at most 10000";
    expect(&text, "1000000000", message, "");
    let text = link(
        "rate = { from = \"1 bit/s\", to = \"1000 bit/s\", step = \"1 bit/s\" }\n\
         loss = { from = 0, to = 1, step = 0.001 }",
    );
    assert_eq!(
        mistake(&text, &[]),
        "error: too many combinations: 1000 values of link.rate times 1001 values of link.loss\n \
         --> a.toml\n = sweep less at a time, at most 10000 cells"
    );
}

#[test]
fn sweeps() {
    let text = scenario("").replace("\"quic\"", "[]");
    let help = "write at least one value, for example [\"coap\"]";
    expect(&text, "[]", "the list of protocol is empty, so nothing would run", help);
    let text = link("delay = [\"4 ms\", \"5 ms\", \"5000 us\"]");
    let message = "duplicate value in the list";
    expect(&text, "\"5000 us\"", message, "remove one of the two");
    let text = link("delay = [\"5 ms\", [\"6 ms\"]]");
    let message = "delay takes a value, not a list inside a list";
    expect(&text, "[\"6 ms\"]", message, "write \"10 ms\"");
    let message = "this key takes a single value for the whole scenario, not a list";
    expect(&scenario("runs = [1, 2]"), "[1, 2]", message, "write runs = 10");
    for (range, message, help) in [
        (
            "{ from = \"1 ms\", to = \"9 ms\" }",
            "the range is incomplete",
            "write { from = \"10 ms\", to = ..., step = ... }, or points = 5 instead of the step",
        ),
        (
            "{ from = \"1 ms\", to = \"1 h\", step = \"1 ns\" }",
            "3599999000001 values; write a larger step: a sweep has at most 10000 values",
            "",
        ),
        (
            "{ from = \"9 ms\", to = \"1 ms\", points = 3 }",
            "from (9 ms) is larger than to (1 ms); swap the two",
            "",
        ),
    ] {
        expect(&link(&format!("delay = {range}")), range, message, help);
    }
}

#[test]
fn models() {
    let help = "did you mean \"uniform\"? the models are delay, uniform, normal, pareto, timetable, \
                trace";
    let text = link("delay = { unifrom = { least = \"5 ms\", most = \"1 ms\" } }");
    expect(&text, "unifrom", "unknown model \"unifrom\" for link.delay", help);
    let text = link("delay = { uniform = { least = \"5 ms\" } }");
    expect(&text, "uniform", "most is missing; write a time such as \"10 ms\"", "");
    let text = link("delay = { uniform = { least = \"5 ms\", most = \"1 ms\" } }");
    expect(&text, "uniform", "least exceeds most; swap the two", "");
    let help = "write { uniform = { least = \"10 ms\", most = \"14 ms\" } }";
    let text = link("delay = { uniform = 5 }");
    expect(&text, "5", "uniform needs a table of parameters", help);
    let help = "set the rate too, for example link.rate = \"50 Mbit/s\"";
    for (key, value) in [("queue", "100 packets"), ("background", "1 Mbit/s")] {
        let message = format!("{key} without a rate: nothing is ever queued");
        expect(&link(&format!("{key} = \"{value}\"")), key, &message, help);
    }
    let text = link("rate = \"1 Mbit/s\"\nqueue = \"many\"");
    let help = "queue takes \"100 packets\" or \"355 B\", or a model: codel, fq-codel";
    expect(&text, "\"many\"", "\"many\" is not a valid value", help);
    let text = link("delay = \"1 ms\"\nup = { delay = \"2 ms\" }\ndown.delay = \"3 ms\"");
    let error = mistake(&text, &[]);
    assert!(error.starts_with("error: link.delay has no effect: both directions"), "{error}");
    expect(&link("up = 5"), "5", "[link.up] is a table", "write its keys below a line [link.up]");
}

#[test]
fn lists_that_are_one_value() {
    let pairs = "write pairs of times such as [[\"0 s\", \"10 ms\"], [\"5 s\", \"50 ms\"]]";
    for (value, why) in [
        ("\"5 s\"", "\"5 s\" is not a pair of times"),
        ("[[\"1 s\", \"2\"]]", "\"2\" has no unit; write a time as \"10 ms\""),
        ("\"\"", "the list is empty"),
    ] {
        expect(&link(&format!("outage = {value}")), value, &format!("{why}; {pairs}"), "");
    }
    let text = link("loss = { list = [3, \"x\"] }");
    let message = "\"x\" is not a whole number; write whole numbers such as [3, 17]";
    expect(&text, "[3, \"x\"]", message, "");
    let message = "this list is not a valid value";
    expect(&link("loss = { list = [] }"), "[]", message, "write packets = [3, 17]");
    let text =
        link("delay = { pareto = { least = \"1 ms\", shape = { from = 1, to = 2, step = 1 } } }");
    let message = "only quantities can form a range; list the values";
    expect(&text, "{ from = 1, to = 2, step = 1 }", message, "");
}

#[test]
fn combinations_that_no_protocol_can_do() {
    let text = scenario("tls = \"1.2\"");
    let message = "tls 1.2 occurs in no cell: quic runs over TLS 1.3 only";
    expect(&text, "\"1.2\"", message, "remove \"1.2\", or add what it goes with");
    let text = scenario("handshake = \"early\"\ntls = \"1.2\"").replace("quic", "http2");
    let message = "handshake early occurs in no cell: early data needs TLS 1.3 (RFC 8446 \
                   section 2.3)";
    expect(&text, "\"early\"", message, "remove \"early\", or add what it goes with");
    let text = scenario("tls = [\"1.2\", \"1.3\"]");
    let message = "tls 1.2 occurs in no cell: quic runs over TLS 1.3 only";
    expect(&text, "\"1.2\"", message, "remove \"1.2\", or add what it goes with");
    let text = scenario("tls = \"1.3\"").replace("quic", "tcp");
    let message = "tls 1.3 occurs in no cell: no protocol of this scenario has a use for it";
    expect(&text, "\"1.3\"", message, "remove \"1.3\", or add what it goes with");
    let text = scenario("congestion = \"bbr3\"").replace("quic", "http2");
    let message = "congestion bbr3 occurs in no cell: http2 does not support congestion control bbr3; it supports cubic, reno, bbr";
    expect(&text, "\"bbr3\"", message, "remove \"bbr3\", or add what it goes with");
}

/// Only the second of two protocols cannot send it.
#[test]
fn coap_without_blocks_refuses_what_no_datagram_of_its_own_takes() {
    let text = |block_wise: bool| {
        format!(
            "protocol = [\"http2\", \"coap\"]\nblock-wise = {block_wise}\n[link]\ndelay = \"1 ms\"\n\
             [workload]\nkind = \"telemetry\"\nsize = \"9000 B\"\n"
        )
    };
    let message = "CoAP without block-wise transfer sends at most 8192 B per message";
    let help = "write a smaller size, or remove block-wise";
    expect(&text(false), "\"9000 B\"", message, help);
    plan_with(&text(true), &[]).unwrap();
}

#[test]
fn what_is_missing() {
    assert_eq!(
        mistake("runs = 3", &[]),
        "error: the scenario does not say its protocol\n --> a.toml\n = write protocol = \
         \"coap\" or \"coap+dtls\" or \"http1\" or \"http2\" or \"http3\" or \"mpquic\" or \"mptcp\" or \"mqtt\" or \"quic\" or \"sctp\" or \"sctp+dtls\" or \"tcp\" \
         or \"tcp+tls\" or \"none\", or a list of these\n\n\
         error: the scenario does not say its link\n --> a.toml\n = write [link], and below it \
         rate = \"50 Mbit/s\" and delay = \"5 ms\"\n\n\
         error: the scenario does not say its workload\n --> a.toml\n = write [workload] and \
         below it kind = \"bulk\" or \"flow\" or \"idle\" or \"messages\" or \"page\" or \"streaming\" \
         or \"telemetry\" or \"verification\""
    );
    let kinds = "write kind = \"bulk\" or \"flow\" or \"idle\" or \"messages\" or \"page\" or \
                 \"streaming\" or \"telemetry\" or \"verification\"";
    let text = scenario("").replace("kind = \"messages\"", "count = 10");
    expect(&text, "workload", "[workload] has no kind", kinds);
    let text = scenario("").replace("messages", "mesages");
    let help = format!("did you mean \"messages\"? {kinds}");
    expect(&text, "\"mesages\"", "unknown workload \"mesages\"", &help);
    let text = scenario("").replace("\"messages\"", "[\"messages\", \"bulk\"]");
    let message = "a scenario has only one kind of workload, as each has its own metrics";
    expect(&text, "[\"messages\", \"bulk\"]", message, kinds);
}

#[test]
fn form() {
    let message = "string values must be quoted, expected literal string";
    let help = "quote words, and values that have a unit: \"50 Mbit/s\"";
    expect(&link("rate = 50 Mbit/s"), "50 Mbit/s", message, help);
    let help = "remove one of the two; to compare several values, write a list";
    expect(&scenario("tls = 1.3\ntls = 1.2"), "tls", "duplicate key", help);
    let text = scenario("send-buffer = \"1 MB\"\nsend_buffer = \"2 MB\"");
    let message = "\"send_buffer\" is set twice";
    expect(&text, "send_buffer", message, "remove one of the two");
    let text = scenario("name = \"../../etc\"");
    let help = "write at most 64 letters and digits, separated by - or _";
    let message = "results cannot be stored under this name";
    expect(&text, "\"../../etc\"", message, help);
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let named = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let error = |path: &Path| load(&Source::File(path.to_owned()), &[]).unwrap_err().to_string();
    let (here, help) = (
        folder.display(),
        "write the path of a file, or the name of a built-in scenario: vru, crowd, lte, loaded, fairness, web, streaming, migration, train, hsr, edge, v2x, quantum, costs, bulk",
    );
    assert_eq!(
        error(&folder.join("none.toml")),
        format!(
            "error: cannot read {here}/none.toml: No such file or directory (os error 2)\n = {help}"
        )
    );
    assert_eq!(error(folder), format!("error: {here} is a folder\n = {help}"));
    let advice = "write a scenario, for example by copying a built-in one";
    for nothing in ["", "# only words\n"] {
        let empty = named("empty.toml", nothing.as_bytes());
        assert_eq!(error(&empty), format!("error: {here}/empty.toml is empty\n = {advice}"));
    }
    let latin = named("latin.toml", b"runs = 3\nname = \"B\xfccher\"\n");
    assert_eq!(
        error(&latin),
        format!(
            "error: {here}/latin.toml is not valid UTF-8, see line 2\n = save the file as UTF-8"
        )
    );
    let large = named("large.toml", &vec![b'\n'; 1_000_001]);
    assert_eq!(
        error(&large),
        format!("error: cannot read {here}/large.toml: it is larger than 1 MB\n = {help}")
    );
    let payload = scenario("") + "payload = \"none.json\"\n";
    let report = error(&named("payload.toml", payload.as_bytes()));
    let first =
        format!("error: cannot read {here}/none.json: No such file or directory (os error 2)");
    assert!(report.starts_with(&first), "{report}");
    assert!(report.ends_with(" = write the path of a file, relative to the scenario's folder"));
    let own = scenario("certificate = \"payload.toml\"");
    let report = error(&named("own.toml", own.as_bytes()));
    let why = "payload.toml: it has no certificate: put the server's first, in PEM";
    assert!(report.contains(why) && report.contains("own.toml:"), "{report}");
}

#[test]
fn names_of_scenarios() {
    let error = load(&Source::named("vrus"), &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "error: unknown scenario \"vrus\"\n = did you mean \"vru\"? write the path of a file, or the name of a built-in scenario: vru, crowd, lte, loaded, fairness, web, streaming, migration, train, hsr, edge, v2x, quantum, costs, bulk"
    );
    assert_eq!(Source::named("vru"), Source::BuiltIn("vru".to_owned()));
    assert_eq!(Source::named("./vru"), Source::File("./vru".into()));
    assert_eq!(Source::named("my.toml"), Source::File("my.toml".into()));
}

#[test]
fn a_file_of_nothing_but_mistakes_is_refused_in_time() {
    let text: String = (0..100_000).map(|i| format!("a{i}=1\n")).collect();
    let error = plan_with(&text, &[]).unwrap_err();
    assert_eq!(error.reports().len(), 20);
    assert!(error.to_string().ends_with("... and more"));
}
