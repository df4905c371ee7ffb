//! Temperatures: the kernel's Documentation/driver-api/thermal/sysfs-api.rst and hwmon/sysfs-interface.

use std::path::{Path, PathBuf};

use crate::monitor::files;

/// Thermal zones, and sensors of devices without one; files in thousandths of a degree.
pub(super) fn find(root: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for zone in files::entries(&root.join("sys/class/thermal")) {
        if files::name(&zone).starts_with("thermal_zone")
            && let Some(kind) = files::text(&zone.join("type"))
        {
            found.push((kind, zone.join("temp")));
        }
    }
    // A zone may appear again as a device, with its name spelt differently.
    let spelled = |name: &str| name.replace('-', "_");
    let zones: Vec<String> = found.iter().map(|(name, _)| spelled(name)).collect();
    for device in files::entries(&root.join("sys/class/hwmon")) {
        let Some(name) = files::text(&device.join("name")) else { continue };
        if zones.contains(&spelled(&name)) {
            continue;
        }
        for (number, input) in inputs(&device, "temp", "_input") {
            let label = files::text(&device.join(format!("temp{number}_label")));
            let label = label.unwrap_or_else(|| format!("temp{number}"));
            found.push((format!("{name} {label}"), input));
        }
    }
    found
}

/// The files `KINDnSUFFIX` of a device, with their n.
pub(super) fn inputs(device: &Path, kind: &str, suffix: &str) -> Vec<(u32, PathBuf)> {
    let number = |path: PathBuf| {
        let number = files::name(&path).strip_prefix(kind)?.strip_suffix(suffix)?.parse().ok()?;
        Some((number, path))
    };
    files::entries(device).into_iter().filter_map(number).collect()
}
