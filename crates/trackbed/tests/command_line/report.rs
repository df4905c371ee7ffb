//! The report about a run directory in a browser: everything is drawn, without errors, and nothing is fetched.
//! Needs Chromium; without it, these tests are skipped, or fail with `CI=true`.

#[path = "../../../report/tests/report/browser.rs"]
mod browser;

use browser::examined;

use super::*;

#[test]
fn every_figure_is_drawn_at_every_width_and_nothing_is_fetched() {
    let scratch = Scratch::new();
    let words = "run vru --runs 8 --set link.loss=0,1%,3% --set handshake=new --out out --report";
    scratch.trackbed(words).says(0, &["report: out/report.html"]);
    let page = scratch.read("out/report.html");
    assert!(page.len() < 3_000_000);
    for width in [400, 1024, 1600] {
        let Some(titles) = examined(&page, width, 7) else { return };
        has(&titles.join("; "), &["over time", "transport state", "Results by loss"]);
    }
}

#[test]
fn parts_models_and_failures_have_their_places() {
    let scratch = Scratch::new();
    let short = "--set workload.duration=600ms --set workload.warm-up=100ms";
    let parts = "--part crossing --part rush --part flood --part threads --part splits";
    scratch.succeed(&format!("run v2x --quick --runs 6 {parts} {short} --out v2x --report"));
    let lost = "run vru --runs 4 --set link.loss=1 --set protocol=quic --set workload.timeout=2s --out lost";
    scratch.trackbed(lost).says(1, &[]);
    scratch.succeed("report lost --out lost.html");
    let [v2x, lost] = ["v2x/report.html", "lost.html"].map(|name| scratch.read(name));
    assert!(v2x.contains("MODEL, no measurement: ") && v2x.contains(">crossing</a>"));
    assert!(lost.contains("Failed runs") && lost.contains("trackbed replay lost 0 0"));
    examined(&v2x, 1024, 15);
    examined(&lost, 1024, 0);
}

#[test]
fn what_cannot_be_reported_on_is_refused() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("empty")).unwrap();
    scratch.succeed("run vru --runs 1 --set protocol=tcp --out out");
    scratch.refuse_all("report");
    fs::write(scratch.path("out/runs.jsonl"), "nonsense\n{}\n").unwrap();
    scratch.refuse("report out", &["runs.jsonl is damaged (line 1: "]);
}
