//! Agreement of the virtual and the emulated substrate on the same plan.

use trackbed_connection::Transport;
use trackbed_measure::agreement::{Agreement, AgreementVerdict};
use trackbed_measure::results::RunResult;
use trackbed_stats::{EquivalenceVerdict, equivalence};

use crate::aggregate::run_means;
use trackbed_scenario::{Cell, Plan};

/// Maximum deviation of the ratio of means from 1. Over QUIC both substrates run the same code;
/// over TCP one uses our engine and the other the kernel.
const MARGIN_QUIC: f64 = 0.03;
const MARGIN_TCP: f64 = 0.10;

/// Compares the runs of a plan in virtual time with those on the emulated substrate, cell by cell
/// and paired by run: run k of both had the same seed. Leaves out cells without runs on both sides,
/// and runs for which this machine was too slow.
pub fn compare(plan: &Plan, virtually: &[RunResult], emulated: &[RunResult]) -> Vec<Agreement> {
    let emulated: Vec<RunResult> =
        emulated.iter().filter(|run| !run.is_invalid()).cloned().collect();
    let compared = (0..).zip(&plan.cells).filter_map(|(index, cell)| {
        let margin = margin(cell);
        let (metric, found) = METRICS.into_iter().find_map(|metric| {
            let of_cell = |run: &&RunResult| run.cell == index;
            let means = |runs: &[RunResult]| {
                let runs: Vec<RunResult> = runs.iter().filter(of_cell).cloned().collect();
                run_means(&runs, metric, plan.runs)
            };
            Some((metric, equivalence(&means(virtually), &means(&emulated), margin).ok()?))
        })?;
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
    });
    compared.collect()
}

fn margin(cell: &Cell) -> f64 {
    match cell.endpoint.protocol.capabilities().transport {
        Transport::Tcp => MARGIN_TCP,
        // The same code on both substrates.
        Transport::Udp | Transport::Coap | Transport::Sctp => MARGIN_QUIC,
    }
}

/// The metrics to compare; the first one that the runs have counts: the time from the first
/// connection to the last reply, or until the page was loaded.
const METRICS: [&str; 2] = ["completion_ms", "plt_ms"];
