//! The resources used by a machine and groups of its processes, second by second: processor,
//! memory, clock frequencies, temperature, power, graphics processors.
//!
//! A [`Sampler`] reads `/proc` and `/sys` (or recorded trees of the same shape) on request, and is
//! passed the time; a [`Monitor`] runs one by the clock on a separate thread. What a machine does
//! not have is absent from a [`Reading`], not zero.
mod background;
mod files;
mod machine;
mod nvml;
mod process;
mod reading;
mod role;
mod sampler;
mod sensors;

pub use background::{Monitor, MonitorError};
pub use nvml::Nvml;
pub use process::{busiest_since, times};
pub use reading::{Gpu, Machine, MemoryKind, Named, Reading, RoleUse};
pub use sampler::{Sampler, Units};
