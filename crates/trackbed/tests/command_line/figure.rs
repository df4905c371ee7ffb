//! Figures for papers.

use super::*;

/// What the help offers is drawn, and the same again gives the same file.
#[test]
fn every_kind_is_drawn_in_every_format() {
    let scratch = scenario();
    let axes = "--set protocol=quic,tcp --set link.loss=0,1%,3%";
    scratch.succeed(&format!("run a.toml {axes} --runs 6 --out out"));
    for kind in ["box", "ecdf", "line", "bar", "timeline"] {
        for ending in ["pdf", "svg", "png"] {
            let file = format!("{kind}.{ending}");
            let words = format!("figure out --kind {kind} --width 88mm -o {file}");
            let caption = scratch.succeed(&words).stdout;
            assert!(caption.contains("6 cells, 6 runs each, virtual substrate"), "{caption}");
            let first = fs::read(scratch.path(&file)).unwrap();
            scratch.succeed(&words);
            assert!(first == fs::read(scratch.path(&file)).unwrap(), "{file}");
            let text = String::from_utf8_lossy(&first);
            // 88 mm are 249.45 points, and 2,079 pixels.
            let (starts, size) = match ending {
                "pdf" => ("%PDF-1.7", "/MediaBox [0 0 249.4"),
                "svg" => ("<svg ", "width=\"88.0mm\""),
                _ => ("\u{fffd}PNG", "IHDR\0\0\u{8}\u{1f}"),
            };
            assert!(text.starts_with(starts) && text.contains(size), "{file}");
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_remedy() {
    let scratch = scenario();
    scratch.succeed("run a.toml --out out");
    scratch.trackbed("run a.toml --set link.loss=1 --set workload.timeout=1s --out lost");
    scratch.refuse_all("figure");
}

/// Without downloads the warning is alone on each of three queues; with them, both meet in front of the link.
#[test]
fn a_plan_draws_each_network_once() {
    let scratch = scenario();
    let words = "plan loaded --part link --set group.download.count=0,4 --picture networks.svg";
    scratch.succeed(words);
    let drawn = fs::read_to_string(scratch.path("networks.svg")).unwrap();
    let number = |text: &str| drawn.matches(&format!(">{text}<")).count();
    let parts = ["server", "warning: 1 x messages", "download: 4 x flow", "access point"];
    assert_eq!(parts.map(number), [6, 6, 3, 3]);
    let refused = scratch.trackbed(&format!("{words} --set link.delay={}", "1ms,2ms,3ms,4ms,5ms"));
    assert!(refused.stderr.contains("the cells have 30 networks"), "{}", refused.stderr);
}
