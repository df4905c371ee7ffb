//! Every common mistake has one clear message.

use std::path::{Path, PathBuf};

use super::super::{Source, load};
use super::{expect_words, mistake, plan_with, rows, scenario, scenario_with_link as link};

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

/// What is written in the link's table, before all tables (with another protocol than QUIC), or in the workload's;
/// what is marked; the message; and the help.
#[test]
fn each_mistake_is_marked_and_has_a_message_and_a_remedy() {
    for row in rows(include_str!("mistakes.txt")) {
        let [written, marked, message, help @ ..] = &row[..] else { panic!("{row:?}") };
        let (place, written) = written.split_once(": ").unwrap();
        let text = match place {
            "link" => link(written),
            "workload" => scenario("") + written + "\n",
            "top" => scenario(written),
            protocol => scenario(written).replace("\"quic\"", &format!("{protocol:?}")),
        };
        expect(&text, marked, message, &help.concat());
    }
    expect_words(&scenario("loss = \"1 %\""), &[], &["did you mean \"link.loss\"? "]);
    expect_words(&scenario(""), &["workload.answer=10B"], &["kind = \"telemetry\" has it; "]);
    let echo = scenario("mqtt-answer = \"echo\"").replace("\"quic\"", "\"mqtt\"");
    expect_words(&echo, &["workload.listeners=1"], &["returns only what a client publishes"]);
    let text = link("delay = \"1 ms\"\nup = { delay = \"2 ms\" }\ndown.delay = \"3 ms\"");
    let error = mistake(&text, &[]);
    assert!(error.starts_with("error: link.delay has no effect: both directions"), "{error}");
    let text = scenario("").replace("\"quic\"", "[]");
    let help = "write at least one value, for example [\"coap\"]";
    expect(&text, "[]", "the list of protocol is empty, so nothing would run", help);
}

#[test]
fn numbers_beyond_reason() {
    let error = mistake(&scenario("runs = 0"), &[]);
    let too_few = "error: 0 is too small; write at least 1\n --> a.toml:2:8\n";
    assert!(error.starts_with(too_few), "{error}");
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
    expect(&text(false), "\"9000 B\"", message, "write a smaller size, or remove block-wise");
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
