//! The cases of the QUIC interop runner, and others, on an emulated link.

use serde_json::Value;

use super::{Bench, Case, failure};

/// Trackbed's client at servers of other stacks, over plain streams and HTTP/3.
pub fn servers(bench: &Bench) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (name, settings, is_seen) in AT_SERVERS {
        let settings = [&["server=quic-go,aioquic", "protocol=quic,http3"], *settings].concat();
        cases.extend(bench.cells(&settings)?.iter().map(|cell| of_cell(name, cell, *is_seen)));
    }
    for server in ["quic-go", "aioquic"] {
        let command = format!(
            "server-command=trackbed-{server} -retry -address {{address}}:{{port}} -certificate {{certificate}} -key \
             {{key}} -site {{site}}"
        );
        let cells = bench.cells(&[&command, "protocol=quic,http3", "link.loss=5%"])?;
        cases.extend(cells.iter().map(|cell| of_cell(&format!("retry, {server}"), cell, None)));
    }
    Ok(cases)
}

fn of_cell(name: &str, cell: &Value, is_seen: Option<(&str, f64)>) -> Case {
    let factors = ["server", "protocol"].map(|key| cell["factors"][key].as_str());
    let all: Vec<&str> = [Some(name)].into_iter().chain(factors).flatten().collect();
    let unseen = is_seen.and_then(|(metric, least)| {
        let value = cell["metrics"][metric]["max"].as_f64().unwrap_or(0.0);
        (value < least).then(|| format!("{metric} is {value}"))
    });
    Case { name: all.join(", "), failure: failure(cell).or(unseen) }
}

/// Name, settings, and the least value of a metric that shows it.
type AtServers = (&'static str, &'static [&'static str], Option<(&'static str, f64)>);

const REORDERED: &str =
    "link.reordering={ reordering = { reordering = \"20 %\", hold = \"5 ms\" } }";
const BULK: &str = "workload={ kind = \"bulk\", size = \"500 kB\" }";

const AT_SERVERS: &[AtServers] = &[
    ("handshake", &["handshake=new"], None),
    ("resumption", &["handshake=resumed"], Some(("resumed_ratio", 1.0))),
    ("0-RTT", &["handshake=early"], Some(("early_data_ratio", 1.0))),
    ("AES-128-GCM", &["cipher=aes128gcm"], None),
    ("AES-256-GCM", &["cipher=aes256gcm"], None),
    ("ChaCha20", &["cipher=chacha20poly1305"], None),
    ("long round trip", &["link.delay=750ms", "workload.count=1"], None),
    ("multiplexing", &["workload={ kind = \"page\" }"], Some(("objects_count", 8.0))),
    ("transfer", &[BULK], None),
    ("handshakes with 30 % loss", &["link.loss=30%", "workload.count=1", "runs=4"], None),
    ("transfer with 2 % loss", &["link.loss=2%", BULK], None),
    ("handshakes with 30 % damage", &["link.corruption=30%", "workload.count=1", "runs=4"], None),
    ("transfer with 2 % damage", &["link.corruption=2%", BULK], None),
    ("0-RTT with 10 % loss", &["handshake=early", "link.loss=10%", "runs=4"], None),
    ("blackhole for 2 s", &["link.outage=[[\"100 ms\", \"2100 ms\"]]", BULK], None),
    ("reordering", &[REORDERED, BULK], None),
    ("duplication", &["link.duplication=20%", BULK], None),
    ("packets of 1400 bytes", &["link.mtu=1400 B", BULK], None),
];

/// ngtcp2's client at Trackbed's server, over HTTP/3.
pub fn ngtcp2(bench: &Bench) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (name, options, seen, settings) in NGTCP2 {
        let folder = bench.path("ngtcp2");
        let path = folder.display();
        let client = "gtlsclient --exit-on-all-streams-close --no-http-dump --timeout=20s";
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
        let settings = [&["runs=1", command.as_str()], *settings].concat();
        let cells = bench.cells(&settings)?;
        let failure = cells.first().and_then(failure);
        cases.push(Case { name: (*name).to_owned(), failure });
    }
    Ok(cases)
}

/// Name, options of the client, what its log must contain, and settings.
const NGTCP2: &[(&str, &str, &str, &[&str])] = &[
    ("handshake", "", "HANDSHAKE_DONE", &[]),
    ("resumption", "KEPT --disable-early-data", "Handshake CRYPTO.*len=1..$", &[]),
    ("0-RTT", "KEPT", "tx 0 0RTT STREAM", &[]),
    (
        "ChaCha20",
        "--ciphers=NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+CHACHA20-POLY1305",
        "CHACHA",
        &[],
    ),
    ("key update", "--key-update=50ms --delay-stream=200ms", "rx .* type=1RTT k=1", &[]),
    (
        "port rebinding",
        "--change-local-addr=50ms --nat-rebinding --delay-stream=200ms",
        "PATH_CHALLENGE",
        &[],
    ),
    ("migration", "--change-local-addr=50ms --delay-stream=200ms", "PATH_RESPONSE", &[]),
    ("50 streams", "-n 50", "id=0xc4", &[]),
    ("another version first", "--version=0xbabababa --preferred-versions=v1", "status", &[]),
    ("long round trip", "--initial-rtt=2s", "status", &["link.delay=750ms"]),
    ("handshake with 30 % loss", "", "status", &["link.loss=30%"]),
    ("handshake with 30 % corruption", "", "status", &["link.corruption=30%"]),
    ("50 streams with 5 % loss", "-n 50", "status", &["link.loss=5%"]),
    (
        "blackhole for 2 s",
        "--delay-stream=200ms",
        "status",
        &["link.outage=[[\"150 ms\", \"2150 ms\"]]"],
    ),
    ("packets of 1280 bytes", "-n 50", "status", &["link.mtu=1280 B"]),
];
