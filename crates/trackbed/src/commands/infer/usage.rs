//! The resource usage of a session: sums over one-second readings of its processes and the machine.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use trackbed_device::monitor::{Monitor, Named, Reading};

/// A monitor that collects readings.
pub(super) struct Watch {
    _monitor: Monitor,
    sums: Arc<Mutex<Sums>>,
}

/// Sums over readings.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    readings: u64,
    role_cpu_percent: Mean,
    machine_cpu_percent: Mean,
    stolen_percent: Mean,
    memory_bytes: u64,
    machine_memory_bytes: u64,
    frequencies_mhz: Vec<(String, Mean)>,
    temperatures_c: Vec<(String, Mean)>,
    powers_w: Vec<(String, Mean)>,
    gpu_load_percent: Vec<(String, Mean)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Watch {
    /// Watches a process and its descendants. Only readings whose interval begins at or after `from_ns` of
    /// `CLOCK_MONOTONIC` count.
    pub(super) fn start(process: u32, from_ns: u64) -> anyhow::Result<Watch> {
        let sums = Arc::new(Mutex::new(Sums::default()));
        let shared = Arc::clone(&sums);
        let begins = from_ns.saturating_add(u64::try_from(INTERVAL.as_nanos()).unwrap_or(u64::MAX));
        let take = move |reading: Reading| {
            if reading.at_ns >= begins {
                shared.lock().unwrap_or_else(PoisonError::into_inner).add(&reading);
            }
        };
        let monitor = Monitor::start(INTERVAL, &[("inference", process)], take)
            .context("cannot measure resource usage")?;
        Ok(Watch { _monitor: monitor, sums })
    }

    pub(super) fn finish(self) -> Sums {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Sums {
    fn add(&mut self, reading: &Reading) {
        self.readings += 1;
        for role in &reading.roles {
            self.role_cpu_percent.add(role.cpu_percent);
            self.memory_bytes = self.memory_bytes.max(role.memory_bytes.unwrap_or(0));
        }
        let machine = &reading.machine;
        self.machine_cpu_percent.add(machine.cpu_percent);
        self.stolen_percent.add(machine.stolen_percent);
        let used = machine.memory_used_bytes.unwrap_or(0);
        self.machine_memory_bytes = self.machine_memory_bytes.max(used);
        let named = |named: &Named| (named.name.clone(), Some(named.value));
        add_all(&mut self.frequencies_mhz, machine.frequencies_mhz.iter().map(named));
        add_all(&mut self.temperatures_c, machine.temperatures_c.iter().map(named));
        add_all(&mut self.powers_w, machine.powers_w.iter().map(named));
        let load = machine.gpus.iter().map(|gpu| (gpu.name.clone(), gpu.load_percent));
        add_all(&mut self.gpu_load_percent, load);
    }

    /// Means over the readings, and the maximum of memory. Values that the machine does not provide are
    /// omitted.
    pub(super) fn document(&self) -> Value {
        let mut document = Map::new();
        document.insert("readings".to_owned(), json!(self.readings));
        let numbers = [
            ("cpu_percent", self.role_cpu_percent.value()),
            ("machine_cpu_percent", self.machine_cpu_percent.value()),
            ("machine_stolen_percent", self.stolen_percent.value()),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                document.insert(name.to_owned(), json!(value));
            }
        }
        let bytes = [
            ("memory_bytes_max", self.memory_bytes),
            ("machine_memory_bytes_max", self.machine_memory_bytes),
        ];
        for (name, value) in bytes.into_iter().filter(|(_, value)| *value > 0) {
            document.insert(name.to_owned(), json!(value));
        }
        let lists = [
            ("frequencies_mhz", &self.frequencies_mhz),
            ("temperatures_c", &self.temperatures_c),
            ("powers_w", &self.powers_w),
            ("gpu_load_percent", &self.gpu_load_percent),
        ];
        for (name, list) in lists {
            let known = list.iter().filter_map(|(name, mean)| Some((name.clone(), mean.value()?)));
            let known: Map<String, Value> =
                known.map(|(name, value)| (name, json!(value))).collect();
            if !known.is_empty() {
                document.insert(name.to_owned(), Value::Object(known));
            }
        }
        Value::Object(document)
    }

    /// A line for people; empty without readings.
    pub(super) fn line(&self) -> String {
        let mut parts = Vec::new();
        if let Some(percent) = self.role_cpu_percent.value() {
            parts.push(format!("CPU {percent:.0} % of one core"));
        }
        if let Some(percent) = self.machine_cpu_percent.value() {
            parts.push(format!("whole machine {percent:.0} %"));
        }
        if self.memory_bytes > 0 {
            parts.push(format!("memory {:.0} MB", self.memory_bytes as f64 / 1e6));
        }
        for (name, mean) in &self.gpu_load_percent {
            parts.extend(mean.value().map(|percent| format!("{name} {percent:.0} %")));
        }
        parts.join(", ")
    }
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

fn add_all(means: &mut Vec<(String, Mean)>, values: impl Iterator<Item = (String, Option<f64>)>) {
    for (name, value) in values {
        let place = means.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            means.push((name, Mean::default()));
            means.len() - 1
        });
        means[place].1.add(value);
    }
}

const INTERVAL: Duration = Duration::from_secs(1);
