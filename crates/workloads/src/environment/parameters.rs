//! The environment's parameters in a scenario.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Arguments, Parameter, Ratio, Seed, named, parameters};

use crate::arguments::{WorkloadError, ensure};
use crate::environment::status::{SeekChanger, StatusChanger, TruncatedNormal};
use crate::environment::timeline::{Change, Timeline};

/// The source of a run's environment. The default is one that does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    origin: Origin,
    reconnect: Reconnect,
    overtaking: bool,
}

named! {
    /// What a reconnection does to a phone.
    #[derive(Default)]
    pub enum Reconnect {
        /// A new connection from the same address.
        #[default]
        SameAddress = "same-address",
        /// A change of access point, and a new connection from the new address.
        NewAddress = "new-address",
        /// Also a change of access point, which a connection survives if it can migrate.
        Migration = "migration",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Drawn { status: StatusChanger, seek: SeekChanger, duration: Duration },
    Given(Arc<Timeline>),
}

impl Default for Environment {
    fn default() -> Environment {
        let origin = Origin::Given(Arc::default());
        Environment { origin, reconnect: Reconnect::default(), overtaking: false }
    }
}

impl Environment {
    /// The environment that the values of [`PARAMETERS`] describe. A file is not read here: the
    /// value must be its contents, not its path.
    ///
    /// # Errors
    /// If the values are inconsistent.
    pub fn read(arguments: &Arguments) -> Result<Environment, WorkloadError> {
        let reconnect = arguments.get::<&str>("reconnect").and_then(Reconnect::from_name);
        let environment = Environment {
            origin: Origin::read(arguments)?,
            reconnect: reconnect.unwrap_or_default(),
            overtaking: arguments.get("overtaking").unwrap_or_default(),
        };
        let is_right = !environment.overtaking || environment.has_delay();
        let advice = "without a delay, nothing can overtake; set `delay`, or remove this";
        ensure(is_right, "overtaking", advice).map(|()| environment)
    }

    /// The kind of reconnection.
    pub fn reconnect(&self) -> Reconnect {
        self.reconnect
    }

    /// Whether packets overtake one another when the delay decreases.
    pub fn lets_packets_overtake(&self) -> bool {
        self.overtaking
    }

    /// The number of reconnections in a run.
    pub fn reconnections(&self) -> u32 {
        match &self.origin {
            Origin::Given(timeline) => {
                let moments = timeline.moments().iter();
                moments.filter(|moment| moment.change == Change::Reconnect).count() as u32
            }
            Origin::Drawn { status, .. } => status.reconnections,
        }
    }

    /// The timeline of the run with this seed, the same for all protocols.
    pub fn timeline(&self, seed: &Seed) -> Arc<Timeline> {
        match &self.origin {
            Origin::Given(timeline) => Arc::clone(timeline),
            Origin::Drawn { status, seek, duration } => {
                let mut moments = status.moments(seed, *duration);
                moments.extend(seek.moments(seed, *duration));
                Arc::new(
                    Timeline::new(moments).expect("a changer makes at most one change at a time"),
                )
            }
        }
    }

    /// Whether it sets the link's delay.
    pub fn has_delay(&self) -> bool {
        match &self.origin {
            Origin::Given(timeline) => timeline.delays().next().is_some(),
            Origin::Drawn { status, .. } => status.delay.is_some(),
        }
    }

    /// Whether nothing changes in any run.
    pub fn is_still(&self) -> bool {
        match &self.origin {
            Origin::Given(timeline) => timeline.moments().is_empty(),
            Origin::Drawn { status, seek, .. } => {
                status.delay.is_none() && status.reconnections == 0 && seek.probability.is_zero()
            }
        }
    }
}

impl Origin {
    fn read(arguments: &Arguments) -> Result<Origin, WorkloadError> {
        if let Some(text) = arguments.get::<Arc<str>>("timeline") {
            let timeline = text.parse().map_err(|why| WorkloadError::new("timeline", why));
            return Ok(Origin::Given(Arc::new(timeline?)));
        }
        let period: Duration = arguments.need("period");
        let duration: Duration = arguments.need("duration");
        let status = StatusChanger {
            delay: delay(arguments)?,
            period,
            reconnections: u32::try_from(arguments.need::<u64>("reconnections"))
                .unwrap_or(u32::MAX),
        };
        ensure(period >= PERIOD_MIN, "period", "too short; write at least \"1 ms\"")?;
        let is_right = !duration.is_zero() && duration <= DURATION_MAX;
        ensure(is_right, "duration", "write \"1 ms\" to \"24 h\"")?;
        let decisions = status.decisions(duration);
        let advice = format!("{decisions} periods in the duration; the maximum is {DECISIONS_MAX}");
        ensure(decisions <= DECISIONS_MAX, "period", advice)?;
        let advice = format!(
            "clients reconnect at the ends of periods, and there are {decisions} within the \
             duration; write at most this number, or a shorter period"
        );
        ensure(u64::from(status.reconnections) <= decisions, "reconnections", advice)?;
        let seek = SeekChanger { probability: arguments.need::<Ratio>("seek") };
        Ok(Origin::Drawn { status, seek, duration })
    }
}

fn delay(arguments: &Arguments) -> Result<Option<TruncatedNormal>, WorkloadError> {
    let deviation = arguments.get::<Duration>("deviation");
    match (arguments.get::<Duration>("delay"), deviation) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            let advice = "a deviation needs a delay; set it too: delay = \"100 ms\"";
            Err(WorkloadError::new("deviation", advice))
        }
        (Some(mean), deviation) => {
            let deviation = deviation.unwrap_or(mean / DEVIATION_OF_DELAY);
            Ok(Some(TruncatedNormal { mean, deviation }))
        }
    }
}

/// The keys of the table.
pub const PARAMETERS: &[Parameter] = parameters! {
    "delay": Time, optional =>
        "mean one-way link delay, instead of link.delay; drawn at the start and after each period \
         from a normal distribution, negative values again";
    "deviation": Time, optional =>
        "standard deviation of the delay; default: a fifth of the delay";
    "period": Time = "1 s" => "time between changes of the delay; clients reconnect at the ends of \
                               periods";
    "reconnections": Count { min: 0 } = "0" =>
        "number of times that clients reconnect within the duration, at the ends of random periods";
    "reconnect": Choice(Reconnect::NAMES), optional =>
        "kind of reconnection: same-address, new-address (a new access point, whose queued packets \
         are dropped) or migration (also, but QUIC connections survive); default: same-address";
    "overtaking": Flag, optional =>
        "whether packets overtake one another when the delay decreases, as with netem; default: \
         false";
    "seek": Share = "0 %" => "probability per second that viewers jump to a random place";
    "duration": Time = "60 s" =>
        "duration of the changes, from the start of the measured part; afterwards everything stays \
         constant";
    "timeline": File, optional =>
        "file of changes instead of random ones, the same for all runs: lines of at,change,value \
         such as 0 s,delay,100 ms or 7 s,seek,37.5 % or 12 s,reconnect,";
};

/// The default deviation of a delay is its mean divided by this.
const DEVIATION_OF_DELAY: u32 = 5;

const PERIOD_MIN: Duration = Duration::from_millis(1);
const DURATION_MAX: Duration = Duration::from_secs(86_400);
/// More would not fit the memory of many runs at once.
const DECISIONS_MAX: u64 = 1_000_000;
