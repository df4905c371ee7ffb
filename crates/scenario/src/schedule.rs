//! When the members of a group begin and end.

use std::time::Duration;

use trackbed_core::parameter::Parameter;
use trackbed_core::{named, parameters};

/// The members of a group, and how they begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The number of members. Each runs the whole workload by itself.
    pub count: u32,
    /// When the first may begin.
    pub start: Duration,
    /// The gap between their beginnings, or its mean.
    pub every: Duration,
    /// How the beginnings follow each other.
    pub arrivals: Arrivals,
    /// When those that still run are cut off; `None` if they end by themselves.
    pub stop: Option<Duration>,
    /// The group whose phones they share; `None` if they have their own.
    pub on: Option<String>,
    /// The rank on a medium with priorities; a lower number is served first.
    pub priority: u8,
}

/// One member, at once, until it ends by itself.
impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            count: 1,
            start: Duration::ZERO,
            every: Duration::ZERO,
            arrivals: Arrivals::Fixed,
            stop: None,
            on: None,
            priority: 1,
        }
    }
}

named! {
    /// How the members of a group begin.
    #[derive(Default)]
    pub enum Arrivals {
        /// One after the other, at equal gaps.
        #[default]
        Fixed = "fixed",
        /// Each at a random time between the first and the last.
        Uniform = "uniform",
        /// At random gaps, as independent users do.
        Poisson = "poisson",
    }
}

pub(crate) static PARAMETERS: &[Parameter] = parameters! {
    "count": Count { min: 0 } = "1" => "members of the group, each of which runs the whole workload by itself";
    "start": Time = "0 s" => "when its first member begins";
    "every": Time = "0 s" => "the gap between the beginnings of its members, or its mean";
    "arrivals": Choice(Arrivals::NAMES) = "fixed" =>
        "whether members begin at equal gaps, each at a random time of the span of all, or at random gaps";
    "stop": Time, optional => "when members that still run are cut off, from the beginning of the run; what they have not completed is not measured";
    "on": Text, optional =>
        "an earlier group whose phones its members share, one after the other; default: phones of their own";
    "priority": Count { min: 0 } = "1" =>
        "rank on a medium with priorities, up to 255; a lower number is served first";
};
