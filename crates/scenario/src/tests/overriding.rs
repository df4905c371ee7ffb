//! Settings from the command line.

use super::{
    Source, expect_words, factors, plan, plan_with, planned_with, rows, scenario,
    scenario_with_link,
};
use crate::load::load_without_files;

fn vru(settings: &[&str]) -> super::Plan {
    planned_with(include_str!("../../../../scenarios/vru.toml"), settings)
}

#[test]
fn a_setting_means_the_same_as_a_line_of_the_file() {
    for (setting, line) in [
        ("link.rate=10mbit", "rate = \"10 Mbit/s\""),
        ("link.rate=\"10 Mbit/s\"", "rate = \"10 Mbit/s\""),
        ("link.delay=7ms", "delay = \"7 ms\""),
    ] {
        let key = line.split(' ').next().unwrap();
        let old = if key == "rate" { "rate = \"50 Mbit/s\"" } else { "delay = \"5 ms\"" };
        let expected = plan(&scenario("").replace(old, line));
        let set = planned_with(&scenario(""), &[setting]);
        assert_eq!(set.hash, expected.hash, "{setting}");
    }
    for row in rows(include_str!("overriding.txt")) {
        let expected = plan(&scenario("").replace("[link]", &format!("[link]\n{}", row[1])));
        assert_eq!(planned_with(&scenario(""), &[&row[0]]).hash, expected.hash, "{row:?}");
    }
}

#[test]
fn commas_and_lists_sweep() {
    for setting in ["protocol=quic,http3", "protocol=[\"quic\", \"http3\"]", "protocol=quic, http3"]
    {
        let plan = plan_with(&scenario(""), &[setting]).unwrap();
        assert_eq!(factors(&plan), ["protocol=quic", "protocol=http3"], "{setting}");
    }
    let range = "link.loss={from=0.0, to=0.02, step=0.01}";
    let plan = plan_with(&scenario(""), &[range, "workload.count=5,10"]).unwrap();
    assert_eq!(plan.cells.len(), 6);
    assert_eq!(factors(&plan)[5], "protocol=quic loss=0.02 count=10");
    let fading = "medium.cell.fading={ from = 0, to = 6, step = \"3 dB\" }";
    let rows = factors(&planned_with(&scenario(""), &[fading, "medium.cell.snr=-5,0 dB"]));
    assert_eq!((rows.len(), &*rows[5]), (6, "protocol=quic fading_db=6 snr_db=0"));
}

#[test]
fn the_last_setting_of_a_key_rules_and_replaces_models() {
    let text = scenario("").replace("[link]", "[link]\nloss = { periodic = { every = 100 } }");
    let set = plan_with(&text, &["link.loss=1%", "link.loss=2%"]).unwrap();
    assert_eq!(set.hash, plan(&scenario("").replace("[link]", "[link]\nloss = \"2 %\"")).hash);
}

#[test]
fn runs_and_seed_can_be_set() {
    let plan = vru(&["runs=3", "seed=42"]);
    assert_eq!((plan.runs, plan.seed, plan.cells.len()), (3, 42, 11));
}

#[test]
fn another_protocol_does_not_require_rewriting_the_rest() {
    assert_eq!(
        factors(&vru(&["protocol=quic"])),
        ["new", "resumed", "early"].map(|h| format!("protocol=quic tls=1.3 handshake={h}"))
    );
    assert_eq!(factors(&vru(&["protocol=tcp"])), ["protocol=tcp tls=none handshake=new"]);
    assert_eq!(vru(&["tls=1.2"]).cells.len(), 2);
}

#[test]
fn what_is_set_must_be_of_use() {
    let text = include_str!("../../../../scenarios/vru.toml");
    let why = "tls 1.2 occurs in no cell: quic runs over TLS 1.3 only";
    let place = "--> --set\n |\n | tls=1.2\n |     ^^^";
    expect_words(text, &["protocol=quic", "tls=1.2"], &[why, place]);
}

/// The sender of an untrusted scenario learns nothing about the files here.
#[test]
fn files_of_a_scenario_from_elsewhere_are_not_looked_for() {
    let there = std::env::current_exe().unwrap();
    let there = there.to_str().unwrap();
    let missing = format!("/{}", "x".repeat(there.len() - 1));
    let error = |path: &str| {
        let text = format!("{}payload = \"{path}\"\n", scenario(""));
        let error = load_without_files(&Source::recorded("a.toml", &text), &[]).unwrap_err();
        error.to_string().replace(path, "PATH")
    };
    assert!(
        error(&missing).contains("a scenario from another machine must not name files"),
        "{}",
        error(&missing)
    );
    assert_eq!(error(there), error(&missing));
}

#[test]
fn a_key_is_removed_from_each_part_that_has_it() {
    let text = scenario("") + "[link.up]\nloss = \"1 %\"\n";
    assert_eq!(plan_with(&text, &["!link.up.loss"]).unwrap().hash, plan(&scenario("")).hash);
    assert_eq!(plan_with(&text, &["!link.up"]).unwrap().hash, plan(&scenario("")).hash);
    let parts =
        scenario("") + "[[part]]\nname = \"a\"\nlink.loss = \"1 %\"\n[[part]]\nname = \"b\"\n";
    let without = scenario("") + "[[part]]\nname = \"a\"\n[[part]]\nname = \"b\"\n";
    assert_eq!(plan_with(&parts, &["!link.loss"]).unwrap().hash, plan(&without).hash);
    for (settings, words) in [
        (&["!link.losss"][..], ["does not set link.losss", "did you mean link.loss?", "--unset"]),
        (&["!seed"], ["does not set seed", "it sets ", "--unset"]),
        (&["!link.loss", "link.loss=1%"], ["both set and removed", "leave out", "--unset"]),
    ] {
        expect_words(&parts, settings, &words);
    }
}

/// The more specific key of the command line wins over the file's for both directions.
#[test]
fn a_direction_may_be_set_beside_the_key_for_both() {
    let notes = |settings: &[&str]| planned_with(&scenario(""), settings).notes;
    let (up, down) = ("link.up.rate=4Mbit/s", "link.down.rate=8Mbit/s");
    let of_one = "link.rate of the scenario holds for link.down only".to_owned();
    assert!(notes(&[up]).contains(&of_one));
    let of_both = "link.rate of the scenario has no effect";
    assert!(notes(&[up, down]).iter().any(|note| note.contains(of_both)));
}

#[test]
fn a_second_link_that_no_protocol_uses_has_no_effect() {
    let text = scenario("").replace("[workload]", "[second-link]\nrate = \"1 Mbit/s\"\n[workload]");
    let note =
        "[second-link] has no effect: no protocol here uses two paths, as mptcp and mpquic do";
    for (protocol, expected) in
        [("tcp", &[note.to_owned()][..]), ("tcp,mptcp", &[]), ("mpquic", &[])]
    {
        assert_eq!(planned_with(&text, &[&format!("protocol={protocol}")]).notes, expected);
    }
}

#[test]
fn behind_a_medium_a_link_has_the_queue_of_linux() {
    let hash = |more: &str| plan(&scenario_with_link(&format!("rate = \"1 Gbit/s\"\n{more}"))).hash;
    let medium = "[access]\nrate = \"1 Gbit/s\"\n";
    let queue = "queue = \"1000 packets\"\n";
    assert_eq!(
        hash(&format!("{medium}[medium.cell]")),
        hash(&format!("{queue}{medium}{queue}[medium.cell]"))
    );
    assert_ne!(hash(medium), hash(&format!("{queue}{medium}{queue}")));
}

/// CoAP without DTLS has neither a TLS version nor a handshake to choose.
#[test]
fn axes_that_a_chosen_protocol_lacks_are_left_out_with_a_note() {
    let plan = vru(&["protocol=coap"]);
    assert_eq!(plan.cells.len(), 1);
    let note = "left out values that no cell uses: tls 1.2, 1.3; handshake resumed, early";
    assert_eq!(plan.notes, [note]);
    // What the file itself combines needs no note.
    let train = crate::load(&Source::named("train"), &[]).unwrap();
    assert!(!train.notes.iter().any(|note| note.contains("no cell uses")));
}
