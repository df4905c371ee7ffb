//! Figures for papers.

use super::scenario;

/// What the help offers is drawn, and the same again gives the same file.
#[test]
fn every_kind_is_drawn_in_both_formats() {
    let scratch = scenario();
    let axes = "--set protocol=quic,tcp --set link.loss=0,1%,3%";
    scratch.succeed(&format!("run a.toml {axes} --runs 6 --out out"));
    for kind in ["box", "ecdf", "line", "bar", "timeline"] {
        for ending in ["pdf", "svg"] {
            let file = format!("{kind}.{ending}");
            let words = format!("figure out --kind {kind} --width 88mm -o {file}");
            let caption = scratch.succeed(&words).stdout;
            assert!(caption.contains("6 cells, 6 runs each, virtual substrate"), "{caption}");
            let first = std::fs::read(scratch.path(&file)).unwrap();
            scratch.succeed(&words);
            assert!(first == std::fs::read(scratch.path(&file)).unwrap(), "{file}");
            let text = String::from_utf8_lossy(&first);
            // 88 mm are 249.45 points.
            let starts = if ending == "pdf" { "%PDF-1.7" } else { "<svg " };
            let size = if ending == "pdf" { "/MediaBox [0 0 249.4" } else { "width=\"88.0mm\"" };
            assert!(text.starts_with(starts) && text.contains(size), "{file}");
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_remedy() {
    let scratch = scenario();
    scratch.succeed("run a.toml --out out");
    scratch.trackbed("run a.toml --set link.loss=1 --set workload.timeout=1s --out lost");
    for (words, why) in [
        ("missing -o x.pdf", "this is not a run directory"),
        ("lost -o x.pdf", "there is nothing to draw: no run has a result"),
        (
            "out --metric plt_ms -o x.pdf",
            "\"plt_ms\"; give one of these with --metric: age_of_information_ms,",
        ),
        ("out --kind line -o x.pdf", "use --kind bar, box or ecdf"),
        ("out --kind pie -o x.pdf", "box, ecdf, line, bar, timeline"),
        ("out --kind timeline --metric plt_ms -o x.pdf", "with --metric: throughput_mbps, rtt_ms"),
        ("out --width 88 -o x.pdf", "for example 88mm"),
        (
            "out --width 20mm --font-size 20pt -o x.pdf",
            "give more --width or a smaller --font-size",
        ),
        ("out --font a.toml -o x.pdf", "no TrueType or OpenType font"),
        ("out --font Nowhere -o x.pdf", "give the path of a .ttf or .otf file"),
        ("out -o x.png", "pdftoppm"),
        ("out -o x", "give the file the ending .pdf or .svg"),
        ("out -o out/run.json", "give the file the ending"),
    ] {
        scratch.refuse(&format!("figure {words}"), &[why]);
    }
}
