//! A name that changes nothing is a defect, or has a reason.

use std::collections::BTreeMap;

use super::Scratch;

/// Values of a factor that give equal figures in the runs here.
const EQUAL: &[(&str, &str, [&str; 2], &str)] = &[
    ("train", "scheduler", ["minrtt", "ecf"], "the paths are so alike that ECF waits for none"),
    ("loaded", "queue", ["200 packets", "codel"], "without downloads nothing waits"),
];

const SCENARIOS: &str = "bulk crowd fairness hsr lte loaded migration streaming train vru web";

/// Cells of one part that differ in one named value give equal figures in all runs only for a known reason.
#[test]
#[ignore = "thorough: minutes"]
fn no_two_variants_of_a_scenario_are_one_without_a_reason() {
    for scenario in SCENARIOS.split(' ') {
        let scratch = Scratch::new();
        scratch.succeed(&format!("run {scenario} --quick --runs 2 --out out"));
        let mut outcomes: BTreeMap<u64, String> = BTreeMap::new();
        for line in scratch.read("out/runs.jsonl").lines() {
            let run: serde_json::Value = serde_json::from_str(line).unwrap();
            let cell = outcomes.entry(run["cell"].as_u64().unwrap()).or_default();
            *cell += &run["outcome"].to_string();
        }
        let plan = scratch.json("out/run.json");
        let factors = |cell: &u64| plan["cells"][*cell as usize]["factors"].as_object().unwrap();
        for (one, figures) in &outcomes {
            for (other, _) in outcomes.range(one + 1..).filter(|(_, other)| *other == figures) {
                let pairs = factors(one).iter().zip(factors(other).values());
                let differ: Vec<_> = pairs.filter(|((_, one), other)| one != other).collect();
                let [((factor, one), other)] = differ[..] else { continue };
                // Parts may share a cell.
                if factor == "part" {
                    continue;
                }
                let known = |entry: &&(&str, &str, [&str; 2], &str)| {
                    (entry.0, entry.1) == (scenario, factor.as_str())
                        && entry.2.map(Some) == [one.as_str(), other.as_str()]
                };
                let has_reason = !one.is_string() || EQUAL.iter().any(|entry| known(&entry));
                assert!(has_reason, "{scenario}: {factor} {one} and {other} give equal figures");
            }
        }
    }
}
