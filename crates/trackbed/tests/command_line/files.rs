//! Files as third-party programs open them: Parquet in DuckDB, the examples of the page about files, and the
//! notebook. Needs Python packages and R; without them, these tests are skipped, or fail with `CI=true`.

use std::ffi::OsString;

use super::support::{printed, python, skip};
use super::*;

#[cfg(feature = "parquet")]
#[test]
#[ignore = "thorough: Python and R"]
fn duckdb_finds_in_parquet_what_is_in_csv_and_the_page_shows_what_works() {
    let Some(python) = python(&["duckdb", "pandas"]) else { return };
    let scratch = Scratch::new();
    run(&scratch, "0,2% --runs 5");
    for table in ["samples", "runs", "cells", "differences"] {
        for format in ["csv", "parquet"] {
            let words = format!("--table {table} --format {format} --out {table}.{format}");
            scratch.succeed(&format!("export results {words}"));
        }
    }
    let text =
        script(&scratch, &python, "tables.py", &[scratch.folder(), &repository("docs/files.md")]);
    assert!(text.contains("samples: ") && text.contains("'loss': 'DOUBLE'"), "{text}");
}

#[test]
#[ignore = "thorough: Python and R"]
fn the_notebook_runs_through_and_agrees_with_the_document() {
    let modules = ["nbclient", "nbformat", "ipykernel", "pandas", "matplotlib"];
    let Some(python) = python(&modules) else { return };
    let scratch = Scratch::new();
    run(&scratch, "2% --runs 40");
    let text = script(&scratch, &python, "notebook.py", &[&repository("examples/results.ipynb")]);
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
    let scratch = Scratch::new();
    run(&scratch, "0,2% --runs 5");
    let page = fs::read_to_string(repository("docs/files.md")).unwrap();
    let [_, after] = page.split("```r\n").collect::<Vec<_>>()[..] else { panic!("one block of R") };
    let (shown, _) = after.split_once("```").unwrap();
    let written = "write.csv(do.call(data.frame, cells), 'cells.csv', quote = FALSE)";
    scratch.write("page.R", &format!("{shown}\noptions(digits = 15)\n{written}\n"));
    let text = printed(Command::new("Rscript").arg("page.R").current_dir(scratch.folder()));
    assert!(text.contains("value.mean"), "{text}");

    let document = scratch.json("results/run.json");
    let of_r = scratch.read("cells.csv");
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

/// Makes a run directory of two protocols with these losses.
fn run(scratch: &Scratch, words: &str) {
    let cells = "--set protocol=quic,http2 --set tls=1.3 --set handshake=new";
    scratch.succeed(&format!("run vru {cells} --out results --set link.loss={words}"));
}

/// The output of a script beside this file.
fn script(scratch: &Scratch, python: &OsString, script: &str, arguments: &[&Path]) -> String {
    let script = repository("crates/trackbed/tests/data").join(script);
    let mut command = Command::new(python);
    command.arg(script).args(arguments).current_dir(scratch.folder());
    printed(command.env("TRACKBED_RESULTS", "results"))
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().unwrap()
}
