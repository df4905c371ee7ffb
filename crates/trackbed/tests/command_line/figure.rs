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
        (
            "out --width 990mm --font-size 150pt --kind ecdf -o x.png",
            "pixels are too many for a PNG",
        ),
        ("out -o x", "give the file the ending .pdf, .svg or .png"),
        ("out -o out/run.json", "give the file the ending"),
    ] {
        scratch.refuse(&format!("figure {words}"), &[why]);
    }
}
