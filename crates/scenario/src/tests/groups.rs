//! Groups of clients beside each other.

use super::*;
use crate::{Arrivals, Cell};

/// Ten warnings beside downloads.
fn loaded(downloads: &str) -> String {
    format!(
        "protocol = [\"http2\", \"quic\"]\ntls = \"1.3\"\n[link]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
         [workload]\nkind = \"messages\"\ncount = 10\n[group.warning]\n[group.download]\n\
         protocol = \"tcp\"\n{downloads}\n[group.download.workload]\nkind = \"flow\"\n"
    )
}

#[test]
fn each_group_has_a_cell_with_the_others_beside_it() {
    let plan = plan(&loaded(
        "count = [0, 2]\nstart = \"1 s\"\nevery = \"200 ms\"\narrivals = \"poisson\"",
    ));
    let row = |group: &str, protocol: &str, count: u32| {
        let tls = if protocol == "tcp" { "none" } else { "1.3" };
        format!("group={group} protocol={protocol} tls={tls} download_count={count}")
    };
    let expected = [
        row("warning", "http2", 0),
        row("warning", "http2", 2),
        row("warning", "quic", 0),
        row("warning", "quic", 2),
        row("download", "tcp", 2) + " warning_protocol=http2",
        row("download", "tcp", 2) + " warning_protocol=quic",
    ];
    assert_eq!(factors(&plan), expected);
    let place = |cell: &Cell| cell.place.clone().unwrap();
    let beside = |cell: usize| {
        plan.cells[cell].beside.iter().map(|group| place(group).name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([beside(0), beside(1), beside(4)], ["", "download", "warning"]);
    let groups = plan.cells[3].groups();
    let [warning, download] = &groups[..] else { panic!("{}", groups.len()) };
    assert_eq!((place(warning).number, warning.endpoint.protocol.name()), (0, "quic"));
    assert_eq!((place(download).number, download.endpoint.protocol.name()), (1, "tcp"));
    let schedule = place(download).schedule;
    assert_eq!((schedule.count, schedule.arrivals), (2, Arrivals::Poisson));
    assert_eq!(plan.cells[0].workload_name, "messages");
    assert_eq!(plan.cells[4].workload_name, "flow");
    assert!(plan.conditions.contains(&"group".to_owned()));
}

#[test]
fn a_group_takes_what_it_does_not_set_from_the_scenario() {
    let text =
        loaded("[group.warning.workload]\ncount = 3\n[group.warning.access]\ndelay = \"2 ms\"");
    let plan = plan(&text);
    assert!(plan.cells[0].network.access.is_some() && plan.cells[2].network.access.is_none());
    let by_command =
        planned_with(&text, &["group.download.count=5", "group.warning.congestion=reno"]);
    let groups = by_command.cells[0].groups();
    assert_eq!(groups[1].place.as_ref().unwrap().schedule.count, 5);
    assert_eq!(groups[0].endpoint.transport.congestion, "reno");
    assert_ne!(plan.hash, by_command.hash);
}

/// Downloads beside each of them differ, although TCP ignores the key.
#[test]
fn what_another_group_uses_is_a_condition_of_all() {
    let text = loaded("").replace("[\"http2\", \"quic\"]", "\"coap\"");
    let plan = plan(&text.replace("tls = \"1.3\"", "nstart = [1, 10]"));
    let downloads = factors(&plan).into_iter().filter(|row| row.contains("group=download"));
    let expected =
        ["1", "10"].map(|it| format!("group=download protocol=tcp nstart={it} in warning"));
    assert_eq!(downloads.collect::<Vec<String>>(), expected);
}

#[test]
fn what_one_group_cannot_do_is_left_out_for_all() {
    let text = loaded("").replace("[group.warning]", "[group.warning]\ntls = [\"1.2\", \"1.3\"]");
    let plan = plan(&text);
    let warnings = factors(&plan).into_iter().filter(|row| row.contains("group=warning"));
    assert_eq!(warnings.count(), 3, "QUIC has no TLS 1.2: {:?}", factors(&plan));
    assert!(plan.cells.iter().all(|cell| cell.beside.len() == 1));
}

#[test]
fn runs_without_clients_or_with_too_many_are_refused() {
    let text = loaded("");
    let none = ["group.warning.count=0", "group.download.count=0"];
    expect_words(&text, &none, &["no group has members", "at least 1"]);
    let many = ["group.warning.count=10000", "group.download.count=10000", "workload.phones=2"];
    expect_words(&text, &many, &["30000 phones in all groups", "at most 20000"]);
    let more = ["group.download.on=warning", "group.download.workload.phones=3"];
    expect_words(&text, &more, &["download needs 3 phones, and warning has 1"]);
    let radio = scenario_with_link("rate = \"1 Gbit/s\"")
        .replace("[link]", "medium = \"wifi\"\n[radio]\n#");
    expect_words(
        &radio,
        &["radio.profile=3gpp", "!link"],
        &["wifi has no effect: it has no signal", "remove it"],
    );
}

#[test]
fn mistakes_name_the_line_and_the_remedy() {
    for row in rows(include_str!("groups.txt")) {
        let mut text = loaded(&row[0]);
        if row[0].starts_with("[group]") {
            text = text.replace("[group.warning]\n", "");
        }
        expect_words(&text, &[], &row[1..]);
    }
}
