//! curl and Chromium as clients: what they fetch, and what they report.

use super::support::{command_line, descendants, is_alive, kill};
use crate::support::{Ended, eventually, start};
use crate::{Scratch, factor, least, one_of_two_failed};

/// A page of eight objects, on a link whose round trip takes 40 ms.
fn page(ends: &str) -> String {
    format!(
        "{ends}\nruns = 1\n[link]\nrate = \"50 Mbit/s\"\ndelay = \"20 ms\"\n[workload]\n\
         kind = \"page\"\n"
    )
}

/// The minimum time to the first byte: TCP's handshake and that of TLS 1.3, or QUIC's, and
/// the request. The browser may send its first packet before what it then calls the beginning, on a busy
/// machine by some milliseconds: less than the round trip that is left out here.
fn ttfb_min(protocol: &str) -> f64 {
    if protocol == "http3" { 40.0 } else { 80.0 }
}

#[test]
#[ignore = "thorough: third-party programs"]
fn chromium_loads_our_page_with_all_its_objects_over_each_version_of_http() {
    let text = page("protocol = [\"http1\", \"http2\", \"http3\"]\nclient = \"chromium\"");
    let Some(scratch) = Scratch::with(&["chromium"], &text) else { return };
    let cells = scratch.cells("");
    assert_eq!(cells.len(), 3);
    for cell in &cells {
        let ttfb = least(cell, "ttfb_ms");
        assert!(ttfb >= ttfb_min(factor(cell, "protocol")), "{cell}");
        // The style sheet is found in the document, and an image in the style sheet.
        assert!(least(cell, "plt_ms") >= ttfb + 80.0, "{cell}");
        assert!(least(cell, "first_paint_ms") >= ttfb + 40.0, "{cell}");
        assert_eq!(least(cell, "objects_count"), 8.0, "{cell}");
        assert_eq!(least(cell, "completion_ms"), least(cell, "plt_ms"), "{cell}");
        // 472 kB at 50 Mbit/s take 75.5 ms.
        assert!(least(cell, "wire_bytes") > 472_000.0, "{cell}");
        assert!(least(cell, "plt_ms") >= 75.5, "{cell}");
    }
    assert!(scratch.left_over().is_empty(), "{:?}", scratch.left_over());
}

#[test]
#[ignore = "thorough: third-party programs"]
fn chromium_loads_the_page_from_the_servers_of_others() {
    let text = page("protocol = \"http2\"\nserver = [\"nginx\", \"caddy\"]\nclient = \"chromium\"");
    let programs = ["chromium", "nginx", "caddy"];
    let Some(scratch) = Scratch::with(&programs, &text) else { return };
    let http2 = scratch.cells("");
    let http3 = scratch.cells("--set protocol=http3 --set server=caddy");
    let http1 = scratch.cells("--set protocol=http1");
    for cell in [http2, http3, http1].concat() {
        assert!(least(&cell, "ttfb_ms") >= ttfb_min(factor(&cell, "protocol")), "{cell}");
        assert_eq!(least(&cell, "objects_count"), 8.0, "{cell}");
    }
}

/// Eight round trips one after the other, on one connection.
#[test]
#[ignore = "thorough: third-party programs"]
fn curl_fetches_the_objects_of_a_page_one_after_the_other() {
    let text = page(
        "protocol = [\"http1\", \"http2\"]\nserver = [\"trackbed\", \"nginx\"]\nclient = \"curl\"",
    );
    let Some(scratch) = Scratch::with(&["curl", "nginx"], &text) else { return };
    for cell in scratch.cells("") {
        assert!(least(&cell, "completion_ms") >= 120.0 + 7.0 * 40.0, "{cell}");
        assert!(least(&cell, "ttfb_ms") >= 120.0, "{cell}");
        assert_eq!(least(&cell, "objects_count"), 8.0, "{cell}");
        assert!(cell["metrics"]["plt_ms"].is_null(), "it loads no page: {cell}");
    }
}

/// A megabyte at 50 Mbit/s takes 160 ms.
#[test]
#[ignore = "thorough: third-party programs"]
fn curl_downloads_and_says_what_it_cannot() {
    let text = page("protocol = [\"http1\", \"http2\"]\nclient = \"curl\"");
    let Some(scratch) = Scratch::with(&["curl"], &text) else { return };
    for cell in scratch.cells("--set workload.kind=bulk --set workload.size=1MB") {
        assert!(least(&cell, "completion_ms") >= 120.0 + 160.0, "{cell}");
    }
    for (setting, message) in [
        ("workload.kind=messages", "curl fetches files"),
        ("workload.phones=2", "curl is a single client: write phones = 1"),
        ("protocol=quic", "curl supports http1, http2, http3, not quic"),
    ] {
        scratch.run(&format!("--set {setting}")).refused(&[message]);
    }
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_browser_that_is_missing_or_has_no_page_is_told_before_anything_runs() {
    let text = page("protocol = \"http2\"\nclient = \"chromium\"");
    let Some(scratch) = Scratch::with(&[], &text) else { return };
    let mut nowhere = scratch.emulated("");
    Ended::of(nowhere.env("PATH", "/nowhere")).refused(&["apt install chromium"]);
    let bulk = scratch.run("--set workload.kind=bulk");
    bulk.refused(&["chromium loads web pages: write kind = \"page\""]);
    scratch.refuse("run a.toml", &["--substrate emulated"]);
}

/// With a round trip of a minute, nothing arrives within two seconds.
#[test]
#[ignore = "thorough: third-party programs"]
fn a_browser_that_does_not_end_is_ended_and_leaves_nothing() {
    let text = page("protocol = \"http2\"\nclient = \"chromium\"\nclient-timeout = \"2 s\"");
    let Some(scratch) = Scratch::with(&["chromium"], &text) else { return };
    scratch.run("--set link.delay=30s").says(1, &["chromium has not ended within 2 s"]);
    assert!(scratch.left_over().is_empty(), "{:?}", scratch.left_over());
}

/// Two runs; in the first, as soon as the browser shows a page, the process whose command line matches
/// `is_victim` is killed. The other run succeeds.
fn interrupt(is_victim: impl Fn(&str) -> bool) -> Option<String> {
    let text = page("protocol = \"http2\"\nclient = \"chromium\"");
    let scratch = Scratch::with(&["chromium"], &text)?;
    let child = start(scratch.emulated("--runs 2 --set link.delay=300ms"));
    let root = child.id();
    let lines = || descendants(root).into_iter().map(|(pid, _)| (pid, command_line(pid)));
    let inside: Vec<(u32, String)> = eventually("the browser shows something", || {
        let all: Vec<_> = lines().collect();
        all.iter().any(|(_, line)| line.contains("--type=renderer")).then_some(all)
    });
    let victim = inside.iter().find(|(_, line)| is_victim(line));
    kill(victim.unwrap_or_else(|| panic!("no victim in {inside:#?}")).0);
    let ended = Ended::from(child.wait_with_output().unwrap());
    one_of_two_failed(&ended, "plt_ms");
    assert!(inside.iter().all(|(pid, _)| !is_alive(*pid)), "{inside:?}");
    assert!(scratch.left_over().is_empty(), "{:?}", scratch.left_over());
    Some(ended.stderr)
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_browser_that_crashes_fails_its_run_and_no_other() {
    // The browser itself, neither its parent nor its children.
    let is_browser = |line: &str| {
        line.contains("--user-data-dir")
            && !line.contains("--type=")
            && !line.contains("@enclosure")
    };
    let Some(said) = interrupt(is_browser) else { return };
    assert!(said.contains("chromium ended (exit status: 137)"), "{said}");
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_server_of_ours_that_dies_fails_the_run_of_a_browser_and_no_other() {
    let Some(said) = interrupt(|line| line.contains("@endpoint")) else { return };
    assert!(said.contains("the server"), "{said}");
}
