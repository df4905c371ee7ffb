//! Who foresees handovers, how long before, and by which table.
//!
//! In the downlink the scheduler is the server's, and the train knows where it is. *PHA* blocks the
//! path at the server's scheduler, as the study does in its simulator, which no real train can. *PHA-D*
//! is what a train can do: as the receiver it asks for the path to be a backup (MP_PRIO, RFC 8684
//! section 3.3.8; over QUIC, PATH_STATUS), which takes half a round trip. An *oracle* blocks as PHA does, at the true times.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use trackbed_core::Ratio;
use trackbed_railway::handover::{Settings, Table};
use trackbed_railway::motion::Direction;
use trackbed_railway::preliminary::learn;
use trackbed_railway::radio::Railway;

/// Who foresees handovers, and how.
#[derive(Clone, Debug)]
pub struct Foresight {
    kind: ForesightKind,
    /// How long before a range, or an outage, the path is left.
    lead: Duration,
    /// How many preliminary rides the table is learnt from.
    rides: u32,
    /// How much of the railway's shadows has changed since then, as a share of their variance.
    drift: Ratio,
    /// Learnt when it is first needed.
    table: Arc<OnceLock<Option<Table>>>,
}

/// Who foresees handovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForesightKind {
    /// Nobody.
    Nobody,
    /// The sender, by a table.
    Pha,
    /// The receiver, by a table.
    PhaD,
    /// The sender, who knows the true times.
    Oracle,
    /// Nobody; the sender reacts to a path that is silent.
    Reactive,
}

impl Foresight {
    /// As scenarios write them.
    pub const NAMES: [&str; 5] = ["none", "pha", "pha-d", "oracle", "reactive"];

    /// The one called `name`; without a `lead` its own.
    pub fn new(name: &str, lead: Option<Duration>, rides: u32) -> Option<Foresight> {
        let kinds = [
            ForesightKind::Nobody,
            ForesightKind::Pha,
            ForesightKind::PhaD,
            ForesightKind::Oracle,
            ForesightKind::Reactive,
        ];
        let (kind, _) =
            kinds.into_iter().zip(Foresight::NAMES).find(|(_, known)| *known == name)?;
        let lead = lead.unwrap_or(match kind {
            ForesightKind::PhaD => LEAD_OF_RECEIVER,
            ForesightKind::Oracle => LEAD_OF_ORACLE,
            ForesightKind::Nobody | ForesightKind::Pha | ForesightKind::Reactive => Duration::ZERO,
        });
        Some(Foresight { kind, lead, rides, drift: Ratio::ZERO, table: Arc::default() })
    }

    /// The same by a table that was learnt before so much of the railway's shadows changed.
    #[must_use]
    pub fn with_drift(self, drift: Ratio) -> Foresight {
        Foresight { drift, ..self }
    }

    /// The same with this table in place of one that is learnt.
    ///
    /// # Errors
    /// If it is of another railway.
    pub fn with_table(mut self, table: Table, railway: &Railway) -> Result<Foresight, String> {
        let (length_m, ours_m) = (table.track().length_m(), railway.track().length_m());
        if (length_m - ours_m).abs() > TRACK_TOLERANCE_M {
            return Err(format!(
                "the table is of a track of {length_m:.0} m, and this one has {ours_m:.0} m; build \
                 one for it (`trackbed handover build`)"
            ));
        }
        for operator in railway.operators() {
            table.ranges(&operator.name, Direction::Forward).map_err(|why| why.to_string())?;
        }
        self.table = Arc::new(OnceLock::from(Some(table)));
        Ok(self)
    }

    /// Who foresees handovers.
    pub fn kind(&self) -> ForesightKind {
        self.kind
    }

    /// How long before a range, or an outage, the path is left.
    pub fn lead(&self) -> Duration {
        self.lead
    }

    /// Whether it knows the future, so that nothing real can do as well.
    pub fn is_bound(&self) -> bool {
        self.kind == ForesightKind::Oracle
    }

    /// Whether it looks the train's place up in a table.
    pub fn needs_place(&self) -> bool {
        matches!(self.kind, ForesightKind::Pha | ForesightKind::PhaD)
    }

    /// Whether it asks something of the sender's scheduler.
    pub fn needs_scheduler(&self) -> bool {
        matches!(self.kind, ForesightKind::Pha | ForesightKind::Oracle | ForesightKind::Reactive)
    }

    /// Learns the table now that will be needed, if one is.
    pub fn prepare(&self, railway: &Railway) {
        if self.needs_place() {
            self.table(railway);
        }
    }

    /// The table that it goes by on `railway`, which is learnt now if it was not before; `None` if there
    /// is none.
    pub fn table(&self, railway: &Railway) -> Option<&Table> {
        let learnt = || {
            let (directions, settings) = ([Direction::Forward], Settings::default());
            (self.rides > 0).then(|| {
                let earlier = (!self.drift.is_zero()).then(|| railway.before(self.drift));
                let railway = earlier.as_ref().unwrap_or(railway);
                learn(railway, &directions, self.rides, TABLE_ROOT, settings)
                    .expect("the default settings make sense")
            })
        };
        self.table.get_or_init(learnt).as_ref()
    }
}

/// A round trip, and what the sender has given to the path already.
const LEAD_OF_RECEIVER: Duration = Duration::from_millis(200);

/// What is on the way arrives.
const LEAD_OF_ORACLE: Duration = Duration::from_millis(50);

/// Tracks of a table and of a scenario are written with so many digits.
const TRACK_TOLERANCE_M: f64 = 10.0;

/// Preliminary rides are the same for all scenarios: the runs draw from others.
const TABLE_ROOT: u64 = 0;
