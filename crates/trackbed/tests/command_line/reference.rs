//! Checks that `docs/reference.md` matches the registries.
//!
//! After a change of a registry, `cargo xtask reference` updates the page.

use std::fmt::Write as _;

use trackbed_connection::Transport;
use trackbed_scenario::{self as scenario, Key};

use super::*;

const HEAD: &str = "\
# Reference

All keys of a scenario file, and all metrics. This page is generated from the same registries as the
parser and `trackbed list`; `cargo xtask reference` updates it.

A scenario is a TOML file. Quantities have units: `\"50 Mbit/s\"` (1 Mbit is 10^6 bit), `\"10 ms\"`,
`\"0.3 %\"`, `\"355 B\"`, `\"64 KiB\"`. If *sweeps* is yes, a list (`[\"1 ms\", \"5 ms\"]`) or a range
(`{ from = \"1 ms\", to = \"9 ms\", step = \"2 ms\" }`, or `points = 5` instead of the step) makes an
axis: every value is run with every value of the other axes. On the command line, `--set KEY=VALUE` sets
a key by its dotted path, without quotes: `--set link.delay=5ms,10ms`.

A scenario may have parts, each with its own cells and table. A `[[part]]` has a `name` and any keys,
which override those of the scenario: `link.loss = [\"0 %\", \"1 %\"]`, or a `[part.workload]` of another
kind. `--part NAME` runs one of them. A table `[quick]`, at the top or in a part
(`quick.workload.size = \"1 MB\"`), has the smaller values for `--quick`.
";

#[test]
fn the_page_is_what_the_registries_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    let page = page();
    if std::env::var_os("TRACKBED_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &page).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let differs = committed.lines().zip(page.lines()).position(|(old, new)| old != new);
    assert!(
        committed == page,
        "docs/reference.md is out of date (first difference in line {:?}): cargo xtask reference",
        differs.map(|line| line + 1)
    );
}

/// A new table of scenarios must not be forgotten.
#[test]
fn every_table_of_a_scenario_has_a_section() {
    let page = page();
    for key in scenario::reference() {
        if let Some((table, _)) = key.path.split_once('.') {
            assert!(page.contains(&format!("\n## `[{table}]`\n")), "{}", key.path);
        }
    }
}

fn page() -> String {
    let keys = scenario::reference();
    let mut page = HEAD.to_owned();
    scenarios(&mut page);
    protocols(&mut page);
    programs(&mut page);
    ends(&keys, &mut page);
    presets(&keys, &mut page);
    links(&keys, &mut page);
    section(&keys, "environment", ENVIRONMENT, &mut page);
    section(&keys, "radio", RADIO, &mut page);
    section(&keys, "inference", INFERENCE, &mut page);
    workloads(&keys, &mut page);
    congestion(&mut page);
    schedulers(&mut page);
    metrics(&mut page);
    page
}

fn scenarios(page: &mut String) {
    page.push_str("\n## Built-in scenarios\n\n");
    let rows = scenario::built_in().iter().map(|entry| [code(entry.name), entry.summary()]);
    table(page, ["name", "what it compares"], rows);
}

fn protocols(page: &mut String) {
    page.push_str("\n## Protocols\n\n");
    let rows = trackbed_protocols::registry().iter().map(|protocol| {
        let capabilities = protocol.capabilities();
        let transport = match capabilities.transport {
            Transport::Tcp => "TCP",
            Transport::Udp | Transport::Coap => "UDP",
            Transport::Sctp => "SCTP",
        };
        let tls: Vec<&str> = capabilities.tls.iter().map(|version| version.name()).collect();
        let handshakes = capabilities.handshakes.iter().map(|handshake| handshake.name());
        let handshakes: Vec<&str> = handshakes.collect();
        [
            code(protocol.name()),
            transport.to_owned(),
            tls.join(", "),
            handshakes.join(", "),
            protocol.summary().to_owned(),
        ]
    });
    table(page, ["name", "transport", "TLS", "handshakes", "description"], rows);
}

fn programs(page: &mut String) {
    page.push_str(
        "\n## Programs\n\nThird-party servers, for `server` on the emulated substrate. Each answers \
         a POST to any path once it has the whole body, and a GET with a file. `trackbed list \
         programs` shows which are installed.\n\n",
    );
    let rows = trackbed_programs::registry().iter().map(|program| {
        [
            code(program.name()),
            program.about().speaks.join(", "),
            code(program.about().package.unwrap_or_default()),
            program.port().to_string(),
            program.about().summary.to_owned(),
        ]
    });
    table(page, ["name", "protocols", "Debian package", "port", "description"], rows);
    page.push_str("\nThird-party clients, for `client` on the emulated substrate.\n\n");
    let rows = trackbed_programs::clients::registry().iter().map(|program| {
        [
            code(program.name()),
            program.about().speaks.join(", "),
            code(program.about().package.unwrap_or_default()),
            program.about().summary.to_owned(),
        ]
    });
    table(page, ["name", "protocols", "Debian package", "description"], rows);
}

fn ends(keys: &[Key], page: &mut String) {
    page.push_str("\n## Keys at the top of a scenario\n\n");
    let top = keys.iter().filter(|key| !key.path.contains('.') && !is_table(key));
    table(page, COLUMNS, top.map(|key| row(&key.path, key)));
}

fn presets(keys: &[Key], page: &mut String) {
    section(keys, "preset", PRESETS, page);
    page.push('\n');
    let rows = trackbed_protocols::presets().iter().map(|preset| {
        let set = preset.values.iter().map(|(key, value)| code(&format!("{key} = {value}")));
        let set = set.collect::<Vec<_>>().join(", ");
        let protocols = preset.protocols.iter().map(|name| code(name)).collect::<Vec<_>>();
        let (summary, source) = (preset.summary.to_owned(), preset.source.to_owned());
        [code(preset.name), protocols.join(", "), set, summary, source]
    });
    table(page, ["preset", "protocols", "values", "description", "source"], rows);
}

const PRESETS: &str = "\
Software that studies used, by protocol: `preset.quic = \"quic-go-2020\"`. A preset is a set of values for \
the keys above. A key that the scenario sets, for all protocols, overrides the preset. Without a preset, the \
defaults apply.";

/// Link and access keys: a table for each key, with its models.
fn links(keys: &[Key], page: &mut String) {
    page.push_str(
        "\n## `[link]`\n\nThe link that all phones share. The keys apply to both directions; \
         `[link.up]` (from the phones) and `[link.down]` (from the server) take the same keys and \
         set only one direction. `[access]` takes them too: a separate link for each phone, \
         between it and the shared link.\n",
    );
    for key in below(keys, "link", 2).into_iter().filter(|key| !is_table(key)) {
        let name = short(&key.path);
        writeln!(page, "\n### `{name}`: {}\n", key.help).unwrap();
        let models = below(keys, &key.path, 3);
        // A model with the name of its key is written as a plain value.
        let plain_path = format!("{}.{name}", key.path);
        let plain = models.iter().find(|model| model.path == plain_path);
        let help = plain.map_or(&key.help, |plain| &plain.help).clone();
        let mut rows = vec![row(name, &Key { help, ..key.clone() })];
        for model in &models {
            let parameters = below(keys, &model.path, 4);
            if model.path != plain_path {
                rows.push(row(short(&model.path), model));
            } else if parameters.len() == 1 {
                continue;
            }
            rows.extend(parameters.iter().map(|p| row(short(&p.path), p)));
        }
        table(page, COLUMNS, rows.into_iter());
    }
}

/// A table of the scenario whose keys are in one table of the page.
fn section(keys: &[Key], name: &str, text: &str, page: &mut String) {
    write!(page, "\n## `[{name}]`\n\n{text}\n\n").unwrap();
    let prefix = format!("{name}.");
    let rows = below(keys, name, 2).into_iter();
    table(page, COLUMNS, rows.map(|key| row(key.path.trim_start_matches(&prefix), key)));
}

const ENVIRONMENT: &str = "\
Changes during a run. They are drawn from the seed before the run begins, so run k of every cell has the same \
changes. `run --out DIR` writes them to `DIR/timelines`, in the format of `timeline`. `reconnections` and \
`seek` are for workloads that play or reconnect: `streaming`.";

const INFERENCE: &str = "\
The inference: a background process on the clients' machine, beside the communication (emulated and live \
substrate). It begins before the run and ends with it; if it fails, the run fails. With this table, of any \
kind, resource usage is measured every second.";

const RADIO: &str = "\
A ride along a track with the base stations of one or two operators, each with a separate link. Rate, delay, \
loss and handovers come from a radio model, drawn from the seed, or from a recorded timeline. It replaces \
`[link]` and `[second-link]`.";

/// The keys below `path` that have this number of components.
fn below<'a>(keys: &'a [Key], path: &str, components: usize) -> Vec<&'a Key> {
    let prefix = format!("{path}.");
    let is_below =
        |key: &&Key| key.path.starts_with(&prefix) && key.path.split('.').count() == components;
    keys.iter().filter(is_below).collect()
}

fn short(path: &str) -> &str {
    path.strip_prefix("link.").unwrap_or(path)
}

/// Whether a key is a table such as `[link.up]`.
fn is_table(key: &Key) -> bool {
    let inner = key.example.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|name| !name.contains(['[', '"', ',']))
}

fn workloads(keys: &[Key], page: &mut String) {
    page.push_str("\n## `[workload]`\n");
    for workload in trackbed_workloads::registry() {
        let name = workload.name;
        write!(page, "\n### `kind = \"{name}\"`\n\n{}\n\n", sentence(workload.summary)).unwrap();
        let start = format!("{name}: ");
        let rows = keys.iter().filter(|key| key.path != "workload.kind").filter_map(|key| {
            let short = key.path.strip_prefix("workload.")?;
            let help = key.help.strip_prefix(&start)?.to_owned();
            Some(row(short, &Key { help, ..key.clone() }))
        });
        table(page, COLUMNS, rows);
    }
}

fn congestion(page: &mut String) {
    page.push_str("\n## Congestion control\n\n");
    let rows = trackbed_protocols::congestion()
        .iter()
        .map(|entry| [code(entry.name), entry.of.transport().to_owned(), entry.summary.to_owned()]);
    table(page, ["name", "transport", "description"], rows);
}

fn schedulers(page: &mut String) {
    page.push_str(
        "\n## Schedulers\n\nThe path of a multipath connection that carries the next data.\n\n",
    );
    let rows = trackbed_tcp::schedulers::algorithms()
        .iter()
        .map(|entry| [code(entry.name), entry.summary.to_owned(), entry.source.to_owned()]);
    table(page, ["name", "description", "source"], rows);
    let of_quic: Vec<String> =
        trackbed_protocols::quic_schedulers().iter().map(|entry| code(entry.name)).collect();
    page.push_str(&format!("\nOf these `mpquic` has {}.\n", of_quic.join(" and ")));
    let parameters = trackbed_tcp::schedulers::algorithms().iter().flat_map(|entry| {
        entry.parameters.iter().map(|parameter| {
            let default = parameter.otherwise.default_text().map_or(String::new(), code);
            [code(entry.name), code(parameter.name), default, parameter.help.to_owned()]
        })
    });
    page.push('\n');
    table(page, ["scheduler", "parameter", "default", "meaning"], parameters);
}

fn metrics(page: &mut String) {
    page.push_str(
        "\n## Metrics\n\nA name ends in its unit: `_ms`, `_mbps` (10^6 bit/s), `_bytes`, \
         `_percent`, `_count`, `_celsius`, `_watts`; a `_ratio` is between 0 and 1. A run without samples of a \
         metric does not have that metric.\n\n",
    );
    let metrics = trackbed_measure::metrics::registry().iter();
    let rows = metrics.map(|metric| [code(metric.name), metric.help.to_owned()]);
    table(page, ["name", "meaning"], rows);
}

const COLUMNS: [&str; 5] = ["key", "syntax", "default", "sweeps", "meaning"];

fn row(name: &str, key: &Key) -> [String; 5] {
    let help = if key.required { format!("required: {}", key.help) } else { key.help.clone() };
    [
        code(name),
        code(&key.example),
        key.default.as_deref().map_or_else(String::new, code),
        if key.sweeps { "yes" } else { "no" }.to_owned(),
        help,
    ]
}

fn table<const N: usize>(
    page: &mut String,
    titles: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    writeln!(page, "| {} |", titles.join(" | ")).unwrap();
    writeln!(page, "|{}", " --- |".repeat(N)).unwrap();
    for row in rows {
        let cells = row.map(|cell| cell.replace('|', "\\|"));
        writeln!(page, "| {} |", cells.join(" | ")).unwrap();
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
