//! `trackbed list`

mod keys;

use clap::{Args, ValueEnum};
use serde_json::Value;
use trackbed_analysis::advise::Advice;
use trackbed_analysis::paper::PaperDocument;
use trackbed_archive::About;
use trackbed_connection::{Capabilities, Transport};
use trackbed_lab::campaign::audit::Findings;
use trackbed_measure::agreement::AgreementDocument;
use trackbed_measure::contrast::Contrast;
use trackbed_measure::metrics;
use trackbed_measure::planned::PlanDocument;
use trackbed_measure::results::{Document, RunResult};
use trackbed_measure::schema::json_schema;
use trackbed_protocols::quic_schedulers;
use trackbed_report::{Align, Table};
use trackbed_scenario::{self as scenario, Key};

use super::doctor::DoctorDocument;
use super::verify::VerifyDocument;
use crate::ending::Ending;
use crate::output;

/// The arguments of `trackbed list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Show only KIND, in full
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
    /// With keys: a key, or the table or word that keys share, such as link, link.loss or rate. With
    /// schema: scenario (the default), run, runs, about, compare, agree, advise, paper, plan,
    /// verify-results, verify or doctor
    #[arg(value_name = "OF", requires = "kind")]
    pub of: Option<String>,
}

/// Files and documents with a JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaArgument {
    /// Scenario files
    Scenario,
    /// run.json and the output of `run --json`
    Run,
    /// A line of runs.jsonl
    Runs,
    /// about.json
    About,
    /// The output of `compare --json`
    Compare,
    /// The output of `agree --json`
    Agree,
    /// The output of `advise --json`
    Advise,
    /// The output of `paper --json`
    Paper,
    /// The output of `plan --json`
    Plan,
    /// The output of `verify-results --json`
    VerifyResults,
    /// The output of `verify --json`
    Verify,
    /// The output of `doctor --json`
    Doctor,
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
///
/// # Errors
/// If standard output cannot be written.
pub fn execute(arguments: &ListArguments) -> anyhow::Result<Ending> {
    let of = arguments.of.as_deref();
    let text = match (arguments.kind, of) {
        (Some(ListKind::Schema), of) => format!("{:#}\n", schema(file(of)?)),
        (Some(ListKind::Keys), of) => keys::text(of)?,
        (Some(_), Some(of)) => {
            anyhow::bail!(
                "{of} goes with keys and schema only: trackbed list keys {of}, trackbed list schema {of}"
            )
        }
        (Some(kind), None) => section(kind),
        (None, _) => overview(),
    };
    output::print(&text)?;
    Ok(Ending::Success)
}

/// What a schema is wanted of.
fn file(of: Option<&str>) -> anyhow::Result<SchemaArgument> {
    let Some(of) = of else { return Ok(SchemaArgument::Scenario) };
    SchemaArgument::from_str(of, false).map_err(|_| {
        let values = SchemaArgument::value_variants().iter();
        let names =
            values.filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned()));
        let names = names.collect::<Vec<_>>().join(", ");
        anyhow::anyhow!("no schema of \"{of}\"\n  help: there are schemas of {names}")
    })
}

fn overview() -> String {
    let kinds = [
        ("scenarios", ListKind::Scenarios),
        ("protocols", ListKind::Protocols),
        ("workloads", ListKind::Workloads),
        ("programs", ListKind::Programs),
        ("links", ListKind::Links),
        ("queues", ListKind::Queues),
        ("congestion", ListKind::Congestion),
        ("schedulers", ListKind::Schedulers),
        ("presets", ListKind::Presets),
    ];
    let sections = kinds.map(|(title, kind)| format!("{title}:\n{}", section(kind)));
    format!("{}\nMore: trackbed list metrics, trackbed list keys\n", sections.join("\n"))
}

fn section(kind: ListKind) -> String {
    let table = match kind {
        ListKind::Scenarios => pairs(
            ["scenario", "what it compares"],
            scenario::built_in().iter().map(|entry| (entry.name, entry.summary())),
        ),
        ListKind::Protocols => protocols(),
        ListKind::Links => models(|key| key != "link.queue"),
        ListKind::Queues => models(|key| key == "link.queue"),
        ListKind::Workloads => pairs(
            ["workload", "what it sends"],
            trackbed_workloads::registry()
                .iter()
                .map(|workload| (workload.name, workload.summary.to_owned())),
        ),
        ListKind::Programs => programs(),
        ListKind::Congestion => congestion(),
        ListKind::Schedulers => schedulers(),
        ListKind::Presets => presets(),
        ListKind::Metrics => pairs(
            ["metric", "what it says"],
            metrics::registry().iter().map(|metric| (metric.name, metric.help.to_owned())),
        ),
        ListKind::Keys => return keys::all(),
        ListKind::Schema => return format!("{:#}\n", schema(SchemaArgument::Scenario)),
    };
    table.to_string()
}

fn schema(file: SchemaArgument) -> Value {
    match file {
        SchemaArgument::Scenario => scenario::json_schema(),
        SchemaArgument::Run => json_schema::<Document>("run", "run.json of Trackbed"),
        SchemaArgument::Runs => {
            json_schema::<RunResult>("runs", "A line of runs.jsonl of Trackbed")
        }
        SchemaArgument::About => json_schema::<About>("about", "about.json of Trackbed"),
        SchemaArgument::Compare => {
            json_schema::<Contrast>("compare", "What trackbed compare --json prints")
        }
        SchemaArgument::Agree => {
            json_schema::<AgreementDocument>("agree", "What trackbed agree --json prints")
        }
        SchemaArgument::Advise => {
            json_schema::<Advice>("advise", "What trackbed advise --json prints")
        }
        SchemaArgument::Paper => {
            json_schema::<PaperDocument>("paper", "What trackbed paper --json prints")
        }
        SchemaArgument::Plan => {
            json_schema::<PlanDocument>("plan", "What trackbed plan --json prints")
        }
        SchemaArgument::VerifyResults => {
            json_schema::<Findings>("verify-results", "What trackbed verify-results --json prints")
        }
        SchemaArgument::Doctor => {
            json_schema::<DoctorDocument>("doctor", "What trackbed doctor --json prints")
        }
        SchemaArgument::Verify => {
            json_schema::<VerifyDocument>("verify", "What trackbed verify --json prints")
        }
    }
}

fn pairs<'a>(titles: [&str; 2], rows: impl Iterator<Item = (&'a str, String)>) -> Table {
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
    for (name, summary) in rows {
        table.row([name.to_owned(), summary]);
    }
    table
}

/// The schedulers of MPTCP; the multipath QUIC engine also has some of these names.
fn schedulers() -> Table {
    let mut table =
        Table::new(["scheduler", "of", "which path it takes"].map(|title| (title, Align::Left)));
    for scheduler in trackbed_tcp::schedulers::algorithms() {
        let name = scheduler.name;
        let is_common = quic_schedulers().iter().any(|known| known.name == name);
        let of = if is_common { "mptcp, mpquic" } else { "mptcp" };
        table.row([name.to_owned(), of.to_owned(), scheduler.summary.to_owned()]);
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
    let titles = ["key", "written as", "what it does"];
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
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
    let titles = ["program", "end", "speaks", "Debian package", "installed", "what it is"];
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
    let installed = |names: &[&str], package| {
        let found = trackbed_programs::find_executable(names, package);
        found.map_or_else(|_| "no".to_owned(), |path| path.display().to_string())
    };
    for program in trackbed_programs::registry() {
        table.row([
            program.name().to_owned(),
            "server".to_owned(),
            program.about().speaks.join(" "),
            program.about().package.unwrap_or("-").to_owned(),
            installed(&program.executables(), program.about().package),
            program.about().summary.to_owned(),
        ]);
    }
    for program in trackbed_programs::clients::registry() {
        table.row([
            program.name().to_owned(),
            "client".to_owned(),
            program.about().speaks.join(" "),
            program.about().package.unwrap_or("-").to_owned(),
            installed(&program.executables(), program.about().package),
            program.about().summary.to_owned(),
        ]);
    }
    table
}

fn congestion() -> Table {
    let titles = ["algorithm", "of", "what it does"];
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
    for algorithm in trackbed_protocols::congestion() {
        table.row([algorithm.name, algorithm.of.transport(), algorithm.summary]);
    }
    table
}

fn presets() -> Table {
    let titles = ["preset", "of", "what it sets", "what it is", "source"];
    let mut table = Table::new(titles.map(|title| (title, Align::Left)));
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
