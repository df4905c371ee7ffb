//! Checks that `docs/reference.md` matches the registries.
//!
//! After a change of a registry, `cargo xtask reference` updates the page.

use trackbed_connection::Transport;
use trackbed_programs::About;
use trackbed_scenario::{self as scenario, Key};
use trackbed_workloads::Workload;

use super::*;

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

/// The page with a table, or sections of tables, for each name in braces.
fn page() -> String {
    let keys = scenario::reference();
    let top = keys.iter().filter(|key| !key.path.contains('.') && !is_table(key));
    let of_quic = trackbed_protocols::quic_schedulers().iter().map(|entry| code(entry.name));
    let parts = [
        ("scenarios", scenarios()),
        ("protocols", protocols()),
        ("servers", servers()),
        ("clients", clients()),
        ("top", table(COLUMNS, top.map(|key| row(&key.path, key)))),
        ("preset keys", keys_of(&keys, "preset")),
        ("presets", presets()),
        ("links", links(&keys)),
        ("medium", media(&keys)),
        (
            "groups",
            table(COLUMNS, below(&keys, "group", 3).into_iter().map(|key| row(&key.path, key))),
        ),
        ("environment", keys_of(&keys, "environment")),
        ("radio", keys_of(&keys, "radio")),
        ("inference", keys_of(&keys, "inference")),
        ("workloads", workloads(&keys)),
        ("congestion", congestion()),
        ("schedulers", schedulers()),
        ("schedulers of QUIC", of_quic.collect::<Vec<_>>().join(" and ")),
        ("parameters", scheduler_parameters()),
        ("metrics", metrics()),
    ];
    let page = include_str!("../data/reference.md").to_owned();
    parts.iter().fold(page, |page, (name, text)| page.replace(&format!("{{{name}}}"), text))
}

fn scenarios() -> String {
    let rows = scenario::built_in().iter().map(|entry| [code(entry.name), entry.summary()]);
    table(["name", "what it compares"], rows)
}

fn protocols() -> String {
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
    table(["name", "transport", "TLS", "handshakes", "description"], rows)
}

fn servers() -> String {
    let rows = trackbed_programs::registry().iter().map(|program| {
        let [name, speaks, package, summary] = program_row(program.about());
        [name, speaks, package, program.port().to_string(), summary]
    });
    table(["name", "protocols", "Debian package", "port", "description"], rows)
}

fn clients() -> String {
    let rows = trackbed_programs::clients::registry().iter();
    let rows = rows.map(|program| program_row(program.about()));
    table(["name", "protocols", "Debian package", "description"], rows)
}

fn program_row(about: &About) -> [String; 4] {
    let package = code(about.package.unwrap_or_default());
    [code(about.name), about.speaks.join(", "), package, about.summary.to_owned()]
}

fn presets() -> String {
    let rows = trackbed_protocols::presets().iter().map(|preset| {
        let set = preset.values.iter().map(|(key, value)| code(&format!("{key} = {value}")));
        let set = set.collect::<Vec<_>>().join(", ");
        let protocols = preset.protocols.iter().map(|name| code(name)).collect::<Vec<_>>();
        let (summary, source) = (preset.summary.to_owned(), preset.source.to_owned());
        [code(preset.name), protocols.join(", "), set, summary, source]
    });
    table(["preset", "protocols", "values", "description", "source"], rows)
}

/// Link and access keys: a table for each key, with its models.
fn links(keys: &[Key]) -> String {
    let of_key = |key: &&Key| {
        let name = short(&key.path);
        let models = below(keys, &key.path, 3);
        // A model with the name of its key is written as a plain value.
        let plain_path = format!("{}.{name}", key.path);
        let plain = models.iter().find(|model| model.path == plain_path);
        let help = plain.map_or(&key.help, |plain| &plain.help).clone();
        let mut rows = vec![row(name, &Key { help, ..(*key).clone() })];
        for model in &models {
            let parameters = below(keys, &model.path, 4);
            if model.path != plain_path {
                rows.push(row(short(&model.path), model));
            } else if parameters.len() == 1 {
                continue;
            }
            rows.extend(parameters.iter().map(|p| row(short(&p.path), p)));
        }
        format!("### `{name}`: {}\n\n{}", key.help, table(COLUMNS, rows.into_iter()))
    };
    let keys = below(keys, "link", 2);
    let sections: Vec<String> = keys.iter().filter(|key| !is_table(key)).map(of_key).collect();
    sections.join("\n\n")
}

fn media(keys: &[Key]) -> String {
    let of = |medium: &&Key| {
        let rows = below(keys, &medium.path, 3).into_iter();
        let prefix = format!("{}.", medium.path);
        let rows = table(COLUMNS, rows.map(|key| row(key.path.trim_start_matches(&prefix), key)));
        format!("### `[{}]`\n\n{}\n\n{rows}", medium.path, sentence(&medium.help))
    };
    below(keys, "medium", 2).iter().map(of).collect::<Vec<_>>().join("\n\n")
}

/// The keys of a table of the scenario.
fn keys_of(keys: &[Key], name: &str) -> String {
    let prefix = format!("{name}.");
    let rows = below(keys, name, 2).into_iter();
    table(COLUMNS, rows.map(|key| row(key.path.trim_start_matches(&prefix), key)))
}

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

fn workloads(keys: &[Key]) -> String {
    let of_kind = |workload: &&Workload| {
        let (name, start) = (workload.name, format!("{}: ", workload.name));
        let rows = keys.iter().filter(|key| key.path != "workload.kind").filter_map(|key| {
            let short = key.path.strip_prefix("workload.")?;
            let help = key.help.strip_prefix(&start)?.to_owned();
            Some(row(short, &Key { help, ..key.clone() }))
        });
        let (summary, rows) = (sentence(workload.summary), table(COLUMNS, rows));
        format!("### `kind = \"{name}\"`\n\n{summary}\n\n{rows}")
    };
    trackbed_workloads::registry().iter().map(of_kind).collect::<Vec<_>>().join("\n\n")
}

fn congestion() -> String {
    let rows = trackbed_protocols::congestion()
        .iter()
        .map(|entry| [code(entry.name), entry.of.transport().to_owned(), entry.summary.to_owned()]);
    table(["name", "transport", "description"], rows)
}

fn schedulers() -> String {
    let rows = trackbed_tcp::schedulers::algorithms()
        .iter()
        .map(|entry| [code(entry.name), entry.summary.to_owned(), entry.source.to_owned()]);
    table(["name", "description", "source"], rows)
}

fn scheduler_parameters() -> String {
    let parameters = trackbed_tcp::schedulers::algorithms().iter().flat_map(|entry| {
        entry.parameters.iter().map(|parameter| {
            let default = parameter.otherwise.default_text().map_or(String::new(), code);
            [code(entry.name), code(parameter.name), default, parameter.help.to_owned()]
        })
    });
    table(["scheduler", "parameter", "default", "meaning"], parameters)
}

fn metrics() -> String {
    let metrics = trackbed_measure::metrics::registry().iter();
    let rows = metrics.map(|metric| [code(metric.name), metric.help.to_owned()]);
    table(["name", "meaning"], rows)
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

fn table<const N: usize>(titles: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut lines = vec![format!("| {} |", titles.join(" | ")), format!("|{}", " --- |".repeat(N))];
    let cells = rows.map(|row| row.map(|cell| cell.replace('|', "\\|")).join(" | "));
    lines.extend(cells.map(|cells| format!("| {cells} |")));
    lines.join("\n")
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
