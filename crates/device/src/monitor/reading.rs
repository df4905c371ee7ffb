//! One reading.

use serde::Serialize;
use serde_with::skip_serializing_none;

/// The machine and its roles at one time. Shares of processors are averaged since the previous
/// reading, and absent from the first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// The time of the caller's clock (`CLOCK_MONOTONIC` for a monitor), in nanoseconds.
    pub at_ns: u64,
    /// The whole machine.
    pub machine: Machine,
    /// One for each role, in the order in which they were added.
    pub roles: Vec<RoleUse>,
}

/// The resources of a whole machine.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// Cores that are online.
    pub cores: Option<u32>,
    /// Busy time of all cores in percent: 400 is four full cores.
    pub cpu_percent: Option<f64>,
    /// Time that a hypervisor gave to other guests while a process here was runnable, in percent of
    /// one core.
    pub stolen_percent: Option<f64>,
    /// Memory that programs could not get without swapping.
    pub memory_used_bytes: Option<u64>,
    /// Total memory.
    pub memory_total_bytes: Option<u64>,
    /// Clock frequency of each group of cores that share one, in MHz.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frequencies_mhz: Vec<Named>,
    /// In degrees Celsius.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub temperatures_c: Vec<Named>,
    /// In watts. Supplies may overlap: on a Jetson, `VDD_IN` includes all others. Do not add them
    /// up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub powers_w: Vec<Named>,
    /// Graphics processors. One on a Jetson's chip may appear twice: as the kernel reports it, and
    /// as NVIDIA's library does if it is installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// The system's name for it.
    pub name: String,
    /// In the unit of the list.
    pub value: f64,
}

/// A graphics processor.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gpu {
    /// The system's name for it.
    pub name: String,
    /// Share of time in which it was busy, in percent.
    pub load_percent: Option<f64>,
    /// Its own memory in use.
    pub memory_used_bytes: Option<u64>,
    /// Its own memory.
    pub memory_total_bytes: Option<u64>,
    /// Clock frequency.
    pub frequency_mhz: Option<f64>,
    /// In degrees Celsius.
    pub temperature_c: Option<f64>,
    /// In watts.
    pub power_w: Option<f64>,
}

/// The resources used by the processes of a role.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleUse {
    /// The role.
    pub name: String,
    /// Its existing processes.
    pub processes: u32,
    /// Processor time in percent of one core. Also absent once no process is left.
    pub cpu_percent: Option<f64>,
    /// Processor time in user and system mode since the role was first seen, in seconds, ended
    /// processes included.
    pub cpu_seconds: f64,
    /// Memory of all its processes.
    pub memory_bytes: Option<u64>,
    /// How the memory was counted.
    pub memory_kind: Option<MemoryKind>,
}

/// How shared memory is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Each page is divided among the processes that share it (proportional set size).
    Pss,
    /// Each page counts fully for every process that has it (resident set size): for some process
    /// the kernel did not report the proportional size.
    Rss,
}
