//! What a machine and groups of its processes use, second by second: processor, memory, clock
//! frequencies, heat, power, graphics processors.
//!
//! A [`Sampler`] reads `/proc` and `/sys` (or recorded trees of the same shape) whenever it is told to,
//! and is told the time; a [`Monitor`] drives one by the clock on a thread of its own. What a machine
//! does not have is absent from a [`Reading`], not zero.
mod background;
mod clock;
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
pub use reading::{Gpu, Machine, MemoryKind, Named, Reading, RoleUse};
pub use sampler::{Sampler, Units};
