//! What every campaign checks about itself: that it agrees with arithmetic where arithmetic
//! decides.

use std::time::Duration;

use trackbed_measure::results::{CellResult, Check};
use trackbed_net::Stage;

use crate::expectation;
use crate::scenario::{Cell, LinkPlan, NetworkPlan, Plan};
use crate::substrate::{Substrate, VIRTUAL};

/// All checks of a campaign. Arithmetic to the microsecond holds in virtual time; elsewhere the
/// machine adds its own time, which the certificates of the runs tell.
pub fn all(plan: &Plan, substrate: &dyn Substrate, cells: &[CellResult]) -> Vec<Check> {
    match substrate.name() {
        VIRTUAL => {
            let cells = plan.cells.iter().zip(cells);
            cells.filter_map(|(cell, result)| round_trips(cell, result)).collect()
        }
        _ => Vec::new(),
    }
}

/// On a link that loses nothing, completion is so many round trips, within 1 %, plus the time
/// that the bytes themselves take on the link.
fn round_trips(cell: &Cell, result: &CellResult) -> Option<Check> {
    let expected = expectation::of(cell)?;
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
    let expected_ms = expected.completion.as_secs_f64() * 1e3;
    let serialization_ms = serialization(&cell.network, wire_bytes)?.as_secs_f64() * 1e3;
    let (low, high) = (expected_ms, expected_ms * 1.01 + serialization_ms);
    let names: Vec<String> = cell.factors.iter().map(|(_, value)| value.to_string()).collect();
    Some(Check {
        name: format!("{}: {} round trips", names.join(" "), expected.round_trips),
        pass: measured.min >= low && measured.max <= high,
        detail: format!(
            "expected {expected_ms:.3} ms and at most {serialization_ms:.3} ms of serialisation, \
             measured {:.3} ms",
            measured.mean
        ),
    })
}

/// True if nothing on the way but rate and delay decides when a packet arrives.
fn is_steady(network: &NetworkPlan) -> bool {
    links(network).all(|link| {
        let mut models = link.up.models().iter().chain(link.down.models());
        models.all(|model| matches!(model.stage(), Stage::Queue | Stage::Loss | Stage::Delay))
    })
}

/// How long so many bytes occupy all links together; `None` if a rate changes with time.
fn serialization(network: &NetworkPlan, bytes: f64) -> Option<Duration> {
    links(network).map(|link| Some(link.rate?.serialization(bytes as usize))).sum()
}

fn links(network: &NetworkPlan) -> impl Iterator<Item = &LinkPlan> {
    [Some(&network.link), network.access.as_ref()].into_iter().flatten()
}
