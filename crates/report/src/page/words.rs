//! Display names of metrics and values.

use trackbed_measure::factors::written_unit;
use trackbed_measure::metrics::{self, split_unit};

use crate::words::capital;

/// A metric's display name and unit: `handover goodput` and `Mbit/s`.
pub(crate) fn name_and_unit(metric: &str) -> (String, &'static str) {
    if metric == "fps" {
        return ("frames per second".to_owned(), "1/s");
    }
    let (name, unit) = split_unit(metric);
    let written = match unit {
        "ratio" => Some("share"),
        "count" => Some("number"),
        unit => written_unit(unit),
    };
    (if written.is_some() { name } else { metric }.replace('_', " "), written.unwrap_or("number"))
}

pub(crate) fn metric(name: &str) -> String {
    let (name, unit) = name_and_unit(name);
    format!("{name} ({unit})")
}

/// A metric's definition, in a sentence.
pub(crate) fn help(name: &str) -> String {
    metrics::find(name).map_or_else(String::new, |metric| metric.help.to_owned())
}

/// `Completion time (ms)`
pub(crate) fn axis(metric: &str) -> String {
    let (name, unit) = name_and_unit(metric);
    let name = metrics::compared(metric).map_or(name, |compared| compared.title.to_owned());
    capital(&format!("{name} ({unit})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_unit() {
        for metric in metrics::registry() {
            let (name, unit) = name_and_unit(metric.name);
            let is_known = metric.name.ends_with("_count") || unit != "number";
            assert!(is_known && !name.is_empty() && !unit.is_empty(), "{}", metric.name);
        }
        assert_eq!(metric("handover_goodput_mbps"), "handover goodput (Mbit/s)");
    }
}
