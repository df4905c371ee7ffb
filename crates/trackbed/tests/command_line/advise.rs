//! `trackbed advise`: verdicts from a run directory.

use serde_json::Value;

use super::Scratch;

/// Runs of two protocols whose completion arithmetic gives: over TCP with TLS 1.3 two messages take 4
/// round trips of 10 ms, over QUIC 3.
fn measured(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let text = "protocol = [\"http2\", \"quic\"]\nruns = 6\n[link]\nrate = \"50 Mbit/s\"\n\
                delay = \"5 ms\"\n[workload]\nkind = \"messages\"\ncount = 2\n";
    scratch.write("two.toml", text);
    scratch.succeed("run two.toml --out results");
    scratch
}

#[test]
fn the_cell_that_meets_a_need_is_named_with_its_reason() {
    let scratch = measured("advise");
    let mut command = scratch.command("advise results --need");
    let ended = command.arg("completion < 35 ms").output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{text}");
    assert!(text.contains("1 of 2 cells meet it; the best is quic"), "{text}");
    assert!(text.contains("quic meets it: mean completion 31."), "{text}");
    assert!(text.contains("http2 fails it: mean completion 40."), "{text}");

    let mut command = scratch.command("advise results --json --need");
    let ended = command.arg("completion < 20 ms").output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let advice: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(advice["cells"][0]["verdict"], "fails");
    assert_eq!(advice["cells"][0]["name"], "quic");
    assert_eq!(advice["needs"][0], "mean completion < 20 ms");
    assert!(advice["cells"][0]["findings"][0]["measured"]["value"].as_f64().unwrap() > 30.0);

    let mut command = scratch.command("advise results --baseline protocol=http2 --need");
    let ended = command.arg("completion < 0.8 baseline").output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[test]
fn what_cannot_be_understood_is_pointed_at() {
    let scratch = measured("advise-bad");
    for (need, parts) in [
        (
            "p99 rtt < 50 km",
            &["\np99 rtt < 50 km\n             ^^\n", "is not a unit of a time"][..],
        ),
        ("plt < 50 ms", &["plt_ms was not measured in these runs; there are"]),
        ("complexion < 1 s", &["did you mean completion_ms?"]),
    ] {
        let ended = scratch.command("advise results --need").arg(need).output().unwrap();
        let text = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{need}: {text}");
        assert!(ended.stdout.is_empty());
        parts.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in {text}"));
    }
    let missing = scratch.trackbed("advise nowhere --need lost=0");
    assert_eq!(missing.status, 2);
    assert!(missing.stderr.contains("this is no run directory"), "{}", missing.stderr);
    assert_eq!(scratch.trackbed("advise results").status, 2);
    let baseline = scratch.trackbed("advise results --need rtt<1s --baseline nothing");
    assert!(baseline.stderr.contains("protocol=none"), "{}", baseline.stderr);
}
