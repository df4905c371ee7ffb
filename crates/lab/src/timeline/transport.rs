//! Windows and round-trip times as transports report them: from QUIC's traces, and from TCP
//! connections each time bytes move.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use trackbed_measure::qlog::QlogSinks;
use trackbed_measure::timeline::{Chart, Curve};
use trackbed_protocols::{Observer, Side, TcpTrace};
use trackbed_substrate::{TcpInfo, TcpStream, now};

use super::thinning::thinned;

/// Records of the first connection of each side. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces {
    qlog: QlogSinks,
    tcp: Arc<Mutex<BTreeMap<Side, Connection>>>,
}

/// The paths of a TCP connection, in order of appearance; one, unless it is Multipath TCP.
#[derive(Debug, Default)]
struct Connection(Vec<Path>);

#[derive(Debug)]
struct Path {
    /// The addresses of a path; empty for the whole connection.
    ends: String,
    /// Seconds since the connection was established, bytes allowed in flight, and the round-trip
    /// time in milliseconds if there was a sample.
    points: Vec<(f64, u64, Option<f64>)>,
}

impl Observer for Traces {
    fn tls_key(&self, _line: &str) {}

    fn qlog(&self, side: Side, _connection: &str) -> Option<Box<dyn Write + Send + Sync>> {
        Some(self.qlog.create(name(side)))
    }

    fn tcp(&self, side: Side) -> Option<TcpTrace> {
        let mut connections = lock(&self.tcp);
        if connections.contains_key(&side) {
            return None;
        }
        connections.insert(side, Connection::default());
        let (all, began) = (Arc::clone(&self.tcp), now());
        Some(Box::new(move |at, stream| {
            if let Some(connection) = lock(&all).get_mut(&side) {
                connection.note((at - began).as_secs_f64(), stream);
            }
        }))
    }
}

impl Connection {
    fn note(&mut self, at: f64, stream: &dyn TcpStream) {
        let paths = stream.paths();
        if paths.is_empty() {
            self.path(String::new()).note(at, &stream.info());
        }
        for path in paths {
            self.path(format!("{} {}", path.local, path.remote)).note(at, &path.info);
        }
    }

    fn path(&mut self, ends: String) -> &mut Path {
        let index = self.0.iter().position(|path| path.ends == ends).unwrap_or_else(|| {
            self.0.push(Path { ends, points: Vec::new() });
            self.0.len() - 1
        });
        &mut self.0[index]
    }
}

impl Path {
    fn note(&mut self, at: f64, info: &TcpInfo) {
        let rtt = info.smoothed_rtt.map(|rtt| rtt.as_secs_f64() * 1e3);
        let is_news = |(_, window, before): &(f64, u64, Option<f64>)| {
            (*window, *before) != (info.congestion_window, rtt)
        };
        if self.points.last().is_none_or(is_news) {
            self.points.push((at, info.congestion_window, rtt));
        }
    }

    fn curves(&self, name: &str) -> [Curve; 2] {
        let windows = self.points.iter().map(|(at, window, _)| (*at, *window as f64));
        let rtts = self.points.iter().filter_map(|(at, _, rtt)| Some((*at, (*rtt)?)));
        [
            (Chart::CongestionWindow, thinned(windows.collect())),
            (Chart::SmoothedRtt, thinned(rtts.collect())),
        ]
        .map(|(chart, points)| Curve { chart, name: name.to_owned(), points })
    }
}

impl Traces {
    pub(super) fn curves(&self) -> Vec<Curve> {
        let mut curves: Vec<Curve> = self.qlog.take().into_iter().flat_map(quic).collect();
        for (side, Connection(paths)) in std::mem::take(&mut *lock(&self.tcp)) {
            for (index, path) in paths.iter().enumerate() {
                let name = match paths.len() {
                    1 => name(side).to_owned(),
                    _ => format!("{}, path {index}", name(side)),
                };
                curves.extend(path.curves(&name));
            }
        }
        curves.sort_by_key(|curve| curve.chart);
        curves
    }
}

/// The curves of a QUIC connection, if it is the first of its side: names of further ones have a
/// number.
fn quic((side, text): (String, Vec<u8>)) -> Vec<Curve> {
    if ![Side::Client, Side::Server].map(name).contains(&side.as_str()) {
        return Vec::new();
    }
    let lines: Vec<Value> = text.split(|byte| *byte == b'\n').filter_map(metrics).collect();
    [(Chart::CongestionWindow, "congestion_window"), (Chart::SmoothedRtt, "smoothed_rtt")]
        .map(|(chart, key)| {
            let point =
                |line: &Value| Some((line["time"].as_f64()? / 1e3, line["data"][key].as_f64()?));
            let points = thinned(lines.iter().filter_map(point).collect());
            Curve { chart, name: side.clone(), points }
        })
        .into()
}

/// A line of a trace, if it is about recovery (draft-ietf-quic-qlog-quic-events, section 8).
fn metrics(line: &[u8]) -> Option<Value> {
    // Records of a JSON text sequence begin with a separator (RFC 7464).
    let line = line.strip_prefix(b"\x1e").unwrap_or(line);
    let value: Value = serde_json::from_slice(line).ok()?;
    value["name"].as_str()?.ends_with("recovery_metrics_updated").then_some(value)
}

fn name(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}

/// Records are written in one step, so a panic elsewhere leaves nothing inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
