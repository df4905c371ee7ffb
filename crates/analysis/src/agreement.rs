//! Agreement of the virtual and the emulated substrate on the same plan.

use trackbed_connection::Transport;
use trackbed_measure::agreement::{Agreement, AgreementVerdict};
use trackbed_measure::results::RunResult;
pub use trackbed_stats::CONFIDENCE;
use trackbed_stats::{EquivalenceVerdict, equivalence};

use trackbed_scenario::{Cell, Plan};

use crate::aggregate::run_means;
use crate::checks::name;

/// Maximum deviation of the ratio of means from 1. Over QUIC both substrates run the same code;
/// over TCP one uses our engine and the other the kernel.
const MARGIN_QUIC: f64 = 0.03;
const MARGIN_TCP: f64 = 0.05;
/// What one of several groups gains, the others lose.
const MARGIN_GROUPS: f64 = 0.1;

/// Compares runs of a cell in virtual time with those on the emulated substrate, paired by run: run k of
/// both had the same seed. Leaves out runs for which this machine was too slow. Intervals have this
/// confidence. Empty without runs on both sides.
///
/// The compared metrics are `asked`, or else those that the cell's kind of traffic is judged by:
/// [`PRINCIPAL`].
///
/// # Panics
/// If `plan` does not have the cell.
pub fn compare_cell(
    plan: &Plan,
    index: u32,
    sides: [Vec<RunResult>; 2],
    (asked, confidence): (&[String], f64),
) -> Vec<Agreement> {
    let cell = &plan.cells[index as usize];
    let sides = sides.map(|mut runs| {
        runs.retain(|run| !run.is_invalid());
        runs
    });
    let metrics: Vec<&str> = match asked {
        [] => principal(&sides),
        asked => asked.iter().map(String::as_str).collect(),
    };
    let judged = |metric: &&str| judged((index, cell), (metric, confidence), &sides);
    metrics.iter().filter_map(judged).collect()
}

/// Compares one metric of a cell; `None` if a side did not measure it, or it is zero in a run.
fn judged(
    (index, cell): (u32, &Cell),
    (metric, confidence): (&str, f64),
    sides: &[Vec<RunResult>; 2],
) -> Option<Agreement> {
    let margin = margin(cell);
    let runs = sides.iter().flatten().map(|run| run.run + 1).max()?;
    let [virtually, emulated] = sides.each_ref().map(|side| run_means(side, metric, runs));
    let found = equivalence(&virtually, &emulated, margin, confidence).ok()?;
    let verdict = match found.verdict {
        EquivalenceVerdict::Equivalent => AgreementVerdict::Equivalent,
        EquivalenceVerdict::Different => AgreementVerdict::Different,
        EquivalenceVerdict::Undecided => AgreementVerdict::Undecided,
    };
    let is_undecided = verdict == AgreementVerdict::Undecided;
    Some(Agreement {
        cell: index,
        name: name(cell),
        metric: metric.to_owned(),
        virtually: found.means[0],
        emulated: found.means[1],
        pairs: found.n as u32,
        ratio: found.ratio,
        ci90: found.interval,
        margin,
        correlation: found.correlation,
        with_computing: None,
        verdict,
        pairs_to_decide: found.pairs_to_decide(margin).filter(|_| is_undecided),
    })
}

/// The number of the run whose first compared metric differs most between the sides, as a ratio.
pub fn most_different(
    virtually: &[RunResult],
    emulated: &[RunResult],
    asked: &[String],
) -> Option<u32> {
    let sides = [virtually.to_vec(), emulated.to_vec()];
    let metric = match asked {
        [] => *principal(&sides).first()?,
        asked => asked.first()?,
    };
    let runs = sides.iter().flatten().map(|run| run.run + 1).max()?;
    let [virtually, emulated] = sides.each_ref().map(|side| run_means(side, metric, runs));
    let apart = |(virtually, emulated): (Option<f64>, Option<f64>)| {
        virtually.zip(emulated).map(|(virtually, emulated)| libm::log(emulated / virtually).abs())
    };
    let each = (0..).zip(virtually.into_iter().zip(emulated).map(apart));
    let each =
        each.filter_map(|(run, apart)| Some((run, apart.filter(|apart| apart.is_finite())?)));
    each.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(run, _)| run)
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
        _ if cell.place.is_some() => MARGIN_GROUPS,
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
