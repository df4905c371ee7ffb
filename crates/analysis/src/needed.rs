//! How many runs a difference needs, judged by pilot runs.

use trackbed_archive::{Counted, DirectoryError, Results};
use trackbed_measure::metrics::Compared;
use trackbed_measure::results::Document;
use trackbed_scenario::Plan;
use trackbed_stats::{Planned, Sample};

use crate::aggregate::OfRuns;
use crate::groups::Section;

/// The runs that one comparison needs.
#[derive(Clone, Debug)]
pub struct Need {
    /// The metric that ranks the cells.
    pub metric: &'static Compared,
    /// The compared cell.
    pub cell: u32,
    /// The best cell of the pilot runs.
    pub against: u32,
    /// The difference to be found, in the metric's unit.
    pub difference: f64,
    /// The runs of each cell with which it is found in [`POWER`](trackbed_stats::POWER) of all campaigns, and the
    /// runs if the pilot runs vary less than others; `None` for more than a million.
    pub runs: [Option<u64>; 2],
}

/// What each comparison of `document` with a best cell needs to find a difference of `share` of that cell's value;
/// of metrics that are shares, a difference by `share` itself. All comparisons together err in 5 %.
///
/// # Errors
/// If the results cannot be read.
pub fn needs(
    plan: &Plan,
    pilot: &dyn Results,
    document: &Document,
    share: f64,
) -> Result<Vec<Need>, DirectoryError> {
    let cells = &document.cells;
    let counted = Counted { plan, results: pilot, keep_invalid: false };
    let sections = Section::all(document);
    let metric = |cell: u32| {
        let own = |section: &&Section<'_>| section.cells.binary_search(&cell).is_ok();
        sections.iter().find(own)?.headline()
    };
    let compared = document.differences.iter().filter_map(|found| {
        let metric = metric(found.cell).filter(|metric| metric.name == found.metric)?;
        let whole = metric.of(&cells[found.against as usize])?.abs();
        let difference = if metric.is_share() { share } else { share * whole };
        Some((found, metric, difference))
    });
    let compared: Vec<_> = compared.collect();
    let error = 0.05 / compared.len().max(1) as f64;
    let mut needs = Vec::new();
    for (found, metric, difference) in compared {
        let values = |cell| Ok(OfRuns::new(&counted.of(cell)?.0, metric, plan.runs).compared());
        let (first, second) = (values(found.against)?, values(found.cell)?);
        let pairs =
            first.iter().zip(second).filter_map(|(first, second)| Some(second? - (*first)?));
        let planned = Planned { difference, by_median: metric.by_median(), error };
        let runs = Sample::new(&pairs.collect::<Vec<_>>()).and_then(|pilot| planned.pairs(&pilot));
        needs.extend(runs.ok().map(|runs| Need {
            metric,
            cell: found.cell,
            against: found.against,
            difference,
            runs,
        }));
    }
    Ok(needs)
}
