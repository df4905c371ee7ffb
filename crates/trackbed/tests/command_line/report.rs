//! The report about a run directory in a browser: everything is drawn, without errors, and nothing is fetched.
//! Needs Chromium; without it, these tests are skipped, or fail with `CI=true`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Scratch;
use super::support::skip;

/// Runs before all other scripts, and records errors.
const WITNESS: &str = "<script>window.wrong = [];\
    addEventListener('error', (event) => wrong.push(String(event.message)), true);\
    addEventListener('securitypolicyviolation', (event) => wrong.push('asks for ' + event.blockedURI));\
    addEventListener('unhandledrejection', (event) => wrong.push(String(event.reason)));\
    const report = console.error; console.error = (...words) => { wrong.push(words.join(' ')); report(...words); };\
    </script>";

/// Runs last: uses the controls of the page, and writes its observations into the page.
const EXAMINER: &str = "<script>\
    const root = document.documentElement;\
    document.querySelectorAll('details').forEach((details) => { details.open = true; });\
    document.querySelectorAll('select').forEach((select) => {\
      for (const option of select.options) { select.value = option.value; select.dispatchEvent(new Event('change')); }\
    });\
    const figures = [...document.querySelectorAll('.figure')];\
    const named = (one) => one.getAttribute('aria-label') || one.closest('label')?.textContent;\
    const seen = {\
      wrong: wrong.concat(root.dataset.errors ?? []), figures: figures.length, told: Number(root.dataset.figures),\
      empty: figures.filter((figure) => !figure.querySelector('.stage > svg :is(path, circle, rect)')).map((figure) => figure.id),\
      unlabelled: [...document.querySelectorAll('.stage, select, [role=region]')].filter((one) => !named(one)).length,\
      unreachable: [...document.querySelectorAll('button, select, a[href], summary, [role=region], .stage')].filter((one) => one.tabIndex < 0).length,\
      resources: performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith('data:')),\
      titles: figures.map((figure) => figure.querySelector('h3').textContent),\
      wide: root.scrollWidth > innerWidth, drawn: root.dataset.drawn };\
    const place = document.createElement('pre'); place.id = 'seen';\
    place.textContent = JSON.stringify(seen); document.body.append(place);\
    </script></body>";

/// The observations of a browser at this width in pixels; `None` without a browser.
fn examine(scratch: &Scratch, page: &Path, width: u32) -> Option<Value> {
    let text = fs::read_to_string(page).unwrap();
    let watched = text.replacen("<head>", &format!("<head>{WITNESS}"), 1);
    // The page allows only its own script; ours are allowed by name, too.
    let ours = [WITNESS, EXAMINER].map(|text| {
        let script =
            text.trim_start_matches("<script>").split("</script>").next().unwrap_or_default();
        format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)))
    });
    let watched = watched.replacen("script-src", &format!("script-src{}", ours.concat()), 1);
    let (before, _) = watched.rsplit_once("</body>").unwrap();
    let watched = format!("{before}{EXAMINER}</html>");
    let copy = scratch.path("watched.html");
    fs::write(&copy, watched).unwrap();
    let mut command = Command::new("chromium");
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]);
    command.arg(format!("--user-data-dir={}", scratch.path("profile").display()));
    command.arg(format!("--window-size={width},1000")).arg("--dump-dom");
    let output = command.arg(format!("file://{}", copy.display())).stderr(Stdio::null()).output();
    let Ok(output) = output else {
        skip("no chromium; install the Debian package chromium");
        return None;
    };
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, seen) = dom.rsplit_once("<pre id=\"seen\">").expect("the last script came to its end");
    let seen = seen.split_once("</pre>").unwrap().0.replace("&amp;", "&").replace("&lt;", "<");
    Some(serde_json::from_str(&seen.replace("&gt;", ">")).unwrap())
}

fn is_good(seen: &Value, figures: u64) {
    for name in ["wrong", "empty", "resources"] {
        assert_eq!(seen[name], Value::Array(Vec::new()), "{name}: {seen}");
    }
    assert_eq!((&seen["unlabelled"], &seen["unreachable"]), (&0.into(), &0.into()), "{seen}");
    assert_eq!(seen["wide"], false, "the page itself never scrolls sideways: {seen}");
    assert_eq!(seen["figures"], seen["told"], "{seen}");
    assert!(seen["figures"].as_u64().unwrap() >= figures, "{seen}");
}

#[test]
fn every_figure_is_drawn_at_every_width_and_nothing_is_fetched() {
    let scratch = Scratch::new();
    let words = "run vru --runs 8 --set link.loss=0,1%,3% --set handshake=new --out out --report";
    scratch.trackbed(words).says(0, &["report: out/report.html"]);
    let page = scratch.path("out/report.html");
    assert!(fs::metadata(&page).unwrap().len() < 3_000_000);
    for width in [500, 1024, 1600] {
        let Some(seen) = examine(&scratch, &page, width) else { return };
        is_good(&seen, 7);
        let titles = seen["titles"].to_string();
        for part in ["over time", "transport state", "Results by loss"] {
            assert!(titles.contains(part), "{part}: {titles}");
        }
        println!("{width} pixels: drawn after {} ms", seen["drawn"]);
    }
}

#[test]
fn parts_models_and_failures_have_their_places() {
    let scratch = Scratch::new();
    let short = "--set workload.duration=600ms --set workload.warm-up=100ms";
    scratch.succeed(&format!("run v2x --quick --runs 6 {short} --out v2x --report"));
    let lost = "run vru --runs 4 --set link.loss=1 --set protocol=quic --set workload.timeout=2s --out lost";
    scratch.trackbed(lost).says(1, &[]);
    scratch.succeed("report lost --out lost.html");
    let [v2x, lost] = ["v2x/report.html", "lost.html"].map(|name| scratch.path(name));
    let text = scratch.read("v2x/report.html");
    assert!(text.contains("MODEL, no measurement: ") && text.contains(">crossing</a>"));
    let text = scratch.read("lost.html");
    assert!(text.contains("Failed runs") && text.contains("trackbed replay lost 0 0"));
    if let Some(seen) = examine(&scratch, &v2x, 1024) {
        is_good(&seen, 15);
        is_good(&examine(&scratch, &lost, 1024).unwrap(), 0);
    }
}

#[test]
fn what_cannot_be_reported_on_is_refused() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("empty")).unwrap();
    scratch.succeed("run vru --runs 1 --set protocol=tcp --out out");
    for (words, why) in [
        ("report missing", "this is not a run directory"),
        ("report empty", "this is not a run directory"),
        ("report out --out /nowhere/page.html", "cannot write /nowhere/page.html"),
        ("report out --out out/run.json", "out/run.json is part of a run directory"),
        ("export out --out out/runs.jsonl", "out/runs.jsonl is part of a run directory"),
        ("report", "<DIRECTORY>"),
    ] {
        scratch.refuse(words, &[why]);
    }
    fs::write(scratch.path("out/runs.jsonl"), "nonsense\n{}\n").unwrap();
    scratch.refuse("report out", &["runs.jsonl is damaged (line 1: "]);
}
