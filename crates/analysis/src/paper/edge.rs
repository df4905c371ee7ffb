//! The study of secure communication beside inference: its tables, and its guidance, which anybody's runs
//! derive or refute.

use crate::advise::guidance::{
    GuidanceVerdict, Load, Recommendation, Setting as Cell, figures, judge, observe,
};
use trackbed_measure::results::{CellResult, Document, RunResult};

use super::statement::{Held, Setting, Statement, Verdict};

/// The numbers of its recommendations.
#[cfg(test)]
pub(super) const ADVICE: [&str; 4] =
    ["edge-advice-1", "edge-advice-2", "edge-advice-3", "edge-advice-4"];

/// Adds to what is held the study's tables and its recommendations, against the runs behind `document`.
pub(super) fn add(held: &mut Held, document: &Document, runs: &[RunResult]) {
    // What is no model of one of its devices is a machine of the user's, held against both of them.
    let known =
        [("raspberry-pi-5", "Raspberry Pi 5"), ("jetson-orin-nano", "Jetson Orin Nano"), ("", "")];
    for (name, title) in known {
        let is_it = |cell: &CellResult| cell.factor_text("device") == name;
        let observed = observe(document, runs, |cell| setting(cell).filter(|_| is_it(cell)));
        if observed.all.is_empty() {
            continue;
        }
        let mut tables = figures(&observed);
        if !title.is_empty() {
            tables.iter_mut().for_each(|row| row.printed.retain(|printed| printed.device == title));
            tables.retain(|row| !row.printed.is_empty());
        }
        held.tables.extend(tables);
        let advice = (1..).zip(judge(&observed)).map(|advice| statement(advice, title));
        held.statements.extend(advice);
    }
}

/// A recommendation as a statement about the runs of a device, or of the user's machine if it has no name.
fn statement((number, advice): (u32, Recommendation), device: &str) -> Statement {
    let Recommendation { text, reading, better, undecided, against, verdict, .. } = advice;
    let machine = if device.is_empty() { "this machine" } else { device };
    let counts = format!("{better} comparisons for it, {} against it", against.len());
    Statement {
        id: format!("edge-advice-{number}"),
        source: "conclusion".to_owned(),
        text: format!("{text} ({reading}), {machine}: {counts}, {undecided} undecided"),
        setting: Setting::Study,
        says: "better".to_owned(),
        study: None,
        unit: "%".to_owned(),
        ours: None,
        ci95: None,
        runs: 0,
        verdict: match verdict {
            GuidanceVerdict::Derived => Verdict::Confirmed,
            GuidanceVerdict::Refuted => Verdict::Opposite,
            // More runs of a model that has no such difference show none.
            GuidanceVerdict::Undecided if !device.is_empty() => Verdict::NotTestable,
            GuidanceVerdict::Undecided => Verdict::Undecided,
            GuidanceVerdict::NotMeasured => Verdict::NotRun,
        },
        runs_needed: None,
        why: (!against.is_empty() || verdict == GuidanceVerdict::Undecided).then(|| {
            if against.is_empty() {
                return "What it compares costs the same in the model, or differs by less than \
                        its intervals."
                    .to_owned();
            }
            let more = match against.len().saturating_sub(AGAINST_MAX) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            let first: Vec<&str> = against.iter().take(AGAINST_MAX).map(String::as_str).collect();
            format!("Against it: {}{more}.", first.join("; "))
        }),
        evidence: None,
    }
}

/// More say no more.
const AGAINST_MAX: usize = 3;

/// What a cell is in the study's terms; `None` where it had no such thing.
fn setting(cell: &CellResult) -> Option<Cell> {
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
    inferring.then(|| Cell { protocol: protocol.to_owned(), cipher, load })
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
        let settings: Vec<Cell> = cells.iter().filter_map(setting).collect();
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
        let mut held = Held::default();
        add(&mut held, &document, &runs);
        let passes: Vec<bool> = held.checks().iter().map(|check| check.pass).collect();
        assert_eq!(passes, [true, false, false, false]);
        let cpu = held.tables.iter().find(|figure| {
            let Cell { protocol, cipher, load } = &figure.setting;
            figure.metric == "cpu_percent"
                && (protocol.as_str(), cipher.as_str(), *load) == ("https", "aes128gcm", Load::Low)
        });
        let cpu = cpu.unwrap();
        assert_eq!(cpu.printed[0].low, 189.753);
        assert_eq!(cpu.printed.len(), 2);
        assert!((cpu.here - 150.035).abs() < 1e-9, "{cpu:?}");
    }
}
