//! The HTTP/2 server against h2spec, the conformance suite of RFC 7540 and RFC 7541.

use std::sync::Mutex;

use futures_util::StreamExt as _;

use crate::support::*;

#[test]
fn nothing_deviates_from_the_specification() {
    let Some(h2spec) = provide(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let (cases, said) = judge(&h2spec, &Server::start("http2", answer), &["--timeout", "10"]);
    assert!(cases.len() >= CASES_MIN, "only {} cases: {said}", cases.len());
    let failed: Vec<_> = cases.iter().filter(|case| !case.passed).collect();
    assert!(failed.is_empty(), "{failed:#?}\n{said}");
}

/// Checks that the suite detects an error.
#[test]
fn a_server_that_never_answers_fails() {
    let Some(h2spec) = provide(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let silent = Server::start("http2", |_: Request| std::future::pending::<Response>());
    let (cases, said) = judge(&h2spec, &silent, &["generic/4", "--timeout", "1"]);
    assert!(!cases.is_empty() && cases.iter().all(|case| !case.passed), "{said}");
}

/// The results of h2spec for `server` in the sections named by `words`, or in all.
fn judge(h2spec: &Path, server: &Server, words: &[&str]) -> (Vec<Case>, String) {
    let report = file(b"");
    let run = Command::new(h2spec)
        .args(["--strict", "--tls", "--insecure"])
        .args(["--host", &server.address.ip().to_string()])
        .args(["--port", &server.address.port().to_string()])
        .arg("--junit-report")
        .arg(report.path())
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    let text = fs::read_to_string(&report).unwrap();
    assert!(!text.is_empty(), "{said}");
    (cases(&text), said)
}

/// Takes any request in before it answers.
async fn answer(mut request: Request) -> Response {
    while let Some(Ok(_)) = request.body.next().await {}
    Response { status: 200, body: body::full(&b"Here is more than one octet of content.\n"[..]) }
}

/// A case of the suite.
#[derive(Debug)]
#[expect(dead_code, reason = "shown if a case fails")]
struct Case {
    /// The section of the specification, as h2spec names it.
    section: String,
    title: String,
    passed: bool,
}

/// The cases of a JUnit report as h2spec writes it.
fn cases(report: &str) -> Vec<Case> {
    let attribute = |case: &str, name: &str| {
        let (_, value) = case.split_once(&format!("{name}=\"")).unwrap();
        unescape(value.split_once('"').unwrap().0)
    };
    report
        .split("<testcase ")
        .skip(1)
        .map(|case| Case {
            section: attribute(case, "package"),
            title: attribute(case, "classname"),
            passed: !["<failure", "<error", "<skipped"].iter().any(|mark| case.contains(mark)),
        })
        .collect()
}

fn unescape(text: &str) -> String {
    [("&#39;", "'"), ("&#34;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (escaped, meant)| text.replace(escaped, meant))
}

/// h2spec from `PATH`, or else built from its source in `folder`.
fn provide(folder: &Path) -> Option<PathBuf> {
    // Two tests may want it at once.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock();
    let built = folder.join("h2spec");
    let found = look_for("h2spec").or_else(|| Some(built.clone()).filter(|path| path.is_file()));
    if found.is_some() {
        return found;
    }
    let Some(go) = look_for("go") else {
        skip("there is neither h2spec nor a Go compiler (golang.org) to build it with");
        return None;
    };
    let build = Command::new(go)
        .args(["install", SOURCE])
        .env("GOBIN", folder)
        .env("GOFLAGS", "-mod=mod")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if !build.status.success() {
        let said = String::from_utf8_lossy(&build.stderr).into_owned();
        skip(format!("h2spec cannot be built, since Go says: {said}"));
        return None;
    }
    Some(built)
}

const SOURCE: &str = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible";

/// As many as h2spec 2.2 has, strict ones included.
const CASES_MIN: usize = 146;
