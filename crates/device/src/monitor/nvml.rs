//! NVIDIA's graphics processors, through NVIDIA's own library (NVML).

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::{Device, Nvml as Library};

use crate::monitor::reading::Gpu;

/// The library, opened.
#[derive(Debug)]
pub struct Nvml(Library);

impl Nvml {
    /// Opens the library; `None` if there is none, or no such device.
    pub fn open() -> Option<Nvml> {
        // Only development packages install the name without a number, which is the wrapper's
        // default.
        let name = std::ffi::OsStr::new("libnvidia-ml.so.1");
        let library = Library::builder().lib_path(name).init().or_else(|_| Library::init()).ok()?;
        let count = library.device_count().ok()?;
        (count > 0).then_some(Nvml(library))
    }

    /// All devices. What one does not report is absent.
    pub fn read(&self) -> Vec<Gpu> {
        let count = self.0.device_count().unwrap_or(0);
        (0..count).filter_map(|number| Some(read(&self.0.device_by_index(number).ok()?))).collect()
    }
}

fn read(device: &Device<'_>) -> Gpu {
    let memory = device.memory_info().ok();
    Gpu {
        name: device.name().unwrap_or_else(|_| "NVIDIA".to_owned()),
        load_percent: device.utilization_rates().ok().map(|rates| f64::from(rates.gpu)),
        memory_used_bytes: memory.as_ref().map(|memory| memory.used),
        memory_total_bytes: memory.as_ref().map(|memory| memory.total),
        frequency_mhz: device.clock_info(Clock::Graphics).ok().map(f64::from),
        temperature_c: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
        power_w: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
    }
}
