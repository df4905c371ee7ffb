//! The resources used by a machine and the processes of a run.

use serde::{Deserialize, Serialize};

use crate::Time;

/// A reading of the used resources. What the machine does not report is `None`.
///
/// Shares are in thousandths of a percent of one core: 400,000 is four full cores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// The start of the span that shares are averaged over; it ends with the reading.
    pub since: Time,
    /// The processes of the clients.
    pub client: RoleLoad,
    /// Those of the server, if it is on this machine.
    pub server: RoleLoad,
    /// Those of the inference, if there is one.
    pub inference: RoleLoad,
    /// Processor time of the whole machine.
    pub machine_millipercent: Option<u64>,
    /// The machine's memory in bytes.
    pub memory_total_bytes: Option<u64>,
    /// The busiest graphics processor, in thousandths of a percent of its time.
    pub gpu_millipercent: Option<u64>,
    /// The highest temperature, in thousandths of a degree Celsius.
    pub temperature_millicelsius: Option<i64>,
    /// The highest power, in milliwatts. Supplies may overlap, so it is not a sum.
    pub power_milliwatts: Option<u64>,
}

/// The resources used by the processes of a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleLoad {
    /// Processor time.
    pub millipercent: Option<u64>,
    /// Memory in bytes at the time of the reading.
    pub memory_bytes: Option<u64>,
}
