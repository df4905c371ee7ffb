//! Graphics processors on the chip, such as those of NVIDIA's Jetson: a device of
//! `/sys/class/devfreq` with one of these names in the device tree, and a file `load` in
//! thousandths (shown by `tegrastats` as GR3D_FREQ).

use std::path::{Path, PathBuf};

use crate::monitor::files;
use crate::monitor::reading::Gpu;

#[derive(Clone, Debug)]
pub(super) struct Integrated {
    name: String,
    load: PathBuf,
    frequency: PathBuf,
}

impl Integrated {
    pub(super) fn read(&self) -> Gpu {
        Gpu {
            name: self.name.clone(),
            load_percent: files::number(&self.load).map(|load| load as f64 / 10.0),
            frequency_mhz: files::number(&self.frequency).map(|hertz| hertz as f64 / 1e6),
            ..Gpu::default()
        }
    }
}

pub(super) fn find(root: &Path) -> Vec<Integrated> {
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
