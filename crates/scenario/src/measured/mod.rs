//! What the model takes unless the user measures: frames and costs of a machine that is named.

pub(crate) mod devices;

/// Frames of the generated model of YOLO11n's size, on 640x480 images, by two threads.
pub(crate) const DURATIONS: &str = include_str!("durations.txt");

/// What protocols and ciphers cost.
pub(crate) const COSTS: &str = include_str!("costs.txt");

/// Where and when they were measured, as results say it.
pub(crate) const ABOUT: &str = "measured on 2026-11-22 on a virtual machine with two cores of an Intel Xeon \
                                at 2.7 GHz (Linux 6.18)";
