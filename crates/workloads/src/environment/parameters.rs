//! What a scenario says of the environment.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Arguments, Parameter, Ratio, Seed, parameters};

use crate::environment::seek::SeekChanger;
use crate::environment::status::StatusChanger;
use crate::environment::timeline::{Change, Timeline};
use crate::environment::truncated_normal::TruncatedNormal;

/// How the environment of a run comes about. The default is one that does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    origin: Origin,
    reconnect: Reconnect,
    overtaking: bool,
}

/// What a reconnection is to a phone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reconnect {
    /// A new connection from the address that it has.
    #[default]
    SameAddress,
    /// A change of access point, and a new connection from the address that the new one gives.
    NewAddress,
    /// A change of access point likewise, which a connection that can migrate outlives.
    Migration,
}

impl Reconnect {
    /// What scenarios write, in the order of the kinds.
    const NAMES: &[&str] = &["same-address", "new-address", "migration"];

    fn from_name(name: &str) -> Reconnect {
        match Reconnect::NAMES.iter().position(|known| *known == name) {
            Some(1) => Reconnect::NewAddress,
            Some(2) => Reconnect::Migration,
            _ => Reconnect::SameAddress,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// Each run draws its own.
    Drawn { status: StatusChanger, seek: SeekChanger, duration: Duration },
    /// All runs have the same.
    Given(Arc<Timeline>),
}

impl Default for Environment {
    fn default() -> Environment {
        let origin = Origin::Given(Arc::default());
        Environment { origin, reconnect: Reconnect::default(), overtaking: false }
    }
}

impl Environment {
    /// The environment that the values of [`PARAMETERS`] describe. A file is not read here: in the
    /// place of its path its contents are wanted.
    ///
    /// # Errors
    /// If the values do not go together.
    pub fn read(arguments: &Arguments) -> Result<Environment, EnvironmentError> {
        let reconnect = arguments.get::<&str>("reconnect").map(Reconnect::from_name);
        let environment = Environment {
            origin: Origin::read(arguments)?,
            reconnect: reconnect.unwrap_or_default(),
            overtaking: arguments.get("overtaking").unwrap_or_default(),
        };
        if environment.overtaking && !environment.has_delay() {
            let advice = "packets overtake others when the delay falls, and nothing changes it; write \
                          `delay`, or leave this out";
            return Err(EnvironmentError::new("overtaking", advice));
        }
        Ok(environment)
    }

    /// What a reconnection is.
    pub fn reconnect(&self) -> Reconnect {
        self.reconnect
    }

    /// Whether packets overtake one another when the delay falls.
    pub fn lets_packets_overtake(&self) -> bool {
        self.overtaking
    }

    /// How often clients reconnect in a run.
    pub fn reconnections(&self) -> u32 {
        match &self.origin {
            Origin::Given(timeline) => {
                let moments = timeline.moments().iter();
                moments.filter(|moment| moment.change == Change::Reconnect).count() as u32
            }
            Origin::Drawn { status, .. } => status.reconnections,
        }
    }

    /// The timeline of the run with this seed. It depends on nothing else, so all protocols meet
    /// the same one.
    pub fn timeline(&self, seed: &Seed) -> Arc<Timeline> {
        match &self.origin {
            Origin::Given(timeline) => Arc::clone(timeline),
            Origin::Drawn { status, seek, duration } => {
                let mut moments = status.moments(seed, *duration);
                moments.extend(seek.moments(seed, *duration));
                Arc::new(Timeline::new(moments).expect("changers change a thing once at a time"))
            }
        }
    }

    /// Whether it says what delay the link has.
    pub fn has_delay(&self) -> bool {
        match &self.origin {
            Origin::Given(timeline) => timeline.has_delays(),
            Origin::Drawn { status, .. } => status.delay.is_some(),
        }
    }

    /// Whether anything changes in any run.
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
    fn read(arguments: &Arguments) -> Result<Origin, EnvironmentError> {
        if let Some(text) = arguments.get::<Arc<str>>("timeline") {
            let timeline = text.parse().map_err(|why| EnvironmentError::new("timeline", why));
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
        if period < PERIOD_MIN {
            let advice = "too short for a period; write at least \"1 ms\"";
            return Err(EnvironmentError::new("period", advice));
        }
        if duration.is_zero() || duration > DURATION_MAX {
            let advice = "write at least \"1 ms\" and at most \"24 h\"";
            return Err(EnvironmentError::new("duration", advice));
        }
        let decisions = status.decisions(duration);
        if decisions > DECISIONS_MAX {
            let advice =
                format!("{decisions} periods in the duration; at most {DECISIONS_MAX} fit");
            return Err(EnvironmentError::new("period", advice));
        }
        if u64::from(status.reconnections) > decisions {
            let advice = format!(
                "clients reconnect at the ends of periods, and there are {decisions} within the \
                 duration; write at most so many, or a shorter period"
            );
            return Err(EnvironmentError::new("reconnections", advice));
        }
        let seek = SeekChanger { probability: arguments.need::<Ratio>("seek") };
        Ok(Origin::Drawn { status, seek, duration })
    }
}

fn delay(arguments: &Arguments) -> Result<Option<TruncatedNormal>, EnvironmentError> {
    let deviation = arguments.get::<Duration>("deviation");
    match (arguments.get::<Duration>("delay"), deviation) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            let advice = "a deviation of nothing; write the average too: delay = \"100 ms\"";
            Err(EnvironmentError::new("deviation", advice))
        }
        (Some(mean), deviation) => {
            let deviation = deviation.unwrap_or(mean / DEVIATION_OF_DELAY);
            Ok(Some(TruncatedNormal { mean, deviation }))
        }
    }
}

/// Why values describe no environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {advice}")]
pub struct EnvironmentError {
    /// The parameter to change.
    pub parameter: &'static str,
    /// What is wrong with its value, and what to write instead.
    pub advice: String,
}

impl EnvironmentError {
    fn new(parameter: &'static str, advice: impl Into<String>) -> EnvironmentError {
        EnvironmentError { parameter, advice: advice.into() }
    }
}

/// What a scenario may set.
pub const PARAMETERS: &[Parameter] = parameters! {
    "delay": Time, optional =>
        "the average link delay, one way, in place of link.delay: at the start and after each \
         period a new delay is drawn from a normal distribution, negative ones again";
    "deviation": Time, optional =>
        "the standard deviation of the delay; without it a fifth of the delay";
    "period": Time = "1 s" => "how long a delay holds; clients reconnect at the ends of periods";
    "reconnections": Count { min: 0 } = "0" =>
        "how often clients drop their connections and open new ones within the duration, at ends \
         of periods drawn at random";
    "reconnect": Choice(Reconnect::NAMES), optional =>
        "what a reconnection is: a new connection from the same-address (without this key too), or from \
         a new-address, as after a change of access point, which drops what waits in its queue; with \
         migration likewise, but QUIC's connections go on";
    "overtaking": Flag, optional =>
        "whether packets overtake one another when the delay falls, as with netem; else they keep \
         their order";
    "seek": Share = "0 %" => "the probability, each second, that viewers jump to a random place";
    "duration": Time = "60 s" =>
        "how long anything changes, from the start of the measured part on; then all stays as it \
         is";
    "timeline": File, optional =>
        "a table of changes in place of drawn ones, the same for all runs: lines of \
         at,change,value such as 0 s,delay,100 ms or 7 s,seek,37.5 % or 12 s,reconnect,";
};

/// The deviation of a delay is its mean over this, unless a scenario says otherwise.
const DEVIATION_OF_DELAY: u32 = 5;

const PERIOD_MIN: Duration = Duration::from_millis(1);
const DURATION_MAX: Duration = Duration::from_secs(86_400);
/// More would not fit the memory of many runs at once.
const DECISIONS_MAX: u64 = 1_000_000;
