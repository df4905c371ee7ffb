//! Derives the parameters of a device model from runs on a real device: frames from cells without
//! network, costs of messages, packets and ciphers from the processor time of clients.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trackbed_device::processor::costs::{BYTE_MAX_PS, COST_MAX_NS, Cost, Costs, OTHER};
use trackbed_device::processor::durations::{Durations, FrameTime, PART_MAX_NS};
use trackbed_device::processor::host::PacketCost;
use trackbed_measure::results::{CellResult, Document, RunResult};

/// The frames of a run directory, as input for the model.
///
/// They come from cells with inference and without network, where no other work competed for the
/// cores, in their original order. The processor time of the inference determines which part of a
/// frame its `threads` shared: a frame that keeps `u` of `threads` cores busy on average is
/// parallel for `(u - 1) / (threads - 1)` of its length.
///
/// # Errors
/// If there are no such frames; the error says what to run.
pub fn durations(
    document: &Document,
    runs: &[RunResult],
    threads: u32,
) -> Result<Durations, String> {
    let is_alone = |cell: &CellResult| {
        cell.factor_text("protocol") == "none" && infers(cell) && document.model.is_none()
    };
    let (mut lengths, mut used) = (Vec::new(), Vec::new());
    for (index, _) in document.cells.iter().enumerate().filter(|(_, cell)| is_alone(cell)) {
        for run in runs.iter().filter(|run| run.cell as usize == index) {
            lengths.extend_from_slice(samples(run, "frame_ms"));
            used.extend_from_slice(samples(run, "inference_cpu_percent"));
        }
    }
    if lengths.is_empty() {
        return Err(
            "there are no frames of cells with inference and without network\n  help: run such \
                    a part on the emulated or the live substrate, for example `run edge --part 'no \
                    network'`, or measure with `trackbed infer --durations FILE`"
                .to_owned(),
        );
    }
    let cores = mean(&used).unwrap_or(100.0 * f64::from(threads)) / 100.0;
    let parallel = match threads {
        0 | 1 => 1.0,
        threads => ((cores - 1.0) / f64::from(threads - 1)).clamp(0.0, 1.0),
    };
    let frame = |millis: &f64| {
        let length = bounded(millis * 1e6, PART_MAX_NS).max(1);
        let parallel_ns = bounded(length as f64 * parallel, length);
        FrameTime { serial_ns: length - parallel_ns, parallel_ns }
    };
    Ok(Durations { threads: threads.max(1), frames: lengths.iter().map(frame).collect() })
}

/// The costs of messages, packets and ciphers for the clients of a run directory.
///
/// For each protocol, the clients' processor time is split into the costs of their start, of each
/// message and of each packet, as far as the loads allow. The cost of a cipher's bytes is the
/// excess over TCP without encryption if there is such a cell, otherwise over the cheapest cipher.
/// Cells without inference are preferred, because inference disturbs the measurement.
///
/// # Errors
/// If no client has this information; the error says what to run.
pub fn costs(document: &Document, runs: &[RunResult]) -> Result<Costs, String> {
    let rows = match document.model {
        None => rows(document, runs),
        Some(_) => Vec::new(),
    };
    let ciphers = ciphers(&rows);
    let names: BTreeSet<&String> =
        rows.iter().filter(|row| row.messages > 0.0).map(|row| &row.protocol).collect();
    let mut costs = Costs { ciphers, ..Costs::default() };
    for name in names {
        let own = || rows.iter().filter(|row| row.protocol == *name && row.messages > 0.0);
        let is_any_quiet = own().any(|row| !row.infers);
        let points = own().filter(|row| !(is_any_quiet && row.infers));
        let points: Vec<Point> = points.map(|row| row.point(&costs.ciphers)).collect();
        costs.protocols.insert(name.clone(), fit(&points));
    }
    if costs.protocols.is_empty() {
        return Err("there is no processor time of clients that sent messages\n  help: run telemetry on \
                    the emulated or the live substrate, at a low and a high rate, with small and large \
                    messages"
            .to_owned());
    }
    let known: Vec<Cost> = costs.protocols.values().copied().collect();
    costs.protocols.insert(OTHER.to_owned(), middle(&known));
    Ok(costs)
}

/// The combined runs of a cell.
#[derive(Debug)]
struct Row {
    protocol: String,
    cipher: String,
    /// Its other factors.
    load: String,
    infers: bool,
    cpu_ns: f64,
    messages: f64,
    packets: f64,
    bytes: f64,
}

/// A load of one protocol, without encryption.
#[derive(Clone, Copy, Debug)]
struct Point {
    cpu_ns: f64,
    messages: f64,
    packets: f64,
}

impl Row {
    fn point(&self, ciphers: &BTreeMap<String, u64>) -> Point {
        let byte = ciphers.get(&self.cipher).copied().unwrap_or(0) as f64 / 1e3;
        let cpu_ns = (self.cpu_ns - byte * self.bytes).max(1.0);
        Point { cpu_ns, messages: self.messages, packets: self.packets }
    }
}

fn rows(document: &Document, runs: &[RunResult]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, cell) in document.cells.iter().enumerate() {
        let own: Vec<&RunResult> = runs.iter().filter(|run| run.cell as usize == index).collect();
        let of = |name: &str| median(own.iter().flat_map(|run| samples(run, name).iter().copied()));
        let certificates = own.iter().filter_map(|run| run.certificate.as_ref());
        let packets = median(certificates.map(|certificate| certificate.packets as f64));
        let Some(cpu_ms) = of("client_cpu_ms") else { continue };
        let text = |(name, value): (&String, &serde_json::Value)| {
            (!["protocol", "cipher"].contains(&name.as_str())).then(|| format!("{name}={value}"))
        };
        rows.push(Row {
            protocol: cell.factor_text("protocol"),
            cipher: cell.factor_text("cipher"),
            load: cell.factors.iter().filter_map(text).collect::<Vec<_>>().join(" "),
            infers: infers(cell),
            cpu_ns: cpu_ms * 1e6,
            messages: of("sent_count").unwrap_or(0.0),
            packets: packets.unwrap_or(0.0),
            bytes: of("wire_bytes").unwrap_or(0.0),
        });
    }
    rows
}

/// The cost of a byte for each cipher, in picoseconds.
fn ciphers(rows: &[Row]) -> BTreeMap<String, u64> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let is_encrypted = |row: &&Row| !["", "none"].contains(&row.cipher.as_str());
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows.iter().filter(is_encrypted).filter(|row| row.bytes > 0.0) {
        let bare = rows.iter().find(|other| {
            row.protocol == "tcp+tls" && other.protocol == "tcp" && other.load == row.load
        });
        let mut others = rows.iter().filter(|other| {
            other.protocol == row.protocol && other.load == row.load && other.cipher != row.cipher
        });
        let base = match bare {
            Some(bare) => bare.cpu_ns,
            // A single cipher cannot be separated from the protocol.
            None => match others.next() {
                None => continue,
                Some(other) => others.map(|other| other.cpu_ns).fold(other.cpu_ns, f64::min),
            },
        };
        // Loads with more bytes have more weight.
        let (sum, weight) = ((row.cpu_ns - base).max(0.0), row.bytes);
        found.entry(row.cipher.clone()).or_default().push(sum);
        *weights.entry(row.cipher.clone()).or_default() += weight;
    }
    let byte = |(name, sums): (String, Vec<f64>)| {
        let nanos = sums.iter().sum::<f64>() / weights[&name];
        (name, bounded(nanos * 1e3, BYTE_MAX_PS))
    };
    found.into_iter().map(byte).collect()
}

/// The costs of start, message and packet that fit the points best (by relative error), none of
/// them negative. With fewer loads, fewer costs can be separated: packets come first, then
/// messages, then the start.
fn fit(points: &[Point]) -> Cost {
    let loads: BTreeSet<(u64, u64)> =
        points.iter().map(|point| (point.messages as u64, point.packets as u64)).collect();
    let counts_packets = points.iter().any(|point| point.packets > 0.0);
    let mut best: Option<(f64, [f64; 3])> = None;
    for chosen in SUBSETS {
        let has_packet = chosen.contains(&PACKET);
        if chosen.len() > loads.len() || (has_packet && !counts_packets) {
            continue;
        }
        let Some(solution) = solve(points, chosen) else { continue };
        let error: f64 = points.iter().map(|point| miss(point, &solution).powi(2)).sum();
        let is_better = best.is_none_or(|(least, _)| error < least * (1.0 - 1e-9) - 1e-12);
        if solution.iter().all(|value| *value >= 0.0) && is_better {
            best = Some((error, solution));
        }
    }
    let [_, message, packet] = best.map_or([0.0; 3], |(_, solution)| solution);
    let nanos = |value: f64| Duration::from_nanos(bounded(value, COST_MAX_NS));
    Cost { message: nanos(message), packet: PacketCost { packet: nanos(packet), byte_picos: 0 } }
}

/// The coefficients of start, message and packet in a point, divided by its processor time.
fn factors(point: &Point) -> [f64; 3] {
    [1.0, point.messages, point.packets].map(|factor| factor / point.cpu_ns)
}

/// The relative error of a solution at a point.
fn miss(point: &Point, solution: &[f64; 3]) -> f64 {
    factors(point).iter().zip(solution).map(|(factor, value)| factor * value).sum::<f64>() - 1.0
}

/// Least squares by the normal equations, with the unknowns that are not `chosen` set to zero;
/// `None` if the points do not determine them.
fn solve(points: &[Point], chosen: &[usize]) -> Option<[f64; 3]> {
    let size = chosen.len();
    let mut rows = vec![vec![0.0; size + 1]; size];
    for point in points {
        let factors = factors(point);
        for (i, row) in rows.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                let other = chosen.get(j).map_or(1.0, |unknown| factors[*unknown]);
                *value += factors[chosen[i]] * other;
            }
        }
    }
    // Gauss-Jordan; each unknown is scaled by its diagonal element.
    let scale: Vec<f64> = (0..size).map(|i| rows[i][i]).collect();
    for i in 0..size {
        let pivot = rows[i].clone();
        if pivot[i].abs() <= scale[i] * 1e-9 || pivot[i] == 0.0 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let ratio = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= ratio * pivot);
        }
    }
    let mut solution = [0.0; 3];
    for (i, unknown) in chosen.iter().enumerate() {
        solution[*unknown] = rows[i][size] / rows[i][i];
    }
    Some(solution)
}

/// For protocols that were not measured: the median of the others.
fn middle(known: &[Cost]) -> Cost {
    let of = |nanos: fn(&Cost) -> Duration| {
        let nanos = median(known.iter().map(|cost| nanos(cost).as_nanos() as f64));
        Duration::from_nanos(nanos.unwrap_or(0.0) as u64)
    };
    let packet = PacketCost { packet: of(|cost| cost.packet.packet), byte_picos: 0 };
    Cost { message: of(|cost| cost.message), packet }
}

/// Whether inference ran beside the communication.
pub(crate) fn infers(cell: &CellResult) -> bool {
    !["", "none"].contains(&cell.factor_text("inference").as_str())
}

fn samples<'a>(run: &'a RunResult, name: &str) -> &'a [f64] {
    run.outcome.samples().and_then(|samples| samples.get(name)).map_or(&[], Vec::as_slice)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The lower of two middle values: disturbances only increase costs.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// Rounded and limited to 0 to `most`.
fn bounded(value: f64, most: u64) -> u64 {
    (value.max(0.0).round() as u64).min(most)
}

const START: usize = 0;
const MESSAGE: usize = 1;
const PACKET: usize = 2;

/// The sets of unknowns that may be positive, in order of preference among equally good fits.
const SUBSETS: [&[usize]; 6] = [
    &[PACKET],
    &[MESSAGE],
    &[MESSAGE, PACKET],
    &[START, PACKET],
    &[START, MESSAGE],
    &[START, MESSAGE, PACKET],
];
