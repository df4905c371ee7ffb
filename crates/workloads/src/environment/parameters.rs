//! What a scenario says of the environment.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Arguments, Parameter, Ratio, Seed, parameters};

use crate::environment::seek::SeekChanger;
use crate::environment::status::StatusChanger;
use crate::environment::timeline::Timeline;
use crate::environment::truncated_normal::TruncatedNormal;

/// How the environment of a run comes about. The default is one that does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment(Origin);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// Each run draws its own.
    Drawn { status: StatusChanger, seek: SeekChanger, duration: Duration },
    /// All runs have the same.
    Given(Arc<Timeline>),
}

impl Default for Environment {
    fn default() -> Environment {
        Environment(Origin::Given(Arc::default()))
    }
}

impl Environment {
    /// The environment that the values of [`PARAMETERS`] describe. A file is not read here: in the
    /// place of its path its contents are wanted.
    ///
    /// # Errors
    /// If the values do not go together.
    pub fn read(arguments: &Arguments) -> Result<Environment, EnvironmentError> {
        if let Some(text) = arguments.get::<Arc<str>>("timeline") {
            let timeline = text.parse().map_err(|why| EnvironmentError::new("timeline", why));
            return Ok(Environment(Origin::Given(Arc::new(timeline?))));
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
        Ok(Environment(Origin::Drawn { status, seek, duration }))
    }

    /// The timeline of the run with this seed. It depends on nothing else, so all protocols meet
    /// the same one.
    pub fn timeline(&self, seed: &Seed) -> Arc<Timeline> {
        match &self.0 {
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
        match &self.0 {
            Origin::Given(timeline) => timeline.has_delays(),
            Origin::Drawn { status, .. } => status.delay.is_some(),
        }
    }

    /// Whether anything changes in any run.
    pub fn is_still(&self) -> bool {
        match &self.0 {
            Origin::Given(timeline) => timeline.moments().is_empty(),
            Origin::Drawn { status, seek, .. } => {
                status.delay.is_none() && status.reconnections == 0 && seek.probability.is_zero()
            }
        }
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
