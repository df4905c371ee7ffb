//! `trackbed list`

mod keys;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde_json::Value;
use trackbed_analysis::advise::Advice;
use trackbed_analysis::paper::PaperDocument;
use trackbed_archive::About;
use trackbed_connection::{Capabilities, Transport};
use trackbed_lab::campaign::audit::Findings;
use trackbed_measure::agreement::AgreementDocument;
use trackbed_measure::contrast::Contrast;
use trackbed_measure::drops::DropsDocument;
use trackbed_measure::fit::FitDocument;
use trackbed_measure::metrics;
use trackbed_measure::results::{Document, RunResult};
use trackbed_measure::schema::{PlanDocument, json_schema};
use trackbed_protocols::quic_schedulers;
use trackbed_report::{Align, Table};
use trackbed_scenario::{self as scenario, Key};

use super::doctor::DoctorDocument;
use super::verify::VerifyDocument;
use crate::ending::Ending;
use crate::output;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Show only KIND, in full
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
    /// With keys: a key, or the table or word that keys share, such as link, link.loss or rate. With
    /// schema: scenario (the default), run, runs, about, compare, agree, advise, paper, plan,
    /// verify-results, verify or doctor
    #[arg(value_name = "OF", requires = "kind")]
    pub of: Option<String>,
}

/// Makes the schema of this name.
type Make = fn(&str) -> Value;

/// Files and documents with a JSON Schema.
const SCHEMAS: [(&str, Make); 14] = [
    ("scenario", |_| scenario::json_schema()),
    ("run", |name| json_schema::<Document>(name, "run.json of Trackbed")),
    ("runs", |name| json_schema::<RunResult>(name, "A line of runs.jsonl of Trackbed")),
    ("about", |name| json_schema::<About>(name, "about.json of Trackbed")),
    ("compare", printed::<Contrast>),
    ("agree", printed::<AgreementDocument>),
    ("drops", printed::<DropsDocument>),
    ("fit", printed::<FitDocument>),
    ("advise", printed::<Advice>),
    ("paper", printed::<PaperDocument>),
    ("plan", printed::<PlanDocument>),
    ("verify-results", printed::<Findings>),
    ("verify", printed::<VerifyDocument>),
    ("doctor", printed::<DoctorDocument>),
];

/// The schema of what a command prints with `--json`.
fn printed<T: JsonSchema>(command: &str) -> Value {
    json_schema::<T>(command, &format!("What trackbed {command} --json prints"))
}

/// The kinds of things to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListKind {
    /// Built-in scenarios
    Scenarios,
    /// Protocols and their features
    Protocols,
    /// Link models and their parameters
    Links,
    /// Workloads and their parameters
    Workloads,
    /// Third-party servers and clients, and whether they are installed
    Programs,
    /// Queues of a link
    Queues,
    /// Congestion controllers of TCP and QUIC
    Congestion,
    /// Schedulers of connections with several paths
    Schedulers,
    /// Presets of software that studies used, and the keys that they set
    Presets,
    /// Metrics
    Metrics,
    /// Every key of a scenario file
    Keys,
    /// The JSON Schema of scenario files (for editors) or of results
    Schema,
}

/// Prints the registries.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let of = arguments.of.as_deref();
    let text = match arguments.kind {
        Some(kind) => section(kind, of)?,
        None => overview()?,
    };
    output::print(&text)?;
    Ok(Ending::Success)
}

/// The schema called `name`, by default that of scenarios.
fn schema(name: Option<&str>) -> anyhow::Result<String> {
    let name = name.unwrap_or("scenario");
    let Some((_, make)) = SCHEMAS.iter().find(|(known, _)| *known == name) else {
        let names = SCHEMAS.map(|(known, _)| known).join(", ");
        anyhow::bail!("no schema of \"{name}\"\n  help: there are schemas of {names}");
    };
    Ok(format!("{:#}\n", make(name)))
}

fn overview() -> anyhow::Result<String> {
    use ListKind::*;
    let kinds =
        [Scenarios, Protocols, Workloads, Programs, Links, Queues, Congestion, Schedulers, Presets];
    let section = |kind: ListKind| {
        let title = kind.to_possible_value();
        let title = title.as_ref().map_or("", |title| title.get_name());
        Ok(format!("{title}:\n{}\n", section(kind, None)?))
    };
    let sections: String = kinds.into_iter().map(section).collect::<anyhow::Result<_>>()?;
    Ok(format!("{sections}More: trackbed list metrics, trackbed list keys\n"))
}

fn section(kind: ListKind, of: Option<&str>) -> anyhow::Result<String> {
    let table = match (kind, of) {
        (ListKind::Keys, of) => return keys::text(of),
        (ListKind::Schema, of) => return schema(of),
        (_, Some(of)) => {
            anyhow::bail!(
                "{of} goes with keys and schema only: trackbed list keys {of}, trackbed list schema {of}"
            )
        }
        (ListKind::Scenarios, _) => pairs(
            ["scenario", "what it compares"],
            scenario::built_in().iter().map(|entry| (entry.name, entry.summary())),
        ),
        (ListKind::Protocols, _) => protocols(),
        (ListKind::Links, _) => models(|key| key != "link.queue"),
        (ListKind::Queues, _) => models(|key| key == "link.queue"),
        (ListKind::Workloads, _) => workloads(),
        (ListKind::Programs, _) => programs(),
        (ListKind::Congestion, _) => congestion(),
        (ListKind::Schedulers, _) => schedulers(),
        (ListKind::Presets, _) => presets(),
        (ListKind::Metrics, _) => pairs(
            ["metric", "what it says"],
            metrics::registry().iter().map(|metric| (metric.name, metric.help.to_owned())),
        ),
    };
    Ok(table.to_string())
}

/// A table of words.
fn table<const N: usize>(titles: [&str; N]) -> Table {
    Table::new(titles.map(|title| (title, Align::Left)))
}

fn pairs<'a>(titles: [&str; 2], rows: impl Iterator<Item = (&'a str, String)>) -> Table {
    let mut table = table(titles);
    for (name, summary) in rows {
        table.row([name.to_owned(), summary]);
    }
    table
}

fn workloads() -> Table {
    let mut table = table(["workload", "what it sends", "metrics that rank cells"]);
    for workload in trackbed_workloads::registry() {
        let ranking = workload.ranking.iter().map(|(key, metrics)| match *key {
            "" => metrics.join(", "),
            key => format!("{} (with {key})", metrics.join(", ")),
        });
        let ranking: Vec<String> = ranking.collect();
        table.row([workload.name, workload.summary, &ranking.join("; else ")]);
    }
    table
}

/// The schedulers of MPTCP; the multipath QUIC engine also has some of these names.
fn schedulers() -> Table {
    let mut table = table(["scheduler", "of", "which path it takes"]);
    for scheduler in trackbed_tcp::schedulers::algorithms() {
        let name = scheduler.name;
        let is_common = quic_schedulers().iter().any(|known| known.name == name);
        let of = if is_common { "mptcp, mpquic" } else { "mptcp" };
        table.row([name.to_owned(), of.to_owned(), scheduler.summary.to_owned()]);
    }
    table
}

fn protocols() -> Table {
    let mut table = table(["protocol", "transport", "tls", "handshake", "what it is"]);
    for protocol in trackbed_protocols::registry() {
        let Capabilities { transport, tls, handshakes, .. } = protocol.capabilities();
        let transport = match transport {
            Transport::Tcp => "TCP",
            Transport::Udp | Transport::Coap => "UDP",
            Transport::Sctp => "SCTP",
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

/// The keys of a link, each with its plain value or its models.
fn models(is_wanted: impl Fn(&str) -> bool) -> Table {
    let mut table = table(["key", "written as", "what it does"]);
    let keys = scenario::reference();
    let below = |path: &str, key: &Key| {
        let rest = key.path.strip_prefix(path).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|name| !name.contains('.'))
    };
    for key in keys.iter().filter(|key| below("link", key) && is_wanted(&key.path)) {
        let models: Vec<&Key> = keys.iter().filter(|model| below(&key.path, model)).collect();
        // A model with the name of its key is written as a plain value.
        let name = key.path.rsplit('.').next();
        let (plain, others): (Vec<&Key>, Vec<&Key>) =
            models.into_iter().partition(|model| model.path.rsplit('.').next() == name);
        let help = plain.first().map_or(&key.help, |plain| &plain.help);
        table.row([&key.path, &key.example, help]);
        for model in others {
            table.row([&key.path, &model.example, &model.help]);
        }
    }
    table
}

fn programs() -> Table {
    let mut table =
        table(["program", "end", "speaks", "Debian package", "installed", "what it is"]);
    let servers = trackbed_programs::registry().iter().map(|server| ("server", server.about()));
    let clients = trackbed_programs::clients::registry().iter();
    let clients = clients.map(|client| ("client", client.about()));
    for (end, about) in servers.chain(clients) {
        let found = trackbed_programs::find_executable(about.executables, about.package);
        table.row([
            about.name,
            end,
            &about.speaks.join(" "),
            about.package.unwrap_or("-"),
            &found.map_or_else(|_| "no".to_owned(), |path| path.display().to_string()),
            about.summary,
        ]);
    }
    table
}

fn congestion() -> Table {
    let mut table = table(["algorithm", "of", "what it does"]);
    for algorithm in trackbed_protocols::congestion() {
        table.row([algorithm.name, algorithm.of.transport(), algorithm.summary]);
    }
    table
}

fn presets() -> Table {
    let mut table = table(["preset", "of", "what it sets", "what it is", "source"]);
    for preset in trackbed_protocols::presets() {
        let set = preset.values.iter().map(|(key, value)| format!("{key} = {value}"));
        table.row([
            preset.name,
            &preset.protocols.join(" "),
            &set.collect::<Vec<_>>().join(", "),
            preset.summary,
            preset.source,
        ]);
    }
    table
}
