//! What a page is told besides the results.

/// Where the results come from, as far as the document does not say it.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The command line that made the runs.
    pub command: String,
    /// The command that replays a run, as `trackbed replay DIR`; the numbers of its cell and of itself
    /// are put behind it. Empty where runs cannot be replayed.
    pub replay: String,
    /// The scenario's text as it was read; empty where it is not known.
    pub scenario: String,
    /// What else is to be said of how the results came about, each with its name: settings, when.
    pub notes: Vec<(String, String)>,
}

/// A value of a metric that is to be kept: a deadline.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The metric: `verdict_ms`.
    pub metric: String,
    /// In the unit of that metric.
    pub value: f64,
    /// What it is called in figures: `deadline 10 ms`.
    pub label: String,
}
