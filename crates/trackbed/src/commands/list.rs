//! `trackbed list`

use trackbed_lab::scenario;
use trackbed_measure::metrics;
use trackbed_protocols::{Capabilities, Transport};
use trackbed_report::{Align, Table};

use crate::Verdict;
use crate::arguments::{ListArguments, ListKind};
use crate::output;

/// Shows what there is, all of it from the registries.
///
/// # Errors
/// If standard output cannot be written.
pub fn execute(arguments: &ListArguments) -> anyhow::Result<Verdict> {
    let text = match arguments.kind {
        Some(kind) => section(kind).to_string(),
        None => overview(),
    };
    output::print(&text)?;
    Ok(Verdict::Success)
}

fn overview() -> String {
    let kinds = [
        ("scenarios", ListKind::Scenarios),
        ("protocols", ListKind::Protocols),
        ("workloads", ListKind::Workloads),
        ("links", ListKind::Links),
        ("congestion", ListKind::Congestion),
    ];
    let sections = kinds.map(|(title, kind)| format!("{title}:\n{}", section(kind)));
    format!("{}\nMore: trackbed list metrics, trackbed list keys\n", sections.join("\n"))
}

fn section(kind: ListKind) -> Table {
    match kind {
        ListKind::Scenarios => pairs(
            ["scenario", "what it compares"],
            scenario::built_in().iter().map(|entry| (entry.name, entry.summary())),
        ),
        ListKind::Protocols => protocols(),
        ListKind::Links => pairs(
            ["model", "what it does"],
            trackbed_net::spec::MODELS.iter().map(|entry| (entry.name, entry.summary.to_owned())),
        ),
        ListKind::Workloads => pairs(
            ["workload", "what it sends"],
            trackbed_workloads::registry()
                .iter()
                .map(|workload| (workload.name(), workload.summary().to_owned())),
        ),
        ListKind::Congestion => pairs(
            ["algorithm", "what it does"],
            trackbed_tcp::algorithms()
                .iter()
                .map(|algorithm| (algorithm.name(), algorithm.summary().to_owned())),
        ),
        ListKind::Metrics => pairs(
            ["metric", "what it says"],
            metrics::registry().iter().map(|metric| (metric.name, metric.help.to_owned())),
        ),
        ListKind::Keys => keys(),
    }
}

fn pairs<'a>(titles: [&str; 2], rows: impl Iterator<Item = (&'a str, String)>) -> Table {
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
    for (name, summary) in rows {
        table.row([name.to_owned(), summary]);
    }
    table
}

fn protocols() -> Table {
    let titles = ["protocol", "transport", "tls", "handshake", "what it is"];
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
    for protocol in trackbed_protocols::registry() {
        let Capabilities { transport, tls, handshakes, .. } = protocol.capabilities();
        let transport = match transport {
            Transport::Tcp => "TCP",
            Transport::Udp => "UDP",
        };
        let tls: Vec<&str> = tls.iter().map(|version| version.name()).collect();
        let handshakes: Vec<&str> = handshakes.iter().map(|handshake| handshake.name()).collect();
        let dash = |names: Vec<&str>| match names.is_empty() {
            true => "-".to_owned(),
            false => names.join(" "),
        };
        table.row([
            protocol.name().to_owned(),
            transport.to_owned(),
            dash(tls),
            dash(handshakes),
            protocol.summary().to_owned(),
        ]);
    }
    table
}

fn keys() -> Table {
    let titles = ["key", "written as", "default", "what it means"];
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
    for key in scenario::reference() {
        table.row([key.path, key.example, key.default.unwrap_or_default(), key.help]);
    }
    table
}
