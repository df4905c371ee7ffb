//! The cases of the QUIC interop runner, and others, on an emulated link.

use serde_json::Value;

use super::{Bench, Case, failure};

/// Trackbed's client at the server of another stack, over plain streams and HTTP/3.
pub fn server(bench: &Bench, program: &str) -> Result<Vec<Case>, String> {
    let server = program.trim_start_matches("trackbed-");
    let (protocols, resumes) = match server {
        "s2n-quic" => ("protocol=quic", false),
        _ => ("protocol=quic,http3", true),
    };
    let named = format!("server={server}");
    let mut cases = Vec::new();
    // Name, a metric that shows it with its least value, and settings.
    for row in rows(include_str!("at-servers.txt")) {
        let [name, is_seen, settings @ ..] = &row[..] else { return Err(row.concat()) };
        if !resumes
            && settings.iter().any(|set| ["handshake=resumed", "handshake=early"].contains(set))
        {
            continue;
        }
        let seen = is_seen.split_once(' ');
        let seen = seen.and_then(|(metric, least)| Some((metric, least.parse().ok()?)));
        let settings = [&[named.as_str(), protocols], settings].concat();
        cases.extend(bench.cells(&settings)?.iter().map(|cell| of_cell(name, cell, seen)));
    }
    let command = format!(
        "server-command={program} -retry -address {{address}}:{{port}} -certificate {{certificate}} -key {{key}} -site \
         {{site}}"
    );
    let cells = bench.cells(&[&command, protocols, "link.loss=5%"])?;
    cases.extend(cells.iter().map(|cell| of_cell("retry", cell, None)));
    Ok(cases)
}

fn of_cell(name: &str, cell: &Value, is_seen: Option<(&str, f64)>) -> Case {
    let all: Vec<&str> =
        [Some(name), cell["factors"]["protocol"].as_str()].into_iter().flatten().collect();
    let unseen = is_seen.and_then(|(metric, least)| {
        let value = cell["metrics"][metric]["max"].as_f64().unwrap_or(0.0);
        (value < least).then(|| format!("{metric} is {value}"))
    });
    Case { name: all.join(", "), failure: failure(cell).or(unseen) }
}

fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().map(|line| line.split(" | ").collect())
}

/// ngtcp2's client at Trackbed's server, over HTTP/3.
pub fn ngtcp2(bench: &Bench, program: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    // Name, options of the client, what its log must contain, and settings.
    for row in rows(include_str!("ngtcp2.txt")) {
        let [name, options, seen, settings @ ..] = &row[..] else { return Err(row.concat()) };
        let folder = bench.path("ngtcp2");
        let path = folder.display();
        let client = format!("{program} --exit-on-all-streams-close --no-http-dump --timeout=20s");
        let url = "{address} {port} https://server.test/messages/0/0";
        // A first connection leaves its session and its parameters.
        let kept = format!("--session-file={path}/session --tp-file={path}/parameters");
        let first = match options.contains("KEPT") {
            true => format!("{client} {kept} --delay-stream=200ms {url} > {path}/first 2>&1; "),
            false => String::new(),
        };
        let options = options.replace("KEPT", &kept);
        // The content of the message is refused, which is an answer. A resumed handshake has no certificate.
        let script = format!(
            "rm -rf {path}; mkdir {path}; {first}{client} {options} {url} > {path}/log 2>&1; \
             grep -qa \"status.*400\" {path}/log || {{ tail -n 1 {path}/log; exit 1; }}; \
             ! grep -qa rejected {path}/log && grep -qaE \"{seen}\" {path}/log || {{ echo no sign of {name}; exit 1; }}"
        );
        let command = format!("client-command=sh -c '{script}'");
        let settings = [&["runs=1", command.as_str()], settings].concat();
        let failure = bench.cells(&settings)?.first().and_then(failure);
        cases.push(Case { name: (*name).to_owned(), failure });
    }
    Ok(cases)
}
