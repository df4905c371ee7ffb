//! What the traffic of other groups does to a group: what its clients lose, and which share they get.

use trackbed_measure::lists::grouped;
use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{CellResult, SPOILED_MOST};
use trackbed_scenario::{GROUP, PART};

use super::names::{Names, scale, unit};
use crate::groups::Section;
use crate::number::Decimals;

/// Sentences about the groups beside that of `section`; none without groups.
pub(super) fn of(section: &Section<'_>, compared: &Compared) -> Vec<String> {
    if section.results().all(|cell| cell.factor_text(GROUP).is_empty()) {
        return Vec::new();
    }
    let time = metrics::compared("rtt_ms").filter(|time| {
        compared.is_share() && section.results().any(|cell| time.of(cell).is_some())
    });
    let harm = harm(section, time.unwrap_or(compared));
    harm.into_iter().chain(share(section)).chain(queue(section)).collect()
}

/// `With download count 4 instead of 0 at 200 packets: median round-trip time of QUIC 117.4 ms instead of 20.21.`
fn harm(section: &Section<'_>, compared: &Compared) -> Vec<String> {
    let all: Vec<&CellResult> = section.results().collect();
    let factors = section.telling_factors();
    let mut sentences = Vec::new();
    for count in factors.iter().filter(|name| name.ends_with("_count")) {
        let value = |cell: &CellResult| cell.factors.get(count).and_then(serde_json::Value::as_f64);
        let values = || all.iter().filter_map(|cell| value(cell));
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let is_place = |name: &&String| *name != count && !ENDS.contains(&name.as_str());
        let conditions = || factors.iter().filter(is_place);
        let under = |cell: &CellResult| -> Vec<String> {
            conditions().map(|name| cell.factor_text(name)).collect()
        };
        // Where most messages had no answer, the others say little of its times.
        let is_told = |cell: &CellResult| least < most && cell.spoiled() <= SPOILED_MOST;
        let crowded = all.iter().filter(|cell| value(cell) == Some(most) && is_told(cell));
        let with = section.document.factor(count).title;
        for (place, cells) in grouped(crowded.map(|cell| (under(cell), *cell))) {
            let is_twin = |cell: &CellResult, twin: &CellResult| {
                let same = |name: &String| {
                    name == count || cell.factor_text(name) == twin.factor_text(name)
                };
                value(twin) == Some(least) && factors.iter().all(same)
            };
            let names = Names::new(section.document, &cells, &all);
            let change = |cell: &&CellResult| {
                let twin = all.iter().find(|twin| is_twin(cell, twin))?;
                let [before, after] = [twin, cell].map(|one| compared.of(one));
                let [before, after] = [before?, after?].map(|value| value * scale(compared));
                let matters = (after - before).abs() > USEFUL * before.abs();
                let decimals = Decimals::of([before, after]);
                let [before, after] = [before, after].map(|value| decimals.text(value));
                let name = names.cell(cell, &cells);
                let name = if name.is_empty() { name } else { format!("{name} ") };
                Some((matters, format!("{name}{after} {} instead of {before}", unit(compared))))
            };
            let changes: Vec<(bool, String)> = cells.iter().filter_map(change).collect();
            let matters = changes.iter().any(|(matters, _)| *matters);
            let changes: Vec<String> = changes.into_iter().map(|(_, text)| text).collect();
            let place = place.into_iter().zip(conditions());
            let place: Vec<String> = place
                .filter(|(text, _)| !text.is_empty())
                .filter_map(|(_, name)| Some(names.phrase(name, cells[0].factors.get(name)?)))
                .collect();
            let place =
                if place.is_empty() { String::new() } else { format!(" at {}", place.join(", ")) };
            let center = if compared.by_median() { "median" } else { "mean" };
            let what = compared.title;
            let head = format!("With {with} {most} instead of {least}{place}: {center} {what}");
            match (changes.is_empty(), matters) {
                (true, _) => {}
                (false, true) => sentences.push(format!("{head} {}.", changes.join(", "))),
                (false, false) => sentences.push(format!("{head} changes by less than 1 %.")),
            }
        }
    }
    sentences
}

/// `Its share of all bytes is 34.7 % (100 packets, QUIC, cubic) to 51.0 % (codel, TCP, reno).`
fn share(section: &Section<'_>) -> Option<String> {
    let of = |cell: &CellResult| cell.mean("traffic_share_percent");
    let told = |share: &f64| (SHARE_LEAST..=100.0 - SHARE_LEAST).contains(share);
    let shares = extremes(section, |cell| of(cell).filter(told), "%")?;
    Some(format!("Its share of all bytes is {shares}."))
}

/// `Packets wait 0.06 ms (codel, download count 0) to 60.5 ms (200 packets, download count 4) for the shared link.`
/// It is told once for all groups.
fn queue(section: &Section<'_>) -> Option<String> {
    let part = |cell: &CellResult| cell.factor_text(PART);
    let all = &section.document.cells;
    let own = all.get(*section.cells.first()? as usize).map(part)?;
    let is_first = all.iter().position(|cell| part(cell) == own)? == section.cells[0] as usize;
    let of = |cell: &CellResult| Some(cell.metrics.get("queue_delay_ms")?.p50);
    let waits = extremes(section, |cell| of(cell).filter(|_| is_first), "ms")?;
    Some(format!("Packets wait {waits} for the shared link (median)."))
}

/// The least and the greatest value, each with where it is.
fn extremes(
    section: &Section<'_>,
    value: impl Fn(&CellResult) -> Option<f64>,
    unit: &str,
) -> Option<String> {
    let all: Vec<&CellResult> = section.results().collect();
    let mut values: Vec<(f64, &CellResult)> =
        all.iter().filter_map(|cell| Some((value(cell)?, *cell))).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shown = |value: f64| Decimals::significant(value, 3).text(value);
    let text = |(value, cell): &(f64, &CellResult)| {
        let place = Names::new(section.document, &[cell], &all).condition(cell);
        let place = if place.is_empty() { place } else { format!(" ({place})") };
        format!("{} {unit}{place}", shown(*value))
    };
    match &values[..] {
        [] => None,
        [only] => Some(text(only)),
        [least, .., most] if shown(least.0) == shown(most.0) => {
            Some(format!("{} {unit} in each", shown(most.0)))
        }
        [least, .., most] => Some(format!("{} to {}", text(least), text(most))),
    }
}

/// A smaller change is not worth a figure.
const USEFUL: f64 = 0.01;

/// The factors that are choices of the ends.
const ENDS: [&str; 6] = ["protocol", "tls", "handshake", "cipher", "congestion", "scheduler"];

/// The share of a group that only sends some messages tells nothing, nor does that of the others.
const SHARE_LEAST: f64 = 5.0;
