//! curl, and clients that take its command line: they fetch the files of a site one after another.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use trackbed_core::Time;
use trackbed_linux::unprivileged::{User, demote};

use super::{ClientProgram, Does, Fetched, Session, Visit, Visited};
use crate::error::ProgramError;
use crate::program::{About, Launch};

pub(super) struct Curl(About);

pub(super) const CURL: Curl = Curl(About {
    name: "curl",
    summary: "curl; it fetches the workload's files one after another, on one connection",
    package: Some("curl"),
    executables: &["curl"],
    speaks: &["http1", "http2", "http3"],
});

pub(super) const QUIC_GO: Curl = Curl(About {
    name: "quic-go",
    summary: "quic-go's client of HTTP/3; it fetches as curl does",
    package: None,
    executables: &["trackbed-quic-go"],
    speaks: &["http3"],
});

pub(super) const AIOQUIC: Curl = Curl(About {
    name: "aioquic",
    summary: "aioquic's client of HTTP/3; it fetches as curl does",
    executables: &["trackbed-aioquic"],
    ..QUIC_GO.0
});

pub(super) const QUICHE: Curl = Curl(About {
    name: "quiche",
    summary: "quiche's client of HTTP/3; it fetches as curl does",
    executables: &["trackbed-quiche"],
    ..QUIC_GO.0
});

impl ClientProgram for Curl {
    fn about(&self) -> &About {
        &self.0
    }

    fn does(&self) -> Does {
        Does::FetchesFiles
    }

    /// Only some builds support HTTP/3.
    fn check(&self, executable: &Path, protocol: &str) -> Result<(), String> {
        let feature = match (self.0.name, protocol) {
            ("curl", "http2") => "HTTP2",
            ("curl", "http3") => "HTTP3",
            _ => return Ok(()),
        };
        let mut command = Command::new(executable);
        if let Some(user) = User::in_place_of_root() {
            demote(&mut command, user);
        }
        let asked = command.arg("--version").stdin(Stdio::null()).output();
        let said = asked.map_err(|why| format!("{} does not run: {why}", executable.display()))?;
        let said = String::from_utf8_lossy(&said.stdout);
        let features = said.lines().find_map(|line| line.strip_prefix("Features:"));
        if features.unwrap_or_default().split_whitespace().any(|found| found == feature) {
            return Ok(());
        }
        Err(format!(
            "{} was built without {feature}\n  help: put a curl with it first in PATH \
             (check with curl --version), or write client = \"chromium\"",
            executable.display()
        ))
    }

    fn prepare(&self, visit: &Visit<'_>) -> Result<Launch, ProgramError> {
        let version = match visit.protocol {
            "http1" => "--http1.1",
            "http3" => "--http3-only",
            _ => "--http2",
        };
        let Visit { address, port, name, .. } = visit;
        // --disable must come first, so that the user's .curlrc is not read.
        let words = format!(
            "--disable {version} --silent --show-error --noproxy * --resolve {name}:{port}:{address} --cacert"
        );
        let mut arguments: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        arguments.extend([visit.certificate.clone().into(), "--write-out".into()]);
        arguments.push("%{json}\n".into());
        for wanted in visit.wanted {
            arguments.extend(["--output", "/dev/null"].map(OsString::from));
            arguments.push(visit.url(&wanted.path).into());
        }
        Ok(Launch::new(arguments, None, visit.port))
    }

    fn session(&self, visit: &Visit<'_>) -> Option<Box<dyn Session>> {
        let paths = visit.wanted.iter().map(|wanted| wanted.path.clone()).collect();
        Some(Box::new(Report { paths, said: Vec::new() }))
    }
}

/// Its report after each file.
struct Report {
    paths: Vec<String>,
    said: Vec<u8>,
}

/// A line of it (curl(1), `--write-out`): times are seconds since the start of this transfer.
#[derive(Deserialize)]
struct Transfer {
    /// The index of the URL.
    urlnum: usize,
    response_code: u16,
    http_version: String,
    size_download: u64,
    time_pretransfer: f64,
    time_starttransfer: f64,
    time_total: f64,
    /// When it began, on `CLOCK_MONOTONIC`, from programs that take long to start.
    began: Option<f64>,
}

impl Session for Report {
    fn say(&mut self) -> Option<Vec<u8>> {
        None
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.said.extend_from_slice(bytes);
        Ok(())
    }

    /// A transfer starts when the previous one has ended.
    fn finish(self: Box<Self>) -> Result<Visited, String> {
        let mut fetched = Vec::new();
        let (mut begin, mut began) = (0.0, None);
        for line in self.said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let transfer: Transfer = serde_json::from_slice(line)
                .map_err(|why| format!("curl's report cannot be parsed: {why}"))?;
            let path = self.paths.get(transfer.urlnum).cloned();
            let at = |seconds: f64| {
                Duration::try_from_secs_f64(begin + seconds)
                    .map_err(|why| format!("curl reports an invalid time: {why}"))
            };
            fetched.push(Fetched {
                path: path.ok_or("curl reports an unexpected transfer")?,
                protocol: protocol(&transfer.http_version),
                status: transfer.response_code,
                bytes: transfer.size_download,
                found: at(0.0)?,
                requested: at(transfer.time_pretransfer)?,
                first_byte: at(transfer.time_starttransfer)?,
                done: at(transfer.time_total)?,
            });
            begin += transfer.time_total;
            began = began.or(transfer.began);
        }
        let began = began.map(|seconds| Time::from_nanos((seconds * 1e9) as u64));
        Ok(Visited { begin: began, fetched, page: None })
    }
}

fn protocol(version: &str) -> String {
    match version {
        "1.1" => "http1".to_owned(),
        "2" => "http2".to_owned(),
        "3" => "http3".to_owned(),
        other => format!("HTTP/{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Wanted;
    use super::super::visit::tests::visit;
    use super::*;

    #[test]
    fn its_report_becomes_times_from_the_beginning() {
        let wanted = ["/a", "/b"].map(|path| Wanted { path: path.to_owned(), bytes: 5 });
        let visit = visit("http2", &wanted);
        let launch = CURL.prepare(&visit).unwrap();
        let words: Vec<_> = launch.arguments.iter().map(|word| word.to_string_lossy()).collect();
        let words = words.join(" ");
        assert!(words.contains("--http2 ") && words.contains("server.test:443:10.0.0.1"));
        assert!(words.contains("https://server.test:443/a ") && words.ends_with("/b"), "{words}");
        let mut report = CURL.session(&visit).unwrap();
        let line = |number, pretransfer, start, total| {
            format!(
                "{{\"urlnum\":{number},\"response_code\":200,\"http_version\":\"2\",\
                 \"size_download\":5,\"time_pretransfer\":{pretransfer},\
                 \"time_starttransfer\":{start},\"time_total\":{total},\"began\":{number}.5}}\n"
            )
        };
        let said = line(0, 0.4, 0.6, 0.75) + &line(1, 0.0, 0.25, 0.5);
        let (front, behind) = said.split_at(100);
        report.hear(front.as_bytes()).unwrap();
        report.hear(behind.as_bytes()).unwrap();
        assert_eq!(report.say(), None);
        let visited = visit.judge(report.finish().unwrap()).unwrap();
        assert_eq!(visited.begin, Some(Time::from_nanos(500_000_000)));
        let millis = |at: fn(&Fetched) -> Duration| {
            visited.fetched.iter().map(|f| at(f).as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(millis(|f| f.requested), [400, 750]);
        assert_eq!(millis(|f| f.first_byte), [600, 1_000]);
        assert_eq!(millis(|f| f.done), [750, 1_250]);
    }

    #[test]
    fn nonsense_is_told() {
        let mut report = CURL.session(&visit("http1", &[])).unwrap();
        report.hear(b"curl: it went wrong\n").unwrap();
        assert!(report.finish().unwrap_err().contains("cannot be parsed"));
    }
}
