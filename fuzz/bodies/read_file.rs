//! Any contents of a file that a user names: a plan, a log or a table, or an error with a message. What was read
//! can be used.

use std::sync::LazyLock;

use trackbed_core::Time;
use trackbed_lab::run::Runner;
use trackbed_railway::handover::{LogSettings, Table, observe};
use trackbed_railway::motion::{DriveLog, Track};
use trackbed_railway::recording::Recording;
use trackbed_scenario::{self as scenario, Plan, Source};
use trackbed_substrate::Cancel;

/// One input: a byte that chooses the reader, then the file. A key that is added comes last, so that the
/// corpus keeps its meaning.
pub fn run(data: &[u8]) {
    let Some((&which, contents)) = data.split_first() else { return };
    let place = usize::from(which) % (LOGS + 1 + NAMED.len());
    let text = std::str::from_utf8(contents);
    if let (true, Ok(text)) = (place < LOGS, text) {
        let track = Track::straight(10_000.0).expect("a length");
        if let Ok(log) = DriveLog::parse(text, &[]) {
            let _ = observe(&log, &track, &LogSettings::default());
        }
        let mut drive = Recording::default();
        let _ = DriveLog::read_pieces(contents, &[], |log| drive.take(&log, Some("A")));
        let _ = drive.drive(None).map(|drive| drive.record());
    } else if let Some(line) = place.checked_sub(LOGS + 1).map(|place| &NAMED[place]) {
        let _read = named(line, contents);
    } else if let Ok(Ok(table)) = text.map(Table::parse) {
        let again = Table::parse(&table.to_text()).expect("what we write, we can read");
        assert_eq!(again.to_text(), table.to_text(), "a table survives being written and read");
    }
}

/// One input: a byte that chooses the key, then the file, which is run if it can be read.
pub fn run_file(data: &[u8]) {
    let Some((&which, contents)) = data.split_first() else { return };
    if let Some(plan) = named(&NAMED[usize::from(which) % NAMED.len()], contents) {
        let runner = Runner::new(Cancel::default()).with_time_limit(Time::from_millis(60_000));
        let _ended = runner.events(&plan.cells[0], plan.seed, 0);
    }
}

fn named(line: &str, contents: &[u8]) -> Option<Plan> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("file");
    for ending in ["", "json"] {
        let written = std::fs::write(path.with_extension(ending), contents);
        written.expect("there is room for a small file");
    }
    let rest = if line.contains("workload") { "" } else { BULK };
    let text = format!("{rest}\n{}", line.replace("FILE", &path.display().to_string()));
    match scenario::load(&Source::recorded("fuzz.toml", &text), &[]) {
        Ok(plan) => Some(plan),
        Err(error) => {
            assert!(error.to_string().starts_with("error: "), "an error has a message");
            None
        }
    }
}

/// A share of the inputs for logs, which have three formats.
const LOGS: usize = 3;

/// What else a scenario needs that has no workload: one that ends at any rate.
const BULK: &str =
    "protocol = 'mptcp'\nworkload = { kind = 'messages', count = 4, size = '50 kB' }";

/// A line for each key that names a file.
static NAMED: LazyLock<Vec<String>> = LazyLock::new(|| {
    include_str!("read_file.txt").lines().map(|line| line.replace("\\n", "\n")).collect()
});
