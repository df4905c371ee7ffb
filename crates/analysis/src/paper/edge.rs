//! The study of secure communication beside inference: its figures, and its guidance, which anybody's
//! runs derive or refute.

use crate::advise::guidance::{
    Figure, GuidanceVerdict, Load, Recommendation, Setting, TITLE, figures, judge, observe,
};
use schemars::JsonSchema;
use serde::Serialize;
use trackbed_measure::results::{CellResult, Check, Document, RunResult};

/// What the study found, held against runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Study {
    /// Its title.
    pub title: &'static str,
    /// What of the runs is a model's and no measurement, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its figures that have a counterpart in the runs.
    pub figures: Vec<Figure>,
    /// What it recommends, and what the runs say about it.
    pub guidance: Vec<Recommendation>,
}

/// Holds the study against the runs behind `document`.
pub(super) fn study(document: &Document, runs: &[RunResult]) -> Study {
    let observed = observe(document, runs, setting);
    let (figures, guidance) = (figures(&observed), judge(&observed));
    Study { title: TITLE, model: document.model.clone(), figures, guidance }
}

impl Study {
    /// Its recommendations as checks: one that the runs do not derive does not pass.
    pub fn checks(&self) -> Vec<Check> {
        let check = |advice: &Recommendation| Check {
            name: advice.text.to_owned(),
            pass: advice.verdict == GuidanceVerdict::Derived,
            detail: format!(
                "{} comparisons for it, {} against it, {} undecided",
                advice.better,
                advice.against.len(),
                advice.undecided
            ),
        };
        self.guidance.iter().map(check).collect()
    }
}

/// What a cell is in the study's terms; `None` where it had no such thing.
fn setting(cell: &CellResult) -> Option<Setting> {
    let protocol = match cell.factor_text("protocol").as_str() {
        "http2" => "https",
        "http3" => "http3",
        "mqtt" => "mqtt",
        "coap+dtls" => "dtls",
        _ => return None,
    };
    let load = match (cell.factor_text("rate_hz").as_str(), cell.factor_text("size_bytes").as_str())
    {
        ("1", "512") => Load::Low,
        ("100", "2048") => Load::High,
        _ => return None,
    };
    let cipher = match cell.factor_text("cipher").as_str() {
        cipher @ ("aes128gcm" | "aes256gcm") => cipher.to_owned(),
        "chacha20poly1305" => "chacha20".to_owned(),
        _ => return None,
    };
    let inferring = !["", "none"].contains(&cell.factor_text("inference").as_str());
    inferring.then(|| Setting { protocol: protocol.to_owned(), cipher, load })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trackbed_measure::results::Outcome;

    use super::super::tests::document_of_nothing;
    use super::*;
    use trackbed_scenario::papers::EDGE;
    use trackbed_scenario::{self as scenario, Source};

    /// Four protocols, three ciphers, two loads: each cell of the study is one of the scenario's, and
    /// none of the others is.
    #[test]
    fn every_cell_of_the_study_is_a_cell_of_the_scenario() {
        let plan = scenario::load(&Source::named(EDGE), &[]).unwrap();
        assert_eq!(plan.paper.as_deref(), Some(EDGE));
        let cells = document_of_nothing(&plan).cells;
        let settings: Vec<Setting> = cells.iter().filter_map(setting).collect();
        assert_eq!((cells.len(), settings.len()), (29, 24));
        for (index, setting) in settings.iter().enumerate() {
            assert!(!settings[..index].contains(setting), "{setting:?}");
        }
    }

    #[test]
    fn figures_stand_beside_ours_and_guidance_is_derived_from_ours() {
        let plan = scenario::load(&Source::named(EDGE), &[]).unwrap();
        // DTLS has every good, and every run is the same but for a hundredth. Its values are spread, as those
        // of real runs are: copies would count as one.
        let run = |(index, cell): (u32, &CellResult), number: u32| {
            let good = cell.factor_text("protocol") == "coap+dtls";
            let noise = f64::from(number) / 100.0;
            let samples = [
                ("fps", if good { 9.0 } else { 5.0 }),
                ("rtt_ms", if good { 3.0 } else { 7.0 }),
                ("cpu_percent", 150.0),
            ];
            let spread = |value: f64| {
                (0..400).map(|k| value + noise + (f64::from(k) - 199.5) / 200.0).collect::<Vec<_>>()
            };
            let samples = samples.map(|(name, value)| (name.to_owned(), spread(value)));
            let outcome = Outcome::Samples(BTreeMap::from(samples));
            RunResult { cell: index, run: number, outcome, certificate: None }
        };
        let cells = document_of_nothing(&plan).cells;
        let runs = (0..8).flat_map(|number| (0..).zip(&cells).map(move |cell| run(cell, number)));
        let runs: Vec<RunResult> = runs.collect();
        let origin = crate::Origin {
            substrate: trackbed_measure::results::VIRTUAL.to_owned(),
            ..crate::Origin::default()
        };
        let document = crate::document(&plan, &origin, &runs, false).unwrap();
        let study = study(&document, &runs);
        let passes: Vec<bool> = study.checks().iter().map(|check| check.pass).collect();
        assert_eq!(passes, [true, false, false, false]);
        let cpu = study.figures.iter().find(|figure| {
            let Setting { protocol, cipher, load } = &figure.setting;
            figure.metric == "cpu_percent"
                && (protocol.as_str(), cipher.as_str(), *load) == ("https", "aes128gcm", Load::Low)
        });
        let cpu = cpu.unwrap();
        assert_eq!(cpu.printed[0].low, 189.753);
        assert_eq!(cpu.printed.len(), 2);
        assert!((cpu.here - 150.035).abs() < 1e-9, "{cpu:?}");
    }
}
