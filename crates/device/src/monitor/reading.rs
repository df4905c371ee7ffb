//! What was read at one time.

use serde::Serialize;

/// The machine and its roles at one time. Shares of processors are over the time since the reading
/// before, and absent from the first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// When, by the clock of whoever took it (`CLOCK_MONOTONIC` for a monitor), in nanoseconds.
    pub at_ns: u64,
    /// All of it.
    pub machine: Machine,
    /// One for each role, in the order in which they were added.
    pub roles: Vec<RoleUse>,
}

/// What a whole machine does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// Cores that are online.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Busy time of all cores in percent: 400 is four full cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Time that a hypervisor gave to others while something here wanted to run, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen_percent: Option<f64>,
    /// Memory that programs could not have without swapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used_bytes: Option<u64>,
    /// All of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total_bytes: Option<u64>,
    /// Clock frequency of each group of cores that share one, in MHz.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frequencies_mhz: Vec<Named>,
    /// In degrees Celsius.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub temperatures_c: Vec<Named>,
    /// In watts. Supplies may contain one another, as `VDD_IN` of a Jetson contains all: do not sum
    /// them up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub powers_w: Vec<Named>,
    /// Graphics processors. One on a Jetson's chip may stand here twice: as the kernel knows it, and as
    /// NVIDIA's library does where that is installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
}

/// A value, and of what.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// What the system calls it.
    pub name: String,
    /// In the unit of the list that it stands in.
    pub value: f64,
}

/// A graphics processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gpu {
    /// What the system calls it.
    pub name: String,
    /// Share of the time in which it worked, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_percent: Option<f64>,
    /// Memory of its own that is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used_bytes: Option<u64>,
    /// Memory of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total_bytes: Option<u64>,
    /// Clock frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<f64>,
    /// In degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// In watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_w: Option<f64>,
}

/// What the processes of a role use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleUse {
    /// The role.
    pub name: String,
    /// Its processes that live.
    pub processes: u32,
    /// Processor time in percent of one core. Absent too once nobody is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Processor time in user and system mode since the role was first seen, in seconds, those that
    /// have ended included.
    pub cpu_seconds: f64,
    /// Memory of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_kind: Option<MemoryKind>,
}

/// How memory is counted that processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Each page counts in parts for those that share it (proportional set size).
    Pss,
    /// Each page counts for everybody who has it (resident set size): the kernel told the parts of
    /// some process to nobody.
    Rss,
}
