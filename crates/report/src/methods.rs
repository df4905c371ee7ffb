//! The methods paragraph of a paper, in full sentences.

use std::collections::BTreeSet;

use trackbed_analysis::number::plural;
use trackbed_measure::lists::{distinct, grouped};
use trackbed_measure::metrics;
use trackbed_measure::results::{CellResult, Document, EMULATED, LIVE, MIN_RUNS, VIRTUAL};

/// How the results of `document` were made and judged; `build` is the program's build ID.
pub fn methods(document: &Document, build: Option<&str>) -> String {
    let Document { scenario, seed, runs, cells, trackbed, plan, .. } = document;
    let count = plural(cells.len() as u64, "configuration");
    let total = |of: fn(&CellResult) -> u32| cells.iter().map(of).sum::<u32>();
    let (failed, invalid) = (total(|cell| cell.failed), total(|cell| cell.invalid));
    let mut text = vec![format!(
        "Design: {count} of the scenario \"{scenario}\"{}, with up to {runs} runs each; {failed} runs failed, and \
         {invalid} were left out because the machine did not keep up.",
        varied(cells)
    )];
    let chance = match document.substrate.as_str() {
        LIVE => "",
        _ => " and hence the same random losses and delays of the links,",
    };
    text.push(format!(
        "Run k of every configuration has the same seed, derived from the root seed {seed},{chance} so \
         configurations are compared in pairs of runs."
    ));
    text.push(substrate(document));
    let titles = |by_median: bool| {
        let known = metrics::COMPARED.iter().filter(|known| known.by_median() == by_median);
        let there = known.filter(|known| cells.iter().any(|cell| known.of(cell).is_some()));
        Some(there.map(|known| known.title).collect::<Vec<_>>().join(", "))
            .filter(|all| !all.is_empty())
    };
    text.extend(titles(true).map(|titles| {
        format!(
            "Compared by medians ({titles}): the 95 % confidence interval is between order statistics, with runs \
             as clusters; differences are medians of the differences by run, tested by the sign test."
        )
    }));
    text.extend(titles(false).map(|titles| {
        format!(
            "Compared by means ({titles}): the 95 % confidence interval is Student's over the means of runs, \
             corrected for skewness (Hall 1992, Willink 2005); differences are means of the differences by run."
        )
    }));
    let families = grouped(document.differences.iter().map(|found| (&found.metric, ())));
    text.extend(families.iter().map(|(_, all)| all.len() as u64).max().map(|most| {
        format!(
            "Each configuration is compared with the best one under the same conditions. Verdicts hold for all \
             comparisons of a metric together (at most {most}) with 95 % confidence (Holm 1979) and need {MIN_RUNS} runs."
        )
    }));
    let build = build.map(|build| format!(", build {build}")).unwrap_or_default();
    text.push(format!(
        "Software: Trackbed {trackbed}{build} (The Trackbed authors, https://github.com/trackbed/trackbed); plan \
         {plan}."
    ));
    text.join(" ")
}

/// What varies, each factor with its values.
fn varied(cells: &[CellResult]) -> String {
    let names: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.factors.keys()).collect();
    let factors = names.into_iter().filter_map(|name| {
        let mut values = distinct(cells.iter().map(|cell| cell.factor_text(name)));
        values.retain(|value| !value.is_empty());
        (values.len() > 1).then(|| format!("{name} ({})", values.join(", ")))
    });
    let factors: Vec<String> = factors.collect();
    if factors.is_empty() { String::new() } else { format!(" by {}", factors.join(", ")) }
}

fn substrate(document: &Document) -> String {
    let place = match document.substrate.as_str() {
        VIRTUAL => {
            "Real protocol stacks ran over simulated links in virtual time (a discrete-event simulation), so the \
             results are the same on every machine"
        }
        EMULATED => "Real programs ran on a Linux kernel over emulated links, in real time",
        _ => "Real programs ran on two machines over the network between them, in real time",
    };
    let facts = document.environment.iter().map(|(name, value)| format!("{name}: {value}"));
    let model = document.model.iter().map(|model| format!("modelled, not measured: {model}"));
    let facts: String = facts.chain(model).map(|fact| format!("; {fact}")).collect();
    format!("{place}{facts}.")
}
