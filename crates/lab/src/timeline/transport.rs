//! Windows and round-trip times as transports report them: from QUIC's traces, and from TCP
//! connections each time bytes move.

use std::io::Write;

use serde_json::Value;
use trackbed_core::Time;
use trackbed_measure::qlog::QlogSinks;
use trackbed_measure::timeline::{Chart, Curve};
use trackbed_protocols::{Observer, Side, TcpTrace};

use super::thinning::thinned;
use crate::windows::{Connection, Path, Window, Windows};

/// Records of the first connection of each side. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces {
    qlog: QlogSinks,
    tcp: Windows,
}

impl Observer for Traces {
    fn tls_key(&self, _line: &str) {}

    fn qlog(&self, side: Side, _connection: &str) -> Option<Box<dyn Write + Send + Sync>> {
        Some(self.qlog.create(side.name()))
    }

    fn tcp(&self, side: Side) -> Option<TcpTrace> {
        self.tcp.trace(side)
    }
}

impl Traces {
    pub(super) fn curves(&self) -> Vec<Curve> {
        let mut curves: Vec<Curve> = self.qlog.take().into_iter().flat_map(quic).collect();
        for (side, Connection { began, paths }) in self.tcp.take() {
            for (index, path) in paths.iter().enumerate() {
                let name = match paths.len() {
                    1 => side.to_string(),
                    _ => format!("{side}, path {index}"),
                };
                curves.extend(tcp(&name, began, path));
            }
        }
        curves.sort_by_key(|curve| curve.chart);
        curves
    }
}

/// The curves of a path of a TCP connection, over the seconds since it was established.
fn tcp(name: &str, began: Time, path: &Path) -> [Curve; 2] {
    let at = |window: &Window| (window.at - began).as_secs_f64();
    let windows = path.windows.iter().map(|window| (at(window), window.bytes as f64));
    let rtt = |window: &Window| Some((at(window), window.rtt?.as_secs_f64() * 1e3));
    let rtts = path.windows.iter().filter_map(rtt);
    [
        (Chart::CongestionWindow, thinned(windows.collect())),
        (Chart::SmoothedRtt, thinned(rtts.collect())),
    ]
    .map(|(chart, points)| Curve { chart, name: name.to_owned(), points })
}

/// The curves of a QUIC connection, if it is the first of its side: names of further ones have a
/// number.
fn quic((side, text): (String, Vec<u8>)) -> Vec<Curve> {
    if !Side::NAMES.contains(&side.as_str()) {
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
