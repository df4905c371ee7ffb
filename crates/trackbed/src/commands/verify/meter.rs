//! The power of what verifies: of the processors' packages (RAPL), or of the GPUs (NVML).

use std::path::Path;

use trackbed_device::monitor::{Machine, Nvml, Sampler, Units};

/// Reads the machine's counters, as far as there are any that this user may read.
pub struct Meter {
    sampler: Sampler,
    gpus: Option<Nvml>,
}

impl Meter {
    /// The meter of the machine whose `/sys` is below `root`.
    pub fn new(root: &Path) -> Meter {
        let sampler = Sampler::new(root, Units::of_this_machine());
        Meter { sampler, gpus: Nvml::open() }
    }

    /// In watts: of all packages since the last call, which has to be there, or of all GPUs now.
    pub fn watts(&mut self, is_on_gpu: bool, now_ns: u64) -> Option<f64> {
        let Machine { powers_w, .. } = self.sampler.sample(now_ns).machine;
        let powers: Vec<f64> = if is_on_gpu {
            self.gpus.iter().flat_map(Nvml::read).filter_map(|gpu| gpu.power_w).collect()
        } else {
            // The domains of a package are parts of it.
            let packages = powers_w.iter().filter(|one| one.name.starts_with("package"));
            packages.map(|one| one.value).collect()
        };
        (!powers.is_empty()).then(|| powers.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn packages_add_up_and_their_parts_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let zones =
            [("0", "package-0"), ("0:0", "core"), ("1", "package-1")].map(|(zone, name)| {
                let zone = folder.path().join(format!("sys/class/powercap/intel-rapl:{zone}"));
                fs::create_dir_all(&zone).unwrap();
                fs::write(zone.join("name"), name).unwrap();
                zone.join("energy_uj")
            });
        let count =
            |microjoules: &str| zones.iter().for_each(|it| fs::write(it, microjoules).unwrap());
        count("1000000");
        let mut meter = Meter::new(folder.path());
        assert_eq!(meter.watts(false, 1_000_000_000), None);
        count("4000000");
        assert_eq!(meter.watts(false, 1_500_000_000), Some(12.0));
        assert_eq!(Meter::new(&folder.path().join("none")).watts(false, 1), None);
    }
}
