//! Foresight of handovers: who acts, how early, and by which table.
//!
//! In the downlink the scheduler is the server's, and the train knows its position. *PHA* blocks
//! the path at the server's scheduler, as the study does in its simulator; no real train can do
//! this. *PHA-D* is possible on a train: as the receiver it asks for the path to be a backup
//! (MP_PRIO, RFC 8684 section 3.3.8; over QUIC, PATH_STATUS), which takes half a round trip. An
//! *oracle* blocks as PHA does, at the true times.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use trackbed_core::{Ratio, named};
use trackbed_railway::handover::{Settings, Table};
use trackbed_railway::motion::Direction;
use trackbed_railway::preliminary::learn;
use trackbed_railway::radio::Railway;

/// Who foresees handovers, and how.
#[derive(Clone, Debug)]
pub struct Foresight {
    /// Who acts.
    pub kind: ForesightKind,
    /// How long before a table's range, or an outage, the path is left.
    pub lead: Duration,
    /// The number of preliminary rides from which the table is learnt.
    rides: u32,
    /// The share of the variance of the railway's shadowing that has changed since then.
    drift: Ratio,
    /// Learnt on first use.
    table: Arc<OnceLock<Option<Table>>>,
}

named! {
    /// Who foresees handovers.
    pub enum ForesightKind {
        /// No foresight.
        Off = "none",
        /// The sender, by a table.
        Pha = "pha",
        /// The receiver, by a table.
        PhaD = "pha-d",
        /// The sender, at the true times.
        Oracle = "oracle",
        /// The sender leaves a path when its handover begins, and sends again what is in flight; no foresight.
        Reactive = "reactive",
    }
}

impl Foresight {
    /// The foresight called `name`; default for `lead`: that of the kind.
    pub(crate) fn new(name: &str, lead: Option<Duration>, rides: u32) -> Option<Foresight> {
        let kind = ForesightKind::from_name(name)?;
        let lead = lead.unwrap_or(match kind {
            ForesightKind::PhaD => LEAD_OF_RECEIVER,
            ForesightKind::Oracle => LEAD_OF_ORACLE,
            ForesightKind::Off | ForesightKind::Pha | ForesightKind::Reactive => Duration::ZERO,
        });
        Some(Foresight { kind, lead, rides, drift: Ratio::ZERO, table: Arc::default() })
    }

    /// The same with a table that was learnt before this share of the railway's shadowing changed.
    pub(crate) fn with_drift(self, drift: Ratio) -> Foresight {
        Foresight { drift, ..self }
    }

    /// The same with this table of this railway, or of a recorded drive's, instead of a learnt one.
    pub(crate) fn with_table<'a>(
        mut self,
        table: Table,
        railway: Option<&Railway>,
        operators: impl IntoIterator<Item = &'a str>,
    ) -> Result<Foresight, String> {
        let length_m = table.track().length_m();
        let ours_m = railway.map_or(length_m, |railway| railway.track().length_m());
        if (length_m - ours_m).abs() > TRACK_TOLERANCE_M {
            return Err(format!(
                "the table is for a track of {length_m:.0} m, but this track has {ours_m:.0} m; \
                 build a new table with `trackbed handover build`"
            ));
        }
        for operator in operators {
            table.ranges(operator, Direction::Forward).map_err(|why| why.to_string())?;
        }
        self.table = Arc::new(OnceLock::from(Some(table)));
        Ok(self)
    }

    /// Whether it knows the future, so that nothing real can do as well.
    pub fn is_bound(&self) -> bool {
        self.kind == ForesightKind::Oracle
    }

    /// Whether it looks the train's position up in a table.
    pub(crate) fn needs_place(&self) -> bool {
        matches!(self.kind, ForesightKind::Pha | ForesightKind::PhaD)
    }

    /// Whether it goes by the times of the handovers.
    pub(crate) fn needs_handovers(&self) -> bool {
        matches!(self.kind, ForesightKind::Oracle | ForesightKind::Reactive)
    }

    /// The table that was given.
    pub(crate) fn given(&self) -> Option<&Table> {
        self.table.get()?.as_ref()
    }

    /// Whether it needs support from the sender's scheduler.
    pub fn needs_scheduler(&self) -> bool {
        matches!(self.kind, ForesightKind::Pha | ForesightKind::Oracle | ForesightKind::Reactive)
    }

    /// Learns the table now, if one is needed.
    pub fn prepare(&self, railway: &Railway) {
        if self.needs_place() {
            self.table(railway);
        }
    }

    /// The table for `railway`, learnt now if necessary; `None` if no table is used.
    pub fn table(&self, railway: &Railway) -> Option<&Table> {
        let learnt = || {
            let (directions, settings) = ([Direction::Forward], Settings::default());
            (self.rides > 0).then(|| {
                let earlier = (!self.drift.is_zero()).then(|| railway.before(self.drift));
                let railway = earlier.as_ref().unwrap_or(railway);
                learn(railway, &directions, self.rides, TABLE_ROOT, settings)
                    .expect("the default settings are valid")
            })
        };
        self.table.get_or_init(learnt).as_ref()
    }
}

/// A round trip, and the time to drain what the sender has already given to the path.
const LEAD_OF_RECEIVER: Duration = Duration::from_millis(200);

/// Time for packets in flight to arrive.
const LEAD_OF_ORACLE: Duration = Duration::from_millis(50);

/// Rounding of track lengths in tables and scenarios.
const TRACK_TOLERANCE_M: f64 = 10.0;

/// Preliminary rides are the same for all scenarios and independent of the runs.
const TABLE_ROOT: u64 = 0;
