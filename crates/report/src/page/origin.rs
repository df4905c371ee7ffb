//! What a page needs besides the results.

/// The origin of the results, except what the document contains.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The command line of the runs.
    pub command: String,
    /// The command that replays a run, such as `trackbed replay DIR`; the cell and run numbers are
    /// appended. Empty if runs cannot be replayed.
    pub replay: String,
    /// The scenario's text; empty if unknown.
    pub scenario: String,
    /// The build ID of the program that made the runs.
    pub build: Option<String>,
    /// Further named facts about the results: settings, time.
    pub notes: Vec<(String, String)>,
}

/// A limit for a metric, such as a deadline.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The metric: `verdict_ms`.
    pub metric: String,
    /// In the metric's unit.
    pub value: f64,
    /// Its label in figures: `deadline 10 ms`.
    pub label: String,
}
