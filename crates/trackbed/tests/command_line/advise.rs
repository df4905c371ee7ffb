//! `trackbed advise`: verdicts from a run directory.

use super::*;

/// Runs of two protocols with known completion times: two messages take 4 round trips of 10 ms over TCP with TLS
/// 1.3, and 3 over QUIC.
fn measured() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("two.toml", include_str!("../data/scenarios/two-protocols.toml"));
    scratch.succeed("run two.toml --out results");
    scratch
}

#[test]
fn the_cell_that_meets_a_need_is_named_with_its_reason() {
    let scratch = measured();
    let Ended { stdout: text, status, .. } =
        scratch.trackbed("advise results --need 'completion < 35 ms'");
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("Best: quic. 1 of 2 cells meet the need."), "{text}");
    assert!(text.contains("quic meets it: mean completion 31."), "{text}");
    assert!(text.contains("http2 fails it: mean completion 40."), "{text}");

    let ended = scratch.trackbed("advise results --json --need 'completion < 20 ms'");
    assert_eq!(ended.status, 1);
    let advice = ended.json();
    assert_eq!(advice["cells"][0]["verdict"], "fails");
    assert_eq!(advice["cells"][0]["name"], "quic");
    assert_eq!(advice["needs"][0], "mean completion < 20 ms");
    assert!(advice["cells"][0]["findings"][0]["measured"]["value"].as_f64().unwrap() > 30.0);

    let need = "--need 'completion < 0.8 baseline'";
    scratch.succeed(&format!("advise results --baseline protocol=http2 {need}"));
}

/// Downloads have no round trips of messages: a need for these is about the warnings beside them alone.
#[test]
fn a_need_is_about_the_groups_that_have_its_metric() {
    let scratch = Scratch::new();
    scratch.succeed("run loaded --quick --part link --runs 1 --set link.queue=codel --out results");
    let about = |need: &str| {
        let advice = scratch.trackbed(&format!("advise results --json --need '{need}'")).json();
        let cells = advice["cells"].as_array().unwrap().clone();
        cells.iter().map(|cell| cell["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (messages, flows) = (about("rtt < 90 ms"), about("goodput > 1 Mbit/s"));
    assert_eq!((messages.len(), flows.len()), (4, 2), "{messages:?} {flows:?}");
    assert!(messages.iter().all(|name| name.contains("warning")) && flows[0].contains("download"));
}

#[test]
fn what_cannot_be_understood_is_pointed_at() {
    measured().refuse_all("advise");
}
