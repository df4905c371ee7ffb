//! Suites that write a report of their cases.

use std::fs;

use super::{Bench, Case, failure, shell};

/// The cases of h2spec, from its report in the form of JUnit.
pub fn h2spec(bench: &Bench, program: &str) -> Result<Vec<Case>, String> {
    let report = bench.path("h2spec.xml");
    let command = format!(
        "{program} -h {{address}} -p {{port}} -P /messages/0/0 -t -k --junit-report {}",
        report.display()
    );
    let cells = bench.cells(&["runs=1", "protocol=http2", &format!("client-command={command}")])?;
    let text = fs::read_to_string(report).map_err(|_| nothing(&cells))?;
    Ok(text.split("<testcase ").skip(1).map(of_junit).collect())
}

/// `package="generic/1" classname="NAME" time="0.1"><error>...</error></testcase>`
fn of_junit(text: &str) -> Case {
    let attribute = |name: &str| {
        let (_, rest) = text.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    let name = ["package", "classname"].map(|name| attribute(name).unwrap_or_default()).join(": ");
    let (case, _) = text.split_once("</testcase>").unwrap_or((text, ""));
    let failure = ["error", "failure"].iter().find_map(|tag| {
        let (_, rest) = case.split_once(&format!("<{tag}>"))?;
        rest.split_once("</")?.0.lines().next_back().map(|line| format!("Trackbed sent: {line}"))
    });
    Case { name, failure }
}

/// The cases of our script with aioquic.
pub fn http3(bench: &Bench, _: &str) -> Result<Vec<Case>, String> {
    script(bench, "http3.py", &["protocol=http3"])
}

/// The cases of Paho's suite for brokers.
pub fn paho(bench: &Bench, _: &str) -> Result<Vec<Case>, String> {
    script(bench, "paho.py", &["protocol=mqtt"])
}

/// The cases of tlsfuzzer's scripts, whose clients know RSA.
pub fn tls(bench: &Bench, _: &str) -> Result<Vec<Case>, String> {
    let path = bench.path("rsa.pem").display().to_string();
    let options = "-days 7 -subj /CN=server.test -addext subjectAltName=DNS:server.test";
    shell(&format!(
        "openssl req -x509 -newkey rsa:2048 -nodes {options} -keyout {path} >> {path}"
    ))?;
    let groups = "server-key-exchange=x25519:secp256r1:X25519MLKEM768:SecP256r1MLKEM768";
    script(bench, "tls.py", &["protocol=http1", groups, &format!("certificate={path}")])
}

fn script(bench: &Bench, script: &str, settings: &[&str]) -> Result<Vec<Case>, String> {
    let (script, report) = (bench.path(script), bench.path(script).with_extension("txt"));
    let words = format!("{} {{address}} {{port}} {}", script.display(), report.display());
    let cells = bench.cells(&[settings, &[&format!("client-command={words}")]].concat())?;
    let text = fs::read_to_string(report).map_err(|_| nothing(&cells))?;
    Ok(text.lines().filter_map(of_line).collect())
}

/// `passed NAME` or `failed NAME: WHY`
fn of_line(line: &str) -> Option<Case> {
    let (name, failure) = match line.split_once(' ')? {
        ("passed", name) => (name, None),
        ("failed", rest) => {
            rest.rsplit_once(": ").map(|(name, why)| (name, Some(why.to_owned())))?
        }
        _ => return None,
    };
    Some(Case { name: name.to_owned(), failure })
}

fn nothing(cells: &[serde_json::Value]) -> String {
    let why = cells.first().and_then(failure).unwrap_or_default();
    format!("there is no report: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let case =
            of_junit("package=\"p\" classname=\"a\">\n<error>GOAWAY\nDATA</error></testcase>");
        assert_eq!(case.name, "p: a");
        assert_eq!(case.failure.as_deref(), Some("Trackbed sent: DATA"));
        assert!(of_junit("classname=\"b\"></testcase>\n<error>x</error>").failure.is_none());
        let failed = of_line("failed a: b: reset 0x1").unwrap();
        assert_eq!((failed.name.as_str(), failed.failure.as_deref()), ("a: b", Some("reset 0x1")));
        assert!(of_line("passed a").unwrap().failure.is_none());
    }
}
