//! Display names of metrics and values.

use trackbed_measure::metrics::{self, split_unit};

/// A metric's display name and unit: `handover goodput` and `Mbit/s`.
pub(crate) fn name_and_unit(metric: &str) -> (String, &'static str) {
    if metric == "fps" {
        return ("frames per second".to_owned(), "1/s");
    }
    let (name, unit) = split_unit(metric);
    let written = UNITS.iter().find(|(short, _)| *short == unit);
    match written {
        Some((_, written)) => (name.replace('_', " "), written),
        None => (metric.replace('_', " "), "number"),
    }
}

/// A metric with its unit in one text.
pub(crate) fn metric(name: &str) -> String {
    let (name, unit) = name_and_unit(name);
    format!("{name} ({unit})")
}

/// A metric's definition, in a sentence.
pub(crate) fn help(name: &str) -> String {
    metrics::find(name).map_or_else(String::new, |metric| metric.help.to_owned())
}

/// A factor's value as an option.
pub(crate) fn value(text: &str) -> String {
    if text.is_empty() { "not set".to_owned() } else { text.to_owned() }
}

/// Suffixes of metric names, and how the units are written.
const UNITS: [(&str, &str); 9] = [
    ("ms", "ms"),
    ("mbps", "Mbit/s"),
    ("percent", "%"),
    ("bytes", "B"),
    ("ratio", "share"),
    ("count", "number"),
    ("hz", "1/s"),
    ("celsius", "°C"),
    ("watts", "W"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_unit() {
        for metric in metrics::registry() {
            let (name, unit) = name_and_unit(metric.name);
            let known =
                metric.name == "fps" || UNITS.iter().any(|(end, _)| metric.name.ends_with(end));
            assert!(known && !name.is_empty() && !unit.is_empty(), "{}", metric.name);
        }
        assert_eq!(metric("handover_goodput_mbps"), "handover goodput (Mbit/s)");
    }
}
