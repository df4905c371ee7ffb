//! Metrics in Prometheus' text format (version 0.0.4).

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// All metrics of a service. Clones share their values.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<Vec<Family>>>);

/// A value that only grows. Clones share it.
#[derive(Clone, Debug)]
pub struct Counter(Arc<AtomicU64>);

/// A value that can go up and down. Clones share it.
#[derive(Clone, Debug)]
pub struct Gauge(Arc<AtomicU64>);

#[derive(Debug)]
struct Family {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    /// The values by their labels, as printed.
    figures: Vec<(String, Arc<AtomicU64>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    /// The number stores the bits of an f64.
    Gauge,
}

impl Metrics {
    /// The counter with this name and these labels, initially zero. The name ends in `_total`.
    pub fn counter(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
    ) -> Counter {
        Counter(self.figure(name, help, Kind::Counter, labels))
    }

    /// The gauge with this name and these labels, initially zero. The name ends in its unit.
    pub fn gauge(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Gauge {
        Gauge(self.figure(name, help, Kind::Gauge, labels))
    }

    fn figure(
        &self,
        name: &'static str,
        help: &'static str,
        kind: Kind,
        labels: &[(&str, &str)],
    ) -> Arc<AtomicU64> {
        let mut families = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = written(labels);
        let position = families.iter().position(|family| family.name == name);
        let position = position.unwrap_or_else(|| {
            families.push(Family { name, help, kind, figures: Vec::new() });
            families.len() - 1
        });
        let figures = &mut families[position].figures;
        if let Some((_, figure)) = figures.iter().find(|(known, _)| *known == labels) {
            return Arc::clone(figure);
        }
        let figure = Arc::default();
        figures.push((labels, Arc::clone(&figure)));
        figure
    }

    /// All metrics as text.
    pub fn render(&self) -> String {
        let families = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for Family { name, help, kind, figures } in families.iter() {
            let kind_name = if *kind == Kind::Counter { "counter" } else { "gauge" };
            // Writing to a string cannot fail.
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind_name}\n");
            for (labels, figure) in figures {
                let number = figure.load(Ordering::Relaxed);
                let _ = match kind {
                    Kind::Counter => writeln!(text, "{name}{labels} {number}"),
                    Kind::Gauge => writeln!(text, "{name}{labels} {}", f64::from_bits(number)),
                };
            }
        }
        text
    }
}

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The current value.
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Gauge {
    /// Sets the value.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// The current value.
    pub fn value(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

fn written(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let escaped =
        |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        let sent = metrics.counter("flags_total", "Flags set.", &[("operator", "A \"1\"")]);
        sent.increment();
        metrics.counter("flags_total", "Flags set.", &[("operator", "B")]).add(3);
        // Equal names and labels share a value.
        metrics.counter("flags_total", "Flags set.", &[("operator", "B")]).increment();
        metrics.gauge("speed_m_s", "Speed.", &[]).set(83.25);
        let expected = "# HELP flags_total Flags set.\n# TYPE flags_total counter\n\
                        flags_total{operator=\"A \\\"1\\\"\"} 1\nflags_total{operator=\"B\"} 4\n\
                        # HELP speed_m_s Speed.\n# TYPE speed_m_s gauge\nspeed_m_s 83.25\n";
        assert_eq!(metrics.render(), expected);
        assert_eq!(sent.value(), 1);
    }
}
