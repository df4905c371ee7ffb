//! The default costs of frames and communication, measured on the machine named here.

pub(crate) mod devices;

/// Frames of the generated model of YOLO11n's size, on 640x480 images, computed by two threads.
pub(crate) const DURATIONS: &str = include_str!("durations.txt");

pub(crate) const COSTS: &str = include_str!("costs.txt");

/// Where and when they were measured, as printed in results.
pub(crate) const ABOUT: &str = "measured on 2026-11-22 on a virtual machine with two cores of an Intel Xeon \
                                at 2.7 GHz (Linux 6.18)";
