//! Power: hwmon devices (the kernel's Documentation/hwmon/sysfs-interface.rst; the INA3221 of a Jetson
//! is one), and counters of energy (Documentation/power/powercap/powercap.rst, Intel's RAPL).

use std::path::{Path, PathBuf};

use super::heat::inputs;
use crate::monitor::files;
use crate::monitor::reading::Named;

#[derive(Clone, Debug)]
pub(super) struct Powers {
    meters: Vec<(String, Meter)>,
    counters: Vec<Counter>,
}

#[derive(Clone, Debug)]
enum Meter {
    /// In microwatts.
    Direct(PathBuf),
    /// In millivolts and milliamperes.
    VoltsAndAmperes(PathBuf, PathBuf),
}

/// Energy that only grows, until the counter wraps.
#[derive(Clone, Debug)]
struct Counter {
    name: String,
    /// In microjoules.
    energy: PathBuf,
    /// The energy at which the counter wraps, if known.
    range: Option<u64>,
    before: Option<(u64, u64)>,
}

impl Powers {
    pub(super) fn find(root: &Path) -> Powers {
        let devices = files::entries(&root.join("sys/class/hwmon"));
        let zones = files::entries(&root.join("sys/class/powercap"));
        Powers {
            meters: devices.iter().flat_map(|device| meters(device)).collect(),
            counters: zones.iter().filter_map(|zone| Counter::find(zone)).collect(),
        }
    }

    pub(super) fn read(&mut self, now_ns: u64) -> Vec<Named> {
        let meters = self.meters.iter().map(|(name, meter)| (name.clone(), meter.read()));
        let counters = self.counters.iter_mut().map(|one| (one.name.clone(), one.read(now_ns)));
        let powers = meters.chain(counters);
        powers.filter_map(|(name, value)| Some(Named { name, value: value? })).collect()
    }
}

impl Meter {
    fn read(&self) -> Option<f64> {
        match self {
            Meter::Direct(power) => Some(files::number(power)? as f64 / 1e6),
            Meter::VoltsAndAmperes(volts, amperes) => {
                Some(files::number(volts)? as f64 * files::number(amperes)? as f64 / 1e6)
            }
        }
    }
}

impl Counter {
    fn find(zone: &Path) -> Option<Counter> {
        let name = files::text(&zone.join("name"))?;
        let energy = zone.join("energy_uj");
        // Some kernels let only root read it.
        files::number(&energy)?;
        let range = files::number(&zone.join("max_energy_range_uj"));
        let range = range.and_then(|range| u64::try_from(range).ok());
        Some(Counter { name, energy, range, before: None })
    }

    fn read(&mut self, now_ns: u64) -> Option<f64> {
        let energy = u64::try_from(files::number(&self.energy)?).ok()?;
        let (then, before) = self.before.replace((now_ns, energy))?;
        let used = match energy.checked_sub(before) {
            Some(used) => used,
            // It has wrapped once: a wrap takes at least a minute.
            None => self.range?.checked_sub(before)?.checked_add(energy)?,
        };
        let seconds = now_ns.checked_sub(then).filter(|nanos| *nanos > 0)? as f64 / 1e9;
        Some(used as f64 / 1e6 / seconds)
    }
}

fn meters(device: &Path) -> Vec<(String, Meter)> {
    let Some(name) = files::text(&device.join("name")) else { return Vec::new() };
    let label = |kind: &str, number: u32| {
        let label = files::text(&device.join(format!("{kind}{number}_label")));
        label.filter(|label| !label.is_empty())
    };
    let mut found: Vec<(String, Meter)> = Vec::new();
    for suffix in ["_input", "_average"] {
        for (number, path) in inputs(device, "power", suffix) {
            let label = label("power", number).unwrap_or_else(|| format!("power{number}"));
            let name = format!("{name} {label}");
            if !found.iter().any(|(known, _)| *known == name) {
                found.push((name, Meter::Direct(path)));
            }
        }
    }
    for (number, volts) in inputs(device, "in", "_input") {
        let amperes = device.join(format!("curr{number}_input"));
        let label = label("in", number);
        // Jetsons use the name NC for unconnected inputs.
        let is_connected = label.as_deref() != Some("NC");
        if is_connected && files::number(&amperes).is_some() {
            let name = label.unwrap_or_else(|| format!("{name} {number}"));
            found.push((name, Meter::VoltsAndAmperes(volts, amperes)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_energy_counter_may_wrap() {
        let folder = tempfile::tempdir().unwrap();
        let zone = folder.path().join("sys/class/powercap/intel-rapl:0");
        fs::create_dir_all(&zone).unwrap();
        fs::write(zone.join("name"), "package-0\n").unwrap();
        fs::write(zone.join("max_energy_range_uj"), "262143328850\n").unwrap();
        let energy = |microjoules: u64| fs::write(zone.join("energy_uj"), microjoules.to_string());
        energy(262_140_328_850).unwrap();
        let mut powers = Powers::find(folder.path());
        assert_eq!(powers.read(1_000_000_000), []);
        // 2 J in half a second.
        energy(262_142_328_850).unwrap();
        let watts = |value| [Named { name: "package-0".to_owned(), value }];
        assert_eq!(powers.read(1_500_000_000), watts(4.0));
        // 1 J up to the wrap, and 2 J after it.
        energy(2_000_000).unwrap();
        assert_eq!(powers.read(2_500_000_000), watts(3.0));
        assert_eq!(powers.read(2_500_000_000), []);
    }
}
