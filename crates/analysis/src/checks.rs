//! Checks of every campaign: results agree with arithmetic where it determines them, no message is
//! missing, and no verdict is wrong.

use std::iter;
use std::time::Duration;

use trackbed_measure::results::{CellResult, Check, RunResult};
use trackbed_net::Stage;

use trackbed_measure::results::VIRTUAL;
use trackbed_scenario::{Cell, LinkPlan, NetworkPlan};

/// Whether runs in virtual time agree with arithmetic to the microsecond; on other substrates the
/// machine adds time, which the certificates of the runs show.
pub(crate) fn arithmetic(substrate: &str, cell: &Cell, result: &CellResult) -> Option<Check> {
    (substrate == VIRTUAL).then(|| round_trips(cell, result))?
}

/// Whether the messages of a cell's runs are accounted for, which must hold on every substrate.
pub(crate) fn accounts(cell: &Cell, runs: &[RunResult]) -> Vec<Check> {
    [closed_account(cell, runs), judged(cell, runs)].into_iter().flatten().collect()
}

/// In each run, every message that a unit received was accepted, refused or dropped, and no verdict
/// was wrong.
fn judged(cell: &Cell, runs: &[RunResult]) -> Option<Check> {
    let of_run = |run: &RunResult| {
        let decided = DECISIONS.split(' ').map(|metric| first(run, metric)).sum::<Option<f64>>()?;
        Some((run.run, first(run, "heard_count")?, decided, first(run, "wrong_verdict_count")?))
    };
    let runs: Vec<(u32, f64, f64, f64)> = runs.iter().filter_map(of_run).collect();
    let fault = runs.iter().find(|(_, heard, decided, wrong)| heard != decided || *wrong > 0.0);
    let heard: f64 = runs.iter().map(|(_, heard, ..)| heard).sum();
    (!runs.is_empty()).then(|| Check {
        name: format!("{}: every message has a correct verdict", name(cell)),
        pass: fault.is_none(),
        detail: match fault {
            Some((run, heard, decided, wrong)) => {
                format!("run {run}: {heard} received, {decided} decided, {wrong} wrongly")
            }
            None => format!("{heard} received and decided, none wrongly"),
        },
    })
}

/// The first sample of a metric.
fn first(run: &RunResult, metric: &str) -> Option<f64> {
    run.outcome.samples()?.get(metric)?.first().copied()
}

/// The possible fates of a received message.
const DECISIONS: &str =
    "accepted_count bad_signature_count unknown_signer_count otherwise_refused_count dropped_count";

/// In each run, the scheduled messages were answered in time, or late, or lost, and these add up to
/// the schedule.
fn closed_account(cell: &Cell, runs: &[RunResult]) -> Option<Check> {
    let accounts = runs.iter().filter_map(|run| {
        let parts = ["sent_count", "in_time_count", "late_count", "lost_count"];
        let [sent, in_time, late, lost] = parts.map(|metric| first(run, metric));
        Some((run.run, [sent?, in_time?, late?, lost?]))
    });
    let accounts: Vec<(u32, [f64; 4])> = accounts.collect();
    let total = |part: usize| accounts.iter().map(|(_, parts)| parts[part]).sum::<f64>();
    let open =
        accounts.iter().find(|(_, [sent, in_time, late, lost])| *sent != in_time + late + lost);
    let words = |[sent, in_time, late, lost]: [f64; 4]| {
        format!("{sent} sent, {in_time} answered in time, {late} late, {lost} lost")
    };
    (!accounts.is_empty()).then(|| Check {
        name: format!("{}: every message is accounted for", name(cell)),
        pass: open.is_none(),
        detail: match open {
            Some((run, parts)) => format!("run {run}: {}", words(*parts)),
            None => words([0, 1, 2, 3].map(total)),
        },
    })
}

/// On a link without loss, completion takes a fixed number of round trips, within 1 %, plus the
/// serialisation time of the bytes on the link.
fn round_trips(cell: &Cell, result: &CellResult) -> Option<Check> {
    let (round_trips, expected_ms) =
        result.expected_round_trips.zip(result.expected_completion_ms)?;
    let measured = result.metrics.get("completion_ms")?;
    let never = |metric| result.metrics.get(metric).is_some_and(|summary| summary.max == 0.0);
    if !never("loss_percent")
        || !never("queue_drop_percent")
        || result.failed > 0
        || !is_steady(&cell.network)
    {
        return None;
    }
    let wire_bytes = result.metrics.get("wire_bytes")?.max;
    let serialization_ms = serialization(&cell.network, wire_bytes)?.as_secs_f64() * 1e3;
    let (low, high) = (expected_ms, expected_ms * 1.01 + serialization_ms);
    Some(Check {
        name: format!("{}: {} round trips", name(cell), round_trips),
        pass: measured.min >= low && measured.max <= high,
        detail: format!(
            "expected {expected_ms:.3} ms and at most {serialization_ms:.3} ms of serialisation, \
             measured {:.3} ms",
            measured.mean
        ),
    })
}

pub(crate) fn name(cell: &Cell) -> String {
    let names: Vec<String> = cell.factors.iter().map(|(_, value)| value.to_string()).collect();
    names.join(" ")
}

/// Whether only rate and delay decide when a packet arrives.
fn is_steady(network: &NetworkPlan) -> bool {
    links(network).all(|link| {
        let mut models = link.up.models().iter().chain(link.down.models());
        models.all(|model| matches!(model.stage(), Stage::Queue | Stage::Loss | Stage::Delay))
    })
}

/// How long these bytes occupy all links together; `None` if a rate changes over time.
fn serialization(network: &NetworkPlan, bytes: f64) -> Option<Duration> {
    links(network)
        .map(|link| Some(link.rates?.into_iter().min()?.serialization(bytes as usize)))
        .sum()
}

fn links(network: &NetworkPlan) -> impl Iterator<Item = &LinkPlan> {
    iter::once(network.link()).chain(&network.access)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trackbed_measure::results::Outcome;

    use super::*;
    use trackbed_scenario::{self as scenario, Override, Source};

    fn run(number: u32, counts: [f64; 4]) -> RunResult {
        let names = ["sent_count", "in_time_count", "late_count", "lost_count"];
        let samples = names.iter().zip(counts).map(|(name, n)| ((*name).to_owned(), vec![n]));
        let outcome = Outcome::Samples(samples.collect::<BTreeMap<_, _>>());
        RunResult { cell: 0, run: number, outcome, certificate: None, answered: None }
    }

    #[test]
    fn one_run_with_a_missing_message_opens_the_account() {
        let setting = Override { key: "protocol".to_owned(), value: "quic".to_owned() };
        let plan = scenario::load(&Source::named("vru"), &[setting]).unwrap();
        let check = |runs: &[RunResult]| closed_account(&plan.cells[0], runs);
        let closed = check(&[run(0, [10.0, 7.0, 1.0, 2.0]), run(1, [10.0, 10.0, 0.0, 0.0])]);
        let closed = closed.unwrap();
        assert!(closed.pass, "{closed:?}");
        assert_eq!(closed.detail, "20 sent, 17 answered in time, 1 late, 2 lost");
        // Surplus in one run must not compensate for a deficit in another.
        let open = check(&[run(0, [10.0, 10.0, 1.0, 0.0]), run(1, [10.0, 9.0, 0.0, 0.0])]);
        assert!(!open.unwrap().pass);
        assert!(check(&[]).is_none());
    }
}
