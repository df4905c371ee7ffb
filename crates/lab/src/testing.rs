//! Plans, runs and samples for tests.

use trackbed_core::event::Record;
use trackbed_measure::metrics;
use trackbed_scenario::{self as scenario, Override, Plan, ScenarioError, Source};
use trackbed_substrate::Cancel;

use crate::run::Runner;

fn load(text: &str) -> Result<Plan, ScenarioError> {
    scenario::load(&Source::recorded("a.toml", text), &[])
}

pub(crate) fn plan(text: &str) -> Plan {
    load(text).unwrap_or_else(|why| panic!("{why}"))
}

pub(crate) fn refusal(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

pub(crate) fn built_in(name: &str, settings: &[&str]) -> Plan {
    let overrides: Vec<Override> = settings.iter().map(|text| text.parse().unwrap()).collect();
    scenario::load(&Source::named(name), &overrides).unwrap_or_else(|why| panic!("{why}"))
}

/// The events of a run, which must succeed.
pub(crate) fn events(plan: &Plan, cell: usize, run: u32) -> Vec<Record> {
    let records = Runner::new(Cancel::default()).events(&plan.cells[cell], plan.seed, run).unwrap();
    assert_eq!(metrics::outcome(&records), Ok(()));
    records
}

pub(crate) fn samples(metric: &str, records: &[Record]) -> Vec<f64> {
    (metrics::find(metric).unwrap().compute)(records)
}
