//! The workload of one cell, resolved and checked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trackbed_core::units::format_duration;
use trackbed_core::{Arguments, ByteSize, Ratio};
use trackbed_v2x::traffic::{Blockage, Crossing, Kind, Pace};
use trackbed_verifier::cache::Policy;
use trackbed_verifier::engine::Split;

use crate::arguments::{absent, ensure, limited, warm_up_before};
use crate::boards::{self, Board};
use crate::contract::WorkloadError;
use crate::signatures::TABLE_AFTER;

pub(super) struct Plan {
    pub load: Load,
    pub crossing: Crossing,
    pub recording: Option<Recorded>,
    pub duration: Duration,
    pub warm_up: Duration,
    pub deadline: Duration,
    pub board: Board,
    /// The board that the scenario names.
    pub chosen: Option<String>,
    /// Threads; `None`: the board's default.
    pub workers: Option<usize>,
    pub split: Split,
    /// How much slower the second half of the workers is than the first, in thousandths.
    pub slow_half_permille: u32,
    /// The maximum share of all cores for verification.
    pub budget_permille: u32,
    pub queue_max: usize,
    pub drops_late: bool,
    /// Whether a known certificate is verified again on each arrival.
    pub certificates_again: bool,
    pub tables: Policy,
}

/// Vehicles of a file, and where the unit stands among them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recorded {
    pub file: PathBuf,
    pub centre: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Crossing,
    Closed { signatures: u64 },
}

impl Plan {
    pub fn new(arguments: &Arguments, base: &Path) -> Result<Plan, WorkloadError> {
        let load = match arguments.need("load") {
            "closed" => {
                Load::Closed { signatures: count(arguments, "signatures", 1_000_000)?.into() }
            }
            _ => Load::Crossing,
        };
        let duration = time(arguments, "duration", Duration::from_secs(3_600))?;
        let warm_up = warm_up_before(arguments, duration)?;
        let workers = boards::workers(arguments)?;
        let slow_half: f64 = arguments.need("slow-half");
        let is_right = (1.0..=100.0).contains(&slow_half);
        ensure(is_right, "slow-half", "write a number from 1 to 100")?;
        let budget: Ratio = arguments.need("budget");
        let budget_permille = (budget.as_f64() * 1e3).round() as u32;
        ensure(budget_permille > 0, "budget", "must be above zero; write \"0.1 %\" or more")?;
        let table_memory: ByteSize = arguments.need("table-memory");
        let crossing = crossing(arguments)?;
        let recording = recording(arguments, base)?;
        let messages = messages_hz(&crossing) * duration.as_secs_f64();
        let advice = format!(
            "{messages:.0} messages are too many for a run, which holds {MESSAGES_MAX:.0}; make it \
             shorter"
        );
        let is_known = load == Load::Crossing && recording.is_none();
        ensure(!is_known || messages <= MESSAGES_MAX, "duration", advice)?;
        let (board, chosen) = boards::find(arguments, base)?;
        Ok(Plan {
            load,
            crossing,
            recording,
            duration,
            warm_up,
            deadline: time(arguments, "deadline", Duration::from_secs(60))?,
            board,
            chosen,
            workers,
            split: match arguments.need("split") {
                "static" => Split::Static,
                _ => Split::Dynamic,
            },
            slow_half_permille: (slow_half * 1e3).round() as u32,
            budget_permille,
            queue_max: count(arguments, "queue", u32::MAX)? as usize,
            drops_late: arguments.need::<&str>("late") == "drop",
            certificates_again: arguments.need::<&str>("certificates") == "always",
            tables: match arguments.need("tables") {
                "none" => Policy::None,
                _ => Policy::Lru {
                    bytes: usize::try_from(table_memory.as_bytes()).unwrap_or(usize::MAX),
                    after: TABLE_AFTER,
                },
            },
        })
    }
}

fn crossing(arguments: &Arguments) -> Result<Crossing, WorkloadError> {
    let rate: Duration = arguments.need("rate");
    let is_right = (Duration::from_millis(1)..=Duration::from_secs(100)).contains(&rate);
    ensure(is_right, "rate", "write \"0.01 /s\" to \"1000 /s\"")?;
    let flood: Option<Duration> = arguments.get("flood");
    let flood_hz = flood.map_or(0.0, |period| 1.0 / period.as_secs_f64()).round();
    let is_right = (0.0..=1e6).contains(&flood_hz) && (flood.is_none() || flood_hz >= 1.0);
    ensure(is_right, "flood", "write a rate from \"1 /s\" to \"1000000 /s\"")?;
    let wave_every: Option<Duration> = arguments.get("pseudonyms");
    let is_right = wave_every.is_none_or(|every| !every.is_zero());
    ensure(is_right, "pseudonyms", "write a time above zero, or remove this")?;
    let jitter: Duration = arguments.need("jitter");
    let advice = "messages would overtake one another; write at most the time between two";
    ensure(jitter <= rate, "jitter", advice)?;
    let every: Option<Duration> = arguments.get("blockage-every");
    let lasting: Duration = arguments.need("blockage");
    let is_right = every.is_none_or(|every| lasting < every);
    ensure(is_right, "blockage", "it must be shorter than `blockage-every`")?;
    let crossing = Crossing {
        roads: count(arguments, "roads", 100)?,
        lanes: count(arguments, "lanes", 100)?,
        spacing_m: count(arguments, "spacing", 10_000)?,
        range_m: count(arguments, "range", 10_000)?,
        crossings: count(arguments, "crossings", 10_000)?,
        speed_m_s: count(arguments, "speed", 100)?,
        kind: match arguments.need("message") {
            "cam" => Kind::Cam,
            _ => Kind::Bsm,
        },
        pace: if arguments.need("triggered") { Pace::Triggered } else { Pace::Every(rate) },
        jitter,
        certificate_every: time(arguments, "certificate-every", Duration::from_secs(3_600))?,
        certificate_requests: arguments.get("certificate-requests").unwrap_or(true),
        forged: arguments.need("forged"),
        flood_hz: flood_hz as u32,
        wave_every,
        blockage: every.map(|every| Blockage { every, lasting }),
    };
    let (parameter, advice) = match crossing.vehicles() {
        0 => ("spacing", "no vehicle is within range; write at most the range".to_owned()),
        1..=VEHICLES_MAX => return Ok(crossing),
        many => ("crossings", format!("{many} vehicles are too many; at most {VEHICLES_MAX}")),
    };
    Err(WorkloadError::new(parameter, advice))
}

fn recording(arguments: &Arguments, base: &Path) -> Result<Option<Recorded>, WorkloadError> {
    let Some(file) = arguments.get::<PathBuf>("traffic") else {
        return absent(
            arguments,
            &["centre", "certificate-requests"],
            "there is no `traffic`; remove this",
        )
        .map(|()| None);
    };
    let advice = "vehicles of a file have neither; remove this, or `traffic`";
    absent(arguments, &["flood", "blockage-every"], advice)?;
    let centre = match arguments.get::<Vec<u64>>("centre").as_deref() {
        None => None,
        Some([x, y]) => Some([*x as f64, *y as f64]),
        Some(_) => return Err(WorkloadError::new("centre", "write two numbers, as [500, 300]")),
    };
    Ok(Some(Recorded { file: base.join(file), centre }))
}

/// Messages per second, floods included; for vehicles that send when they have moved, the maximum.
fn messages_hz(crossing: &Crossing) -> f64 {
    let vehicles = 10.0 * f64::from(crossing.vehicles());
    crossing.messages_hz().unwrap_or(vehicles) + f64::from(crossing.flood_hz)
}

fn count(arguments: &Arguments, parameter: &'static str, most: u32) -> Result<u32, WorkloadError> {
    limited(arguments.need(parameter), most)
        .ok_or_else(|| WorkloadError::new(parameter, format!("at most {most}")))
}

fn time(
    arguments: &Arguments,
    parameter: &'static str,
    most: Duration,
) -> Result<Duration, WorkloadError> {
    let time: Duration = arguments.need(parameter);
    let advice = format!("write a time above zero and up to \"{}\"", format_duration(most));
    ensure(!time.is_zero() && time <= most, parameter, advice).map(|()| time)
}

pub(super) const MESSAGES_MAX: f64 = 20e6;
const VEHICLES_MAX: u32 = 100_000;
