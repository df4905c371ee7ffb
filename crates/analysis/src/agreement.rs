//! Agreement of the virtual and the emulated substrate on the same plan.

use trackbed_connection::Transport;
use trackbed_measure::agreement::{Agreement, AgreementVerdict};
use trackbed_measure::results::RunResult;
use trackbed_stats::{EquivalenceVerdict, equivalence};

use trackbed_scenario::{Cell, Plan};

use crate::aggregate::run_means;

/// Maximum deviation of the ratio of means from 1. Over QUIC both substrates run the same code;
/// over TCP one uses our engine and the other the kernel.
const MARGIN_QUIC: f64 = 0.03;
const MARGIN_TCP: f64 = 0.10;

/// Compares the runs of a plan in virtual time with those on the emulated substrate, cell by cell
/// and paired by run: run k of both had the same seed. Leaves out cells without runs on both sides,
/// and runs for which this machine was too slow.
///
/// The compared metrics are `asked`, or else those that the cell's kind of traffic is judged by:
/// [`PRINCIPAL`].
pub fn compare(
    plan: &Plan,
    virtually: &[RunResult],
    emulated: &[RunResult],
    asked: &[String],
) -> Vec<Agreement> {
    let mut found = Vec::new();
    for (index, cell) in (0..).zip(&plan.cells) {
        let runs = |runs: &[RunResult]| -> Vec<RunResult> {
            let valid = runs.iter().filter(|run| run.cell == index && !run.is_invalid());
            valid.cloned().collect()
        };
        let sides = [runs(virtually), runs(emulated)];
        let metrics: Vec<&str> = match asked {
            [] => principal(&sides),
            asked => asked.iter().map(String::as_str).collect(),
        };
        found.extend(
            metrics.iter().filter_map(|metric| judged((index, cell), plan, metric, &sides)),
        );
    }
    found
}

/// Compares one metric of a cell; `None` if a side did not measure it, or it is zero in a run.
fn judged(
    (index, cell): (u32, &Cell),
    plan: &Plan,
    metric: &str,
    sides: &[Vec<RunResult>; 2],
) -> Option<Agreement> {
    let margin = margin(cell);
    let [virtually, emulated] = sides.each_ref().map(|runs| run_means(runs, metric, plan.runs));
    let found = equivalence(&virtually, &emulated, margin).ok()?;
    let names: Vec<String> = cell.factors.iter().map(|(_, value)| value.to_string()).collect();
    Some(Agreement {
        cell: index,
        name: names.join(" "),
        metric: metric.to_owned(),
        virtually: found.means[0],
        emulated: found.means[1],
        pairs: found.n as u32,
        ratio: found.ratio,
        ci90: found.ci90,
        margin,
        verdict: match found.verdict {
            EquivalenceVerdict::Equivalent => AgreementVerdict::Equivalent,
            EquivalenceVerdict::Different => AgreementVerdict::Different,
            EquivalenceVerdict::Undecided => AgreementVerdict::Undecided,
        },
    })
}

/// The metrics of the first kind of traffic that both sides have.
fn principal(sides: &[Vec<RunResult>; 2]) -> Vec<&'static str> {
    let has = |runs: &Vec<RunResult>, metric: &str| {
        let mut samples = runs.iter().filter_map(|run| run.outcome.samples());
        samples.any(|samples| samples.get(metric).is_some_and(|values| !values.is_empty()))
    };
    let is_there = |metric: &str| sides.iter().all(|runs| has(runs, metric));
    let kind = PRINCIPAL.iter().find(|(mark, _)| is_there(mark));
    kind.map_or_else(Vec::new, |(_, metrics)| metrics.to_vec())
}

fn margin(cell: &Cell) -> f64 {
    match cell.endpoint.protocol.capabilities().transport {
        Transport::Tcp => MARGIN_TCP,
        // The same code on both substrates.
        Transport::Udp | Transport::Coap | Transport::Sctp => MARGIN_QUIC,
    }
}

/// What each kind of traffic is judged by, beside a metric that only this kind has: page loads, players,
/// continuous flows, verification, messages on a schedule, and transfers.
pub const PRINCIPAL: [(&str, &[&str]); 6] = [
    ("plt_ms", &["plt_ms"]),
    ("startup_delay_ms", &["startup_delay_ms", "loading_delay_ms", "rebuffering_ms"]),
    ("goodput_mbps", &["goodput_mbps", "handover_goodput_mbps"]),
    ("verdict_ms", &["verdict_ms"]),
    ("sent_count", &["rtt_ms", "in_time_count"]),
    ("completion_ms", &["completion_ms"]),
];
