//! What a key exchange or a chain of certificates adds, by cells that differ in nothing else.

use trackbed_measure::lists::grouped;
use trackbed_measure::results::CellResult;

use super::names::{Names, PROTOCOL, protocol};
use crate::groups::Section;
use crate::number::plural;

/// Their first values are what the others are compared with.
const FACTORS: [&str; 2] = ["key_exchange", "chain"];

/// A cell, and by how much it exceeds the one with the first value: bytes of a run, round trips of the handshake.
struct Pair<'a> {
    cell: &'a CellResult,
    bytes: f64,
    trips: f64,
}

/// `Handshakes: ml-dsa-65 adds 16.1 kB and 1 round trip over QUIC, 15.9 kB and at most 1 round trip (0 with initial
/// window 32) over HTTP/2.`
pub(super) fn of(section: &Section<'_>) -> Option<String> {
    let cells: Vec<&CellResult> = section.results().collect();
    let names = Names::new(section.document, &cells, &cells);
    let mut told = Vec::new();
    for factor in FACTORS {
        let pairs = cells.iter().filter_map(|cell| Pair::new(cell, &cells, factor));
        for (value, pairs) in grouped(pairs.map(|pair| (pair.cell.factor_text(factor), pair))) {
            let by_protocol = pairs.iter().map(|pair| (pair.cell.factor_text(PROTOCOL), pair));
            let added = grouped(by_protocol)
                .into_iter()
                .map(|(name, pairs)| format!("{} over {}", added(&pairs, &names), protocol(&name)));
            told.push(format!("{value} adds {}", added.collect::<Vec<_>>().join(", ")));
        }
    }
    (!told.is_empty()).then(|| format!("Handshakes: {}.", told.join("; ")))
}

impl<'a> Pair<'a> {
    fn new(cell: &'a CellResult, cells: &[&'a CellResult], factor: &str) -> Option<Pair<'a>> {
        let first = cells.first()?.factor_text(factor);
        let is_twin = |twin: &&&CellResult| {
            let mut others = cell.factors.keys().filter(|name| *name != factor);
            twin.factor_text(factor) == first
                && others.all(|name| twin.factor_text(name) == cell.factor_text(name))
        };
        let twin = cells.iter().find(is_twin).filter(|_| cell.factor_text(factor) != first)?;
        let more = |metric| Some(cell.metrics.get(metric)?.p50 - twin.metrics.get(metric)?.p50);
        let trips = more("handshake_ms")? / twin.metrics.get("rtt_ms")?.min;
        Some(Pair { cell, bytes: more("wire_bytes")?, trips: trips.round().max(0.0) })
    }
}

fn added(pairs: &[&Pair<'_>], names: &Names<'_>) -> String {
    let bytes = |pair: &&Pair<'_>| format!("{:.1}", pair.bytes / 1e3);
    let by_bytes = |one: &&&Pair<'_>, other: &&&Pair<'_>| one.bytes.total_cmp(&other.bytes);
    let fewest = pairs.iter().min_by(by_bytes).map_or_else(String::new, bytes);
    let range = pairs.iter().max_by(by_bytes).map(bytes).filter(|most| *most != fewest);
    let to = range.map_or_else(String::new, |most| format!(" to {most}"));
    let least = pairs.iter().map(|pair| pair.trips).fold(f64::INFINITY, f64::min);
    let most = pairs.iter().map(|pair| pair.trips).fold(0.0, f64::max);
    let most_trips = plural(most as u64, "round trip");
    let trips = match least == most {
        true => most_trips,
        false => format!("at most {most_trips}{}", saved(pairs, least, names)),
    };
    format!("{fewest}{to} kB and {trips}")
}

/// ` (0 with initial window 32)`: the factor that decides between the least and more.
fn saved(pairs: &[&Pair<'_>], least: f64, names: &Names<'_>) -> String {
    let decides = |name: &String| {
        let by_value = grouped(pairs.iter().map(|pair| (pair.cell.factor_text(name), *pair)));
        let (saving, dear): (Vec<_>, Vec<_>) =
            by_value.iter().partition(|(_, pairs)| pairs.iter().all(|pair| pair.trips == least));
        let all_dear = dear.iter().flat_map(|(_, pairs)| pairs).all(|pair| pair.trips > least);
        let (_, saving) = saving.first().filter(|_| all_dear)?;
        let value = saving[0].cell.factors.get(name)?;
        Some(format!(" ({least} with {})", names.phrase(name, value)))
    };
    pairs[0].cell.factors.keys().find_map(decides).unwrap_or_default()
}
