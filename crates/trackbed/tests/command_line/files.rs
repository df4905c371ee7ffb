//! Files as the programs of others open them: Parquet in DuckDB, what the page about files shows, and the
//! notebook. Needs Python packages, and R; where they are missing, these tests say so and pass; with `CI=true`
//! that is a failure.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

#[cfg(feature = "parquet")]
#[test]
#[ignore = "thorough: Python and R"]
fn duckdb_finds_in_parquet_what_is_in_csv_and_the_page_shows_what_works() {
    let Some(python) = python(&["duckdb", "pandas"]) else { return };
    let folder = Folder::new("tables");
    folder.run("results", "0,2% --runs 5");
    for table in ["samples", "runs", "cells", "differences"] {
        for format in ["csv", "parquet"] {
            let words = format!("--table {table} --format {format} --out {table}.{format}");
            folder.trackbed(&format!("export results {words}"));
        }
    }
    let text = folder.python(&python, "tables.py", &[&folder.0, &repository("docs/files.md")]);
    assert!(text.contains("samples: ") && text.contains("'loss': 'DOUBLE'"), "{text}");
}

#[test]
#[ignore = "thorough: Python and R"]
fn the_notebook_runs_through_and_agrees_with_the_document() {
    let modules = ["nbclient", "nbformat", "ipykernel", "pandas", "matplotlib"];
    let Some(python) = python(&modules) else { return };
    let folder = Folder::new("notebook");
    folder.run("results", "2% --runs 40");
    let text = folder.python(&python, "notebook.py", &[&repository("examples/results.ipynb")]);
    assert!(text.contains("2 cells, 40 runs each"), "{text}");
    assert!(text.contains("corrected for skewness (run.json)"), "{text}");
    assert!(text.ends_with("figures: 3\n"), "{text}");
}

#[test]
#[ignore = "thorough: Python and R"]
fn r_finds_the_means_of_the_document_as_the_page_shows() {
    let mut probe = Command::new("Rscript");
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        return skip("Rscript is missing: install r-base-core");
    }
    let folder = Folder::new("r");
    folder.run("results", "0,2% --runs 5");
    let page = fs::read_to_string(repository("docs/files.md")).unwrap();
    let [_, after] = page.split("```r\n").collect::<Vec<_>>()[..] else { panic!("one block of R") };
    let (shown, _) = after.split_once("```").unwrap();
    let written = "write.csv(do.call(data.frame, cells), 'cells.csv', quote = FALSE)";
    fs::write(folder.0.join("page.R"), format!("{shown}\noptions(digits = 15)\n{written}\n"))
        .unwrap();
    let text = succeed(Command::new("Rscript").arg("page.R").current_dir(&folder.0));
    assert!(text.contains("value.mean"), "{text}");

    let document = fs::read_to_string(folder.0.join("results/run.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let of_r = fs::read_to_string(folder.0.join("cells.csv")).unwrap();
    let of_r: Vec<Vec<&str>> = of_r.lines().skip(1).map(|row| row.split(',').collect()).collect();
    assert_eq!(of_r.len(), 4);
    for cell in document["cells"].as_array().unwrap() {
        let factors = &cell["factors"];
        let is_it = |row: &&Vec<&str>| {
            factors["protocol"] == row[1] && factors["loss"].as_f64() == row[2].parse().ok()
        };
        let row = of_r.iter().find(is_it).unwrap_or_else(|| panic!("{factors}"));
        let [mean, n] = [row[3], row[5]].map(|text| text.parse::<f64>().unwrap());
        let ours = cell["metrics"]["rtt_ms"]["mean"].as_f64().unwrap();
        assert!((mean - ours).abs() <= 1e-9 * ours, "{factors}: {mean} {ours}");
        assert_eq!(n, 5.0);
    }
}

/// A folder of the test's own, gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("trackbed-files-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A run directory of two protocols with these losses.
    fn run(&self, name: &str, words: &str) {
        let cells = "--set protocol=quic,http2 --set tls=1.3 --set handshake=new";
        self.trackbed(&format!("run vru {cells} --out {name} --set link.loss={words}"));
    }

    fn trackbed(&self, words: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
        succeed(command.args(words.split_whitespace()).current_dir(&self.0));
    }

    /// What a script beside this file prints.
    fn python(&self, python: &OsString, script: &str, arguments: &[&Path]) -> String {
        let script = repository("crates/trackbed/tests/data").join(script);
        let mut command = Command::new(python);
        command.arg(script).args(arguments).current_dir(&self.0);
        succeed(command.env("TRACKBED_RESULTS", "results"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().unwrap()
}

fn succeed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The Python that has these modules.
fn python(modules: &[&str]) -> Option<OsString> {
    let environment = std::env::var_os("VIRTUAL_ENV")
        .map(|folder| PathBuf::from(folder).join("bin/python3").into_os_string());
    let python =
        std::env::var_os("TRACKBED_PYTHON").or(environment).unwrap_or_else(|| "python3".into());
    let question = format!(
        "import importlib.util, sys\nsys.exit(not all(map(importlib.util.find_spec, {modules:?})))"
    );
    let mut probe = Command::new(&python);
    probe.args(["-c", &question]).stdout(Stdio::null()).stderr(Stdio::null());
    if probe.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    skip(&format!("Python has not all of {modules:?}: pip install {}", modules.join(" ")));
    None
}

fn skip(why: &str) {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!is_ci, "CI=true allows no skipped test: {why}");
    eprintln!("SKIPPED: {why}");
}
