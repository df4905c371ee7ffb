//! The messages of a crossing, signed before anything is measured.

use std::sync::Arc;

use trackbed_core::{Seed, Time};
use trackbed_v2x::check::Policy;
use trackbed_v2x::job::PortableVerifier;
use trackbed_v2x::location::Position;
use trackbed_v2x::traffic::{Origin, Traffic};
use trackbed_v2x::{ItsTime, Receiver, Refusal};

use super::super::plan::Plan;

pub(in super::super) struct Script {
    pub lines: Vec<Line>,
    bytes: Vec<u8>,
    epoch: ItsTime,
}

#[derive(Clone, Copy)]
pub(in super::super) struct Line {
    /// Nanoseconds after the beginning.
    pub at: u64,
    pub origin: Origin,
    start: usize,
    len: u32,
}

impl Script {
    pub fn text(&self, line: &Line) -> &[u8] {
        self.bytes.get(line.start..line.start + line.len as usize).unwrap_or_default()
    }

    /// The time of day, this many nanoseconds after the beginning.
    pub fn time_of_day(&self, nanos: u64) -> ItsTime {
        self.epoch.after(std::time::Duration::from_nanos(nanos))
    }
}

/// The crossing's messages while `is_wanted` is true, and a receiver that trusts the same authorities.
pub(in super::super) fn write(
    plan: &Plan,
    seed: &Seed,
    is_wanted: impl Fn(usize, u64) -> bool,
) -> Result<(Script, Receiver), String> {
    let words = |refusal: Refusal| format!("a crossing cannot be signed: {refusal}");
    let epoch = ItsTime::from_secs(EPOCH);
    let mut traffic = Traffic::new(plan.crossing.clone(), seed, PLACE, epoch).map_err(words)?;
    let policy = Policy {
        position: Some(PLACE),
        // The receiver forgets no certificate, however many vehicles follow one another.
        tickets: 4 * plan.crossing.vehicles() as usize + 1_024,
        tickets_again: plan.certificates_again,
        ..Policy::default()
    };
    let root = Arc::clone(traffic.infrastructure().root().certificate());
    let mut receiver = Receiver::new(policy, &[root], &mut PortableVerifier).map_err(words)?;
    let authority = Arc::clone(traffic.authority().certificate());
    receiver.add_authority(authority, &mut PortableVerifier).map_err(words)?;
    let mut script = Script { lines: Vec::new(), bytes: Vec::new(), epoch };
    for message in traffic.by_ref() {
        let at = message.at.since(Time::ZERO).as_nanos() as u64;
        if !is_wanted(script.lines.len(), at) {
            break;
        }
        let (start, len) = (script.bytes.len(), message.bytes.len() as u32);
        if start + message.bytes.len() > BYTES_MAX {
            return Err(format!(
                "the messages of {} s would take more than {} MB; reduce `duration`, `crossings` \
                 or `flood`",
                plan.duration.as_secs_f64(),
                BYTES_MAX / 1_000_000
            ));
        }
        script.bytes.extend_from_slice(&message.bytes);
        script.lines.push(Line { at, origin: message.origin, start, len });
    }
    Ok((script, receiver))
}

/// The time of the runs, in seconds of ITS time: some day in 2026.
const EPOCH: u32 = 720_000_000;
/// The place: a crossing in Daejeon.
const PLACE: Position = Position { latitude: 363_504_000, longitude: 1_273_845_000 };
const BYTES_MAX: usize = 1_000_000_000;
