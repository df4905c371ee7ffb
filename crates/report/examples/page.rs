//! The page of a run directory: `cargo run -p trackbed-report --example page -- DIR FILE.html`.

use std::error::Error;
use std::{env, fs, path::Path};

use trackbed_measure::results::{Document, RunResult};
use trackbed_report::page::{Builder, Origin};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [directory, file] = words.as_slice() else { return Err("say DIR and FILE.html".into()) };
    let read = |name: &str| fs::read_to_string(Path::new(directory).join(name));
    let document: Document = serde_json::from_str(&read("run.json")?)?;
    let about: serde_json::Value = serde_json::from_str(&read("about.json")?)?;
    let words = about["command"].as_array().into_iter().flatten();
    let command: Vec<&str> = words.filter_map(serde_json::Value::as_str).collect();
    let origin = Origin {
        command: command.join(" "),
        replay: format!("trackbed replay {directory}"),
        scenario: about["text"].as_str().unwrap_or_default().to_owned(),
        notes: Vec::new(),
    };
    let mut by_cell: Vec<Vec<RunResult>> = vec![Vec::new(); document.cells.len()];
    for line in read("runs.jsonl")?.lines() {
        let run: RunResult = serde_json::from_str(line)?;
        if let Some(runs) = by_cell.get_mut(run.cell as usize) {
            runs.push(run);
        }
    }
    let mut builder = Builder::new(&document, origin);
    for (index, runs) in by_cell.iter().enumerate() {
        builder.cell(index as u32, runs)?;
    }
    fs::write(file, builder.finish())?;
    Ok(())
}
