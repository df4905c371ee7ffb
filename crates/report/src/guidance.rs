//! The values in a study's tables beside the measured ones.

use trackbed_analysis::paper::{Figure, devices};

use crate::number::{Decimals, dash, significant};
use crate::table::{Align, Table};

/// `ours` is the title of the column with the results of the runs.
pub(crate) fn table(figures: &[Figure], ours: &str) -> Table {
    let devices = devices();
    let titles = ["figure", "load", "protocol", "cipher"].map(|title| (title, Align::Left));
    let numbers = devices.iter().map(String::as_str).chain([ours, "95 % interval", "answered/s"]);
    let mut table = Table::new(titles.into_iter().chain(numbers.map(|it| (it, Align::Right))));
    for figure in figures {
        let printed = devices.iter().map(|device| {
            let found = figure.printed.iter().find(|printed| printed.device == *device);
            found.map_or_else(dash, |printed| range(printed.low, printed.high))
        });
        let interval = match figure.ci95 {
            [Some(low), Some(high)] => Decimals::of([figure.here]).interval([low, high]),
            _ => dash(),
        };
        let words = [
            format!("{} {}", figure.statistic, figure.metric),
            figure.setting.load.clone(),
            figure.setting.protocol.clone(),
            figure.setting.cipher.clone(),
        ];
        let answered = figure.answered_hz.map_or_else(dash, significant);
        let here = [Decimals::of([figure.here]).text(figure.here), interval, answered];
        table.row(words.into_iter().chain(printed).chain(here));
    }
    table
}

fn range(low: f64, high: f64) -> String {
    if low == high { significant(low) } else { format!("{low} to {high}") }
}
