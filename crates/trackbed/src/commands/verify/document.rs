//! The results of a measurement.

use schemars::JsonSchema;
use serde::Serialize;
use trackbed_measure::results::SCHEMA;
use trackbed_verifier::engine::Split;

use super::cell::Outcome;
use super::cores::Cores;
use super::study::{Measured, NEED_HZ, measured};

/// The output of `trackbed verify --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyDocument {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of Trackbed.
    pub trackbed: String,
    /// Cores that this program may use.
    pub cores: usize,
    /// The number of these that were slowed down.
    pub slow_cores: usize,
    /// How many times slower these were.
    pub slowdown: usize,
    /// The number of signing keys.
    pub keys: usize,
    /// Signatures that a thread takes at once; a GPU's threads take more unless it was set.
    pub batch: usize,
    /// The libraries, in the order of the cells.
    pub libraries: Vec<LibraryDocument>,
    /// One cell for each library, number of threads and division.
    pub cells: Vec<CellDocument>,
    /// The smallest share of its cores' time that a measurement with a dynamic division, or one thread, got, in
    /// percent; null if all got 95 % or more.
    pub disturbed_percent: Option<f64>,
    /// The other program that used most processor time meanwhile; null if all measurements got their cores.
    pub disturbed_by: Option<String>,
    /// The results of the study of 2018 on its boards.
    pub study: Vec<StudyDocument>,
}

/// A library.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LibraryDocument {
    /// Its name.
    pub library: String,
    /// Its version, or the instruction set that it uses.
    pub version: String,
    /// The processor time to make a table of a key, in microseconds; null without tables.
    pub table_us: Option<f64>,
    /// The time of a verdict by the size of its batch, on one thread; empty unless it verifies in batches on the CPU.
    pub batches: Vec<BatchDocument>,
}

/// Signatures verified in batches of one size.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchDocument {
    /// Signatures in a batch.
    pub batch: usize,
    /// CPU time per verification, in microseconds.
    pub cpu_us_per_verification: f64,
    /// CPU time until a whole batch is verified, in microseconds.
    pub batch_us: f64,
}

/// The results of one library with a number of threads.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CellDocument {
    /// Its name.
    pub library: String,
    /// Threads.
    pub threads: usize,
    /// `static`: equal shares fixed in advance; `dynamic`: each free thread takes the next batch.
    pub division: String,
    /// The number of measured verifications.
    pub verified: usize,
    /// The number of wrong verdicts.
    pub wrong: usize,
    /// Their wall-clock time, in seconds.
    pub seconds: f64,
    #[serde(flatten)]
    pub rate: RateDocument,
    /// The value of `percent_of_one_thread` if only cores limited threads.
    pub expected_percent: f64,
    /// CPU time per verification, in microseconds.
    pub cpu_us_per_verification: f64,
    /// The energy of all processors (RAPL), or of the GPUs (NVML), per verification, in microjoules, with what they use
    /// when idle; null where the machine does not report it to this user.
    pub energy_uj_per_verification: Option<f64>,
    /// The idle share of all cores at 3,500 verifications per second; null if that rate is not
    /// reached, or if cores were slowed down.
    pub cpu_left_percent: Option<f64>,
}

/// A line of the study's tables.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StudyDocument {
    /// The board.
    pub board: String,
    /// `posix` or `openmp`.
    pub method: String,
    /// Threads.
    pub threads: usize,
    #[serde(flatten)]
    pub rate: RateDocument,
    /// The idle share of all cores at 3,500 verifications per second; null if that rate is not
    /// reached, or if cores waited for others (`openmp`).
    pub cpu_left_percent: Option<f64>,
}

/// The columns of the study's tables.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct RateDocument {
    /// Wall-clock time per verification, in microseconds.
    pub us_per_verification: f64,
    /// Verifications per second.
    pub verifications_per_s: f64,
    /// The rate as a percentage of one thread's, which is that of a core of its own.
    pub percent_of_one_thread: f64,
}

/// The share of its cores' time that a measurement got, in percent, if one got less than 95 %. A dynamic division
/// keeps all cores busy until the end.
pub fn disturbance(cells: &[CellDocument]) -> Option<f64> {
    let share = |cell: &CellDocument| {
        let used = cell.cpu_us_per_verification / cell.rate.us_per_verification;
        100.0 * 100.0 * used / cell.expected_percent
    };
    let busy = cells.iter().filter(|cell| cell.division == "dynamic" || cell.threads == 1);
    busy.map(share).min_by(f64::total_cmp).filter(|least| *least < 95.0)
}

impl BatchDocument {
    /// A size of batches from a measurement.
    pub fn new(batch: usize, outcome: Outcome) -> BatchDocument {
        let cpu_us = outcome.cpu_nanos as f64 / 1e3 / outcome.verified.max(1) as f64;
        BatchDocument { batch, cpu_us_per_verification: cpu_us, batch_us: cpu_us * batch as f64 }
    }
}

impl RateDocument {
    /// The idle share of `cores` at the rate that the study needs, if a verification takes `cpu_us`.
    fn cpu_left_percent(self, cpu_us: f64, cores: usize) -> Option<f64> {
        let used = NEED_HZ * cpu_us / 1e6 / cores as f64;
        (self.verifications_per_s >= NEED_HZ).then_some(100.0 * (1.0 - used))
    }
}

impl CellDocument {
    /// A cell from a measurement; `one_thread` is the rate of one thread in its processor time.
    pub fn new(
        library: String,
        (threads, split): (usize, Split),
        outcome: Outcome,
        one_thread: f64,
        cores: &Cores,
    ) -> CellDocument {
        let seconds = outcome.wall_nanos as f64 / 1e9;
        let rate = outcome.verified as f64 / seconds;
        let cpu_us = outcome.cpu_nanos as f64 / 1e3 / outcome.verified as f64;
        let rate = RateDocument {
            us_per_verification: 1e6 / rate,
            verifications_per_s: rate,
            percent_of_one_thread: 100.0 * rate / one_thread,
        };
        let left = || rate.cpu_left_percent(cpu_us, cores.count());
        CellDocument {
            library,
            threads,
            division: division(split).to_owned(),
            verified: outcome.verified,
            wrong: outcome.wrong,
            seconds,
            rate,
            expected_percent: 100.0 * cores.expected(threads, split),
            cpu_us_per_verification: cpu_us,
            energy_uj_per_verification: None,
            cpu_left_percent: (!cores.are_unequal()).then(left).flatten(),
        }
    }
}

/// The name of a division.
pub fn division(split: Split) -> &'static str {
    match split {
        Split::Static => "static",
        Split::Dynamic => "dynamic",
    }
}

/// The study's results. It gives no CPU time: threads are assumed to be busy, one on each core.
pub fn study() -> Vec<StudyDocument> {
    let line = |Measured { board, cores, method, threads, values }| {
        let [us_per_verification, verifications_per_s, percent_of_one_thread] = values;
        let rate = RateDocument { us_per_verification, verifications_per_s, percent_of_one_thread };
        let cpu_us = us_per_verification * threads.min(cores) as f64;
        let left = rate.cpu_left_percent(cpu_us, cores).filter(|_| method == "posix");
        let (board, method) = (board.to_owned(), method.to_owned());
        StudyDocument { board, method, threads, rate, cpu_left_percent: left }
    };
    measured().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand: 10,000 in half a second are 20,000 per second; 3,500 of 80 us are 28 % of a core,
    /// 14 % of two.
    #[test]
    fn the_columns_are_arithmetic() {
        let cores = Cores::imagined(2, 0, 1);
        let outcome =
            Outcome { verified: 10_000, wrong: 0, wall_nanos: 500_000_000, cpu_nanos: 800_000_000 };
        let cell =
            CellDocument::new("openssl".to_owned(), (2, Split::Static), outcome, 12_500.0, &cores);
        assert_eq!(cell.rate.us_per_verification, 50.0);
        assert_eq!(cell.rate.verifications_per_s, 20_000.0);
        assert_eq!(cell.rate.percent_of_one_thread, 160.0);
        assert_eq!(cell.expected_percent, 200.0);
        assert_eq!(cell.cpu_us_per_verification, 80.0);
        // 80 us on two cores allow 40; 50 were measured: a fifth of the time was lost.
        let dynamic = CellDocument { division: "dynamic".to_owned(), ..cell };
        assert_eq!(disturbance(std::slice::from_ref(&dynamic)), Some(80.0));
        assert!((dynamic.cpu_left_percent.unwrap() - 86.0).abs() < 1e-9);
    }

    /// 3,500 times 108.9 us, spread over eight cores, is 38.115 % of these.
    #[test]
    fn what_the_study_s_boards_have_left_is_arithmetic() {
        let left = |board: &str, method: &str, threads: usize| {
            let is_it = |line: &StudyDocument| {
                (line.board.as_str(), line.method.as_str(), line.threads)
                    == (board, method, threads)
            };
            study().into_iter().find(is_it).unwrap().cpu_left_percent
        };
        assert!((left("odroid-xu4", "posix", 8).unwrap() - 61.885).abs() < 1e-9);
        assert_eq!(left("odroid-xu4", "openmp", 8), None);
        assert_eq!(left("udoo-quad", "posix", 16), None);
    }
}
