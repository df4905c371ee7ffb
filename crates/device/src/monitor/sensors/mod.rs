//! Sensors: clock frequencies, temperature, power and integrated graphics processors in `/sys`. They are searched for once, and
//! read at each reading; one that does not respond then is absent.

mod heat;
mod power;

use std::path::{Path, PathBuf};

use crate::monitor::files;
use crate::monitor::reading::{Gpu, Machine, Named};

#[derive(Clone, Debug)]
pub(crate) struct Sensors {
    frequencies: Vec<(String, PathBuf)>,
    heat: Vec<(String, PathBuf)>,
    power: power::Powers,
    gpus: Vec<Integrated>,
}

impl Sensors {
    pub(crate) fn find(root: &Path) -> Sensors {
        Sensors {
            frequencies: frequencies(root),
            heat: heat::find(root),
            power: power::Powers::find(root),
            gpus: integrated_gpus(root),
        }
    }

    pub(crate) fn read(&mut self, now_ns: u64, machine: &mut Machine) {
        machine.frequencies_mhz = read(&self.frequencies, 1e3);
        machine.temperatures_c = read(&self.heat, 1e3);
        machine.powers_w = self.power.read(now_ns);
        machine.gpus = self.gpus.iter().map(Integrated::read).collect();
    }
}

/// The numbers in these files, divided by `unit`.
fn read(files: &[(String, PathBuf)], unit: f64) -> Vec<Named> {
    let value = |(name, path): &(String, PathBuf)| {
        let value = files::number(path)? as f64 / unit;
        Some(Named { name: name.clone(), value })
    };
    files.iter().filter_map(value).collect()
}

/// `/sys/devices/system/cpu/cpufreq/policyN` (the kernel's Documentation/admin-guide/pm/cpufreq.rst),
/// in kHz, by the cores that share it.
fn frequencies(root: &Path) -> Vec<(String, PathBuf)> {
    let policies = files::entries(&root.join("sys/devices/system/cpu/cpufreq"));
    let policies = policies.into_iter().filter(|path| files::name(path).starts_with("policy"));
    let policies = policies.filter_map(|policy| {
        let cores = files::text(&policy.join("affected_cpus"))?;
        let words: Vec<&str> = cores.split_whitespace().collect();
        let name = match words.as_slice() {
            [] => return None,
            [one] => format!("cpu{one}"),
            [first, .., last] => format!("cpu{first}-{last}"),
        };
        Some((name, policy.join("scaling_cur_freq")))
    });
    policies.collect()
}

#[derive(Clone, Debug)]
struct Integrated {
    name: String,
    load: PathBuf,
    frequency: PathBuf,
}

impl Integrated {
    fn read(&self) -> Gpu {
        Gpu {
            name: self.name.clone(),
            load_percent: files::number(&self.load).map(|load| load as f64 / 10.0),
            frequency_mhz: files::number(&self.frequency).map(|hertz| hertz as f64 / 1e6),
            ..Gpu::default()
        }
    }
}

fn integrated_gpus(root: &Path) -> Vec<Integrated> {
    let devices = files::entries(&root.join("sys/class/devfreq"));
    let known = devices.into_iter().filter_map(|path| {
        let name = files::text(&path.join("device/of_node/name"))?;
        let load = path.join("device/load");
        let is_gpu = NAMES.contains(&name.as_str()) && load.is_file();
        is_gpu.then(|| Integrated { name, load, frequency: path.join("cur_freq") })
    });
    known.collect()
}

/// The names on Jetson TX2, Xavier and Orin with JetPack 4 and 5, and on Orin with JetPack 6.
const NAMES: [&str; 4] = ["gp10b", "gv11b", "ga10b", "gpu"];
