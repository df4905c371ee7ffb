//! Parts and the quick form.

use super::{expect_words, factors, plan, plan_with, planned_with, scenario};

const PARTS: &str = include_str!("parts.toml");

#[test]
fn each_part_has_cells_of_its_own_over_the_common_keys() {
    let plan = plan(PARTS);
    let of = |axis: &str, [one, other]: [&str; 2]| {
        let (part, name) = axis.split_once(' ').unwrap();
        ["tcp", "quic"].map(|protocol| {
            [one, other].map(|value| format!("part=by {part} protocol={protocol} {name}={value}"))
        })
    };
    let expected = [of("delay delay_ms", ["10", "20"]), of("loss loss", ["0", "0.01"])];
    assert_eq!(factors(&plan), expected.concat().concat());
    assert_eq!(plan.cells[0].workload_name, "bulk");
    assert_eq!(plan.cells[7].workload_name, "messages");
    assert_eq!(plan.conditions, ["part", "delay_ms", "loss"]);
    assert_eq!(plan.runs, 3);
}

/// A part is equal to a separate scenario with all of its keys.
#[test]
fn a_part_alone_is_the_scenario_that_it_spells_out() {
    let chosen = plan_with(PARTS, &["part=by delay"]).unwrap();
    let alone = "protocol = [\"tcp\", \"quic\"]\n[link]\nrate = \"50 Mbit/s\"\n\
                 delay = [\"10 ms\", \"20 ms\"]\n[workload]\nkind = \"bulk\"\nsize = \"1 MB\"\n";
    assert_eq!(chosen.hash, plan(alone).hash);
    let both = plan_with(PARTS, &["part=by delay", "part=by loss"]).unwrap();
    assert_eq!(both.hash, plan(PARTS).hash);
}

#[test]
fn the_quick_form_is_laid_over_and_settings_over_that() {
    let quick = plan_with(PARTS, &["quick=true"]).unwrap();
    assert_eq!((quick.runs, quick.cells.len()), (1, 8));
    let small = PARTS.replace("size = \"1 MB\"", "size = \"20 kB\"");
    let small = small.replace("count = 5", "count = 2").replace("runs = 3", "runs = 1");
    assert_eq!(quick.hash, plan(&small).hash);
    assert_eq!(plan_with(PARTS, &["quick=false"]).unwrap().hash, plan(PARTS).hash);
    let set = plan_with(PARTS, &["runs=7", "quick=true", "protocol=tcp"]).unwrap();
    assert_eq!((set.runs, set.cells.len()), (7, 4));
    let plain = scenario("runs = 9") + "[quick]\nruns = 2\n";
    assert_eq!(plan(&plain).runs, 9);
    assert_eq!(plan_with(&plain, &["quick=true"]).unwrap().runs, 2);
}

#[test]
fn what_makes_no_part_is_refused_with_its_place_and_a_remedy() {
    let part = |text: &str| scenario("") + "[[part]]\n" + text;
    for (text, settings, parts) in [
        (part("link.loss = 0"), &[][..], &["this part has no name", "write name ="][..]),
        (part("name = \"a\"\n[[part]]\nname = \"a\""), &[], &["called \"a\" too"]),
        (part("name = \"a\"\nseed = 3"), &[], &["holds for the whole scenario", "a.toml:10:1"]),
        (part("name = \"a\"\nlink.los = 0"), &[], &["unknown key \"los\"", "\"loss\""]),
        (part("name = \"a\"\nquick = 3"), &[], &["quick is a table", "[quick]"]),
        (scenario("part = 3"), &[], &["parts are a list of tables", "[[part]]"]),
        (part("name = \"a\""), &["part=b"], &["no part \"b\"", "its parts are \"a\""]),
        (scenario(""), &["part=b"], &["no part \"b\"", "leave --part out"]),
        (scenario(""), &["quick=true"], &["no quick form", "--runs"]),
        (scenario(""), &["quick=maybe"], &["write true or false"]),
    ] {
        expect_words(&text, settings, parts);
    }
}

/// Parts with MPTCP, one with TCP alone and one that sends messages.
const MIXED: &str = include_str!("mixed-parts.toml");

/// What the command line sets holds for the parts that have a use for it; a note says what was left out.
#[test]
fn a_setting_is_applied_to_the_parts_that_it_fits() {
    let unused = "no cell of the part \"alone\" uses: scheduler minrtt, ecf, sttf";
    let (mptcp, none) = ("part=both protocol=mptcp scheduler=", "scheduler=none");
    let cells = ["minrtt", "ecf", "sttf"].map(|scheduler| format!("{mptcp}{scheduler}"));
    let alone = ["tcp", "quic"].map(|protocol| format!("part=alone protocol={protocol} {none}"));
    let plan = planned_with(MIXED, &["scheduler=minrtt,ecf,sttf"]);
    assert_eq!(factors(&plan), [&cells[..], &alone].concat());
    assert!(plan.notes.iter().any(|note| note.contains(unused)), "{:?}", plan.notes);
    for (setting, cells, note) in [
        ("scheduler=sttf", 3, "no cell of the part \"alone\" uses: scheduler sttf"),
        ("congestion=bbr3", 1, "left out the part \"both\": none of its combinations can run"),
        ("congestion=lia", 1, "left out the part \"alone\": none of its combinations can run"),
        ("workload.count=3", 3, "left out workload.count in the part \"both\", whose workload"),
    ] {
        let plan = planned_with(MIXED, &[setting]);
        assert_eq!(plan.cells.len(), cells, "{setting}");
        assert!(plan.notes.iter().any(|one| one.contains(note)), "{:?}", plan.notes);
    }
    expect_words(MIXED, &["mqtt-qos=2"], &["mqtt-qos 2 occurs in no cell"]);
    expect_words(MIXED, &["workload.cuont=3"], &["unknown key \"cuont\""]);
}

/// An error in the common keys is reported once.
#[test]
fn common_mistakes_are_reported_once() {
    let error = plan_with(&PARTS.replace("rate =", "rtae ="), &[]).unwrap_err();
    assert_eq!(error.reports().len(), 1, "{error}");
}

/// A common key may be useless for a part that chooses another protocol; a part's own keys must be
/// useful.
#[test]
fn a_part_may_choose_a_protocol_that_has_no_use_for_a_common_key() {
    let common = "protocol = \"quic\"\ntls = \"1.3\"\nruns = 1\n[link]\nrate = \"50 Mbit/s\"\n\
                  [workload]\nkind = \"bulk\"\nsize = \"1 MB\"\n[[part]]\nname = \"quic\"\n\
                  [[part]]\nname = \"plain\"\nprotocol = \"tcp\"\n";
    let cells = factors(&plan(common));
    assert_eq!(cells, ["part=quic protocol=quic tls=1.3", "part=plain protocol=tcp tls=none"]);
    expect_words(&format!("{common}tls = \"1.2\"\n"), &[], &["tls 1.2 occurs in no cell"]);
}
