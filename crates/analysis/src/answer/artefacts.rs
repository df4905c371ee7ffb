//! What a result hangs on that the user may not have chosen, with its share and the key that changes it.

use trackbed_measure::results::CellResult;

use super::sentence::Sentence;

/// What has a share of what, in percent, and the key that changes it.
type Artefact = (&'static str, &'static str, &'static str, fn(&CellResult) -> f64);

const ARTEFACTS: [Artefact; 6] = [
    ("path-MTU probes and padding", "what was sent", "packet-size", filler),
    ("refused messages", "the messages", "workload.payload", |cell| {
        share(mean(cell, "refused_count"), mean(cell, "answered_count"))
    }),
    ("unanswered messages", "the messages", "workload.patience", |cell| {
        let lost = mean(cell, "lost_count") - mean(cell, "unsent_count");
        share(lost, mean(cell, "sent_count") - lost)
    }),
    (TIME_LIMIT, "the runs", "workload.timeout", |cell| ended(cell, "(workload.timeout)")),
    (TIME_LIMIT, "the runs", "workload.patience", |cell| ended(cell, "(workload.patience)")),
    (IDLE, "the runs", "idle-timeout", |cell| ended(cell, "(idle-timeout)")),
];
const TIME_LIMIT: &str = "runs ended by the time limit";
const IDLE: &str = "runs ended by the idle timeout";
const CHOSEN: [&str; 3] = ["phones", "connection", "count"];

/// A smaller share in percent is no part of the answer.
const SHARE_MIN: f64 = 5.0;

impl Sentence<'_> {
    /// `Beside the question: path-MTU probes and padding are 38 % of what was sent (packet-size): QUIC.` For each
    /// artefact the cell with the largest share.
    pub(super) fn artefacts(&self) -> Option<String> {
        let worst = |share: &dyn Fn(&CellResult) -> f64| {
            let cells = self.members.iter().map(|cell| (share(cell), self.name(cell)));
            cells.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(share, _)| *share >= SHARE_MIN)
        };
        let told = ARTEFACTS.iter().filter_map(|(what, of, key, share)| {
            let (share, name) = worst(share)?;
            Some(format!("{what} are {share:.0} % of {of} ({key}): {name}"))
        });
        // More phones have more of them, and a scenario may ask for more.
        let asks = |name: &&String| CHOSEN.iter().any(|word| name.contains(word));
        let further = |cell: &CellResult| {
            let is_alike = |other: &&&CellResult| {
                let mut names = cell.factors.keys().filter(asks);
                names.all(|name| other.factor_text(name) == cell.factor_text(name))
            };
            let alike = self.members.iter().filter(is_alike).map(|it| connections(it));
            let least = alike.fold(f64::INFINITY, f64::min);
            if least > 0.0 { share(connections(cell) - least, least) } else { 0.0 }
        };
        let further = worst(&further).map(|(share, name)| {
            format!("further connections are {share:.0} % of all (idle-timeout): {name}")
        });
        let told: Vec<String> = told.chain(further).collect();
        (!told.is_empty()).then(|| format!("Beside the question: {}.", told.join("; ")))
    }
}

fn connections(cell: &CellResult) -> f64 {
    let summary = cell.metrics.get("handshake_ms").filter(|_| mean(cell, "rtt_ms") > 0.0);
    summary.map_or(0.0, |summary| summary.samples as f64 / f64::from(summary.n.max(1)))
}

/// On an idle link, a few more bytes cost nothing: most messages must wait.
fn filler(cell: &CellResult) -> f64 {
    let is_queueing = cell.metrics.get("rtt_ms").is_some_and(|rtt| rtt.p50 > 1.1 * rtt.min);
    if is_queueing { mean(cell, "filler_percent") } else { 0.0 }
}

/// The share of runs that failed for a reason that names this key.
fn ended(cell: &CellResult, key: &str) -> f64 {
    let named = cell.failures.iter().filter(|failure| failure.reason.contains(key));
    let count: u32 = named.map(|failure| failure.count).sum();
    share(count.into(), f64::from(cell.ran() + cell.failed) - f64::from(count))
}

fn mean(cell: &CellResult, metric: &str) -> f64 {
    cell.mean(metric).unwrap_or_default()
}

fn share(part: f64, rest: f64) -> f64 {
    if part > 0.0 { 100.0 * part / (part + rest) } else { 0.0 }
}
