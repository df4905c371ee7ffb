//! Settings that make no sense are refused: the error names the parameter, and says what to do.

use crate::support::prepare;

/// A line has a workload, its settings, the parameter that is wrong, and a part of the advice.
const REFUSED: &str = include_str!("../data/refused.txt");

#[test]
fn what_makes_no_sense_is_refused_with_advice() {
    let pair = |text: &'static str, by: &str| text.split_once(by).unwrap();
    for line in REFUSED.lines() {
        let (given, (parameter, advice)) = (pair(line, " => ").0, pair(pair(line, " => ").1, ":"));
        let (workload, settings) = pair(given, ": ");
        let settings: Vec<_> = settings.split(", ").map(|one| pair(one, " = ")).collect();
        let Err(why) = prepare(workload, &settings) else { panic!("{given} was taken") };
        assert_eq!(why.parameter, parameter, "{given}: {why}");
        assert!(why.advice.contains(advice.trim()), "{given}: {why}");
    }
}
