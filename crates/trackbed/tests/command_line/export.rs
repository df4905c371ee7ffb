//! Tables for other programs.

use super::*;

fn scratch() -> Scratch {
    let scratch = scenario();
    let axes = "--set protocol=quic,tcp --set link.loss=0,3%";
    scratch.succeed(&format!("run a.toml {axes} --runs 5 --out out"));
    scratch
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn samples_are_those_of_the_directory_in_either_format() {
    let scratch = scratch();
    let csv = scratch.succeed("export out").stdout;
    assert!(csv == scratch.read("out/samples.csv"));
    let samples = lines(&scratch.succeed("export out --format ndjson").stdout);
    assert_eq!(samples.len(), csv.lines().count() - 1);
    let first = samples.iter().find(|row| row["metric"] == "completion_ms" && row["cell"] == 1);
    let first = first.unwrap();
    assert_eq!((&first["protocol"], &first["loss"]), (&"quic".into(), &0.03.into()));
    // A closed loop: the next message is due when the answer to the last has come.
    let trips = samples.iter().filter(|row| row["metric"] == "rtt_ms" && row["run"] == 0);
    let trips: Vec<[f64; 4]> = trips
        .filter(|row| row["cell"] == 0)
        .map(|row| ["phone", "message", "due_ms", "value"].map(|name| row[name].as_f64().unwrap()))
        .collect();
    assert!(trips.len() > 1);
    for (number, pair) in trips.windows(2).enumerate() {
        let [[_, _, due, value], [phone, message, next, _]] = [pair[0], pair[1]];
        assert_eq!((phone, message), (0.0, number as f64 + 1.0));
        assert!((next - due - value).abs() < 1e-6);
    }
    assert_eq!((&first["phone"], &first["due_ms"]), (&Value::Null, &Value::Null));
    scratch.succeed("export out --format ndjson --out samples.ndjson");
    assert_eq!(lines(&scratch.read("samples.ndjson")), samples);
}

#[test]
fn cells_runs_and_differences_have_the_numbers_of_the_document() {
    let scratch = scratch();
    let document = scratch.json("out/run.json");
    let rows = |table: &str| {
        lines(&scratch.succeed(&format!("export out --table {table} --format ndjson")).stdout)
    };
    for row in rows("cells") {
        let cell = &document["cells"][row["cell"].as_u64().unwrap() as usize];
        let summary = &cell["metrics"][row["metric"].as_str().unwrap()];
        for name in ["mean", "p50", "p99", "n", "samples"] {
            assert_eq!(row[name], summary[name]);
        }
        for (end, name) in ["ci95_low", "ci95_high"].into_iter().enumerate() {
            assert_eq!(row[name], summary["ci95"][end]);
        }
        assert_eq!(row["p50_ci95_low"], summary["p50_ci95"][0]);
    }
    let runs = rows("runs");
    assert_eq!(runs.len(), 20);
    let mean: f64 =
        runs.iter().filter(|row| row["cell"] == 3).map(|row| row["rtt_ms"].as_f64().unwrap()).sum();
    let expected = document["cells"][3]["metrics"]["rtt_ms"]["mean"].as_f64().unwrap();
    assert!((mean / 5.0 - expected).abs() < 1e-9);
    let (differences, known) = (rows("differences"), document["differences"].as_array().unwrap());
    assert_eq!(differences.len(), known.len());
    for (row, difference) in differences.iter().zip(known) {
        assert_eq!(row["median"], difference["median"]["value"]);
        assert_eq!(row["median_verdict"], difference["median"]["verdict"]);
    }
    // Failed runs are rows too.
    scratch.trackbed("run a.toml --set link.loss=1 --set workload.timeout=1s --out lost");
    let csv = scratch.succeed("export lost --table runs").stdout;
    assert_eq!(csv.matches(",failed,").count(), 2, "{csv}");
}

/// A row for each of four cells, with the numbers that `run` prints.
#[test]
fn tables_for_papers_are_those_that_are_printed() {
    let scratch = scratch();
    let printed = scratch
        .succeed("run a.toml --set protocol=quic,tcp --set link.loss=0,3% --runs 5 --out out");
    for (format, line, gap, between) in [("markdown", "| ", 2, " | "), ("latex", "", 3, " & ")] {
        let table = scratch.succeed(&format!("export out --table cells --format {format}")).stdout;
        let rows: Vec<&str> = table.lines().skip(gap).collect();
        for cell in 0..4 {
            let row = rows.iter().find(|row| row.starts_with(&format!("{line}{cell}{between}")));
            let value = row.unwrap_or_else(|| panic!("{table}")).split(between).nth(5).unwrap();
            let of_cell = |text: &&str| text.trim_start().starts_with(&format!("{cell}  "));
            assert!(
                printed.stdout.lines().find(of_cell).unwrap().contains(value),
                "{value} {table}"
            );
        }
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    scratch().refuse_all("export");
}
