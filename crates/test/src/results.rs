//! What runs measure, as a run directory of `trackbed`.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Number, Value, json};
use trackbed_measure::results::{
    CellResult, Document, Outcome, RESULTS_VERSION, RunResult, SCHEMA, TEST,
};
use trackbed_outward::files::Fresh;

/// Results of many runs, for `trackbed report`, `advise`, `compare` and `export`.
///
/// Runs with the same factors are a cell. Runs of different cells with the same seed are compared in
/// pairs, because they have the same losses.
///
/// ```
/// use trackbed_test::{Results, Track, elapsed, sleep};
/// use std::time::Duration;
///
/// let results = Results::new("pauses");
/// for seed in 0..6 {
///     for pause in [10, 20] {
///         let mut track = Track::new(seed);
///         let record = track.recorder(&results, &[("pause_ms", &pause.to_string())]);
///         track.run(async move {
///             sleep(Duration::from_millis(pause)).await;
///             record.record("completion_ms", elapsed().as_secs_f64() * 1e3);
///         });
///     }
/// }
/// results.write(std::env::temp_dir().join("trackbed-test-pauses")).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Results {
    name: String,
    runs: Arc<Mutex<Vec<Run>>>,
}

#[derive(Debug)]
struct Run {
    factors: Map<String, Value>,
    seed: u64,
    outcome: Outcome,
}

/// Takes what one run measures.
///
/// ```
/// # use trackbed_test::{Recorder, Results, Track};
/// let record: Recorder = Track::new(1).recorder(&Results::new("one"), &[]);
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    runs: Arc<Mutex<Vec<Run>>>,
    index: usize,
}

impl Results {
    /// None yet, under a name for tables.
    ///
    /// ```
    /// let results = trackbed_test::Results::new("handshakes");
    /// ```
    pub fn new(name: &str) -> Results {
        Results { name: name.to_owned(), runs: Arc::default() }
    }

    pub(crate) fn begin(&self, seed: u64, factors: &[(&str, &str)]) -> Recorder {
        let value = |text: &str| match text.parse::<Number>() {
            Ok(number) if number.to_string() == text => Value::Number(number),
            _ => json!(text),
        };
        let factors = factors.iter().map(|(name, text)| ((*name).to_owned(), value(text)));
        let outcome = Outcome::Samples(BTreeMap::new());
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push(Run { factors: factors.collect(), seed, outcome });
        Recorder { runs: Arc::clone(&self.runs), index: runs.len() - 1 }
    }

    /// Writes the run directory `folder`, in place of an earlier one.
    ///
    /// # Errors
    /// If a file cannot be written, a value is not finite, or two runs have the same factors and seed.
    ///
    /// ```
    /// let folder = std::env::temp_dir().join("trackbed-test-none");
    /// trackbed_test::Results::new("none").write(folder).unwrap();
    /// ```
    pub fn write(&self, folder: impl AsRef<Path>) -> io::Result<()> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut cells, mut seeds, mut results) = (Vec::new(), Vec::new(), BTreeMap::new());
        for Run { factors, seed, outcome } in runs.iter() {
            let (cell, run) = (place(&mut cells, factors), place(&mut seeds, seed));
            let refuse = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
            let infinite = outcome.samples().into_iter().flatten();
            let mut infinite = infinite.filter(|(_, values)| !values.iter().all(|v| v.is_finite()));
            if let Some((metric, _)) = infinite.next() {
                return Err(refuse(format!("{metric} of the run with seed {seed} is not finite")));
            }
            let result = RunResult::new(cell, run, outcome.clone());
            if results.insert((cell, run), serde_json::to_string(&result)? + "\n").is_some() {
                let why = format!("two runs have the same factors and the seed {seed}");
                return Err(refuse(why + "; give each its own"));
            }
        }
        let (version, seed) = (env!("CARGO_PKG_VERSION"), seeds.first().copied().unwrap_or(0));
        let cell = |factors| CellResult { factors, ..CellResult::default() };
        let document = Document {
            schema: SCHEMA,
            trackbed: version.to_owned(),
            results_version: RESULTS_VERSION,
            scenario: self.name.clone(),
            substrate: TEST.to_owned(),
            seed,
            runs: seeds.len() as u32,
            cells: cells.into_iter().map(cell).collect(),
            ..Document::default()
        };
        let about = json!({
            "schema": SCHEMA, "trackbed": version, "command": std::env::args().collect::<Vec<_>>(),
            "scenario": self.name, "text": "", "overrides": [], "seed": seed, "runs": seeds.len(),
            "folder": std::env::current_dir()?, "plan": "", "substrate": TEST,
        });
        std::fs::create_dir_all(&folder)?;
        let write = |name: &str, text: String| {
            let mut file = Fresh::begin(&folder.as_ref().join(name))?;
            file.write_all(text.as_bytes())?;
            file.keep()
        };
        write("runs.jsonl", results.into_values().collect())?;
        write("run.json", serde_json::to_string_pretty(&document)?)?;
        write("about.json", about.to_string())
    }
}

impl Recorder {
    /// Adds a sample of a metric, whose name ends in its unit, such as `rtt_ms`. `compare` knows those
    /// of `trackbed list metrics`; others are exported, and judged by `advise`.
    ///
    /// ```
    /// # use trackbed_test::{Results, Track};
    /// let record = Track::new(1).recorder(&Results::new("one"), &[]);
    /// record.record("rtt_ms", 12.5);
    /// ```
    pub fn record(&self, metric: &str, value: f64) {
        self.change(|outcome| {
            if let Outcome::Samples(samples) = outcome {
                samples.entry(metric.to_owned()).or_default().push(value);
            }
        });
    }

    pub(crate) fn fail(&self, why: &str) {
        let why = why.lines().next().unwrap_or_default().to_owned();
        self.change(|outcome| *outcome = Outcome::Failed(why));
    }

    fn change(&self, change: impl FnOnce(&mut Outcome)) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut runs[self.index].outcome);
    }
}

fn place<T: Clone + PartialEq>(list: &mut Vec<T>, item: &T) -> u32 {
    list.iter().position(|other| other == item).unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    }) as u32
}
