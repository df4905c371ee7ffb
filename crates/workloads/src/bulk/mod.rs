//! A bulk transfer: each phone fetches or sends one long piece of data, verified by its digest.
//!
//! On the way, a phone may be made to open a new connection, or move to another network
//! ([`disturbances`]); the transfer then goes on where it was.

mod disturbances;
mod download;
mod service;
mod transfer;
mod upload;
mod uploads;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::parameter::Kind;
use trackbed_core::{Arguments, ByteSize, EventLog, Parameter};

use crate::contract::{Expectation, Prepared, Site, Stage, Workload, WorkloadError};
use crate::data::Expected;
use crate::warm_up::{self, WithWarmUp};
use disturbances::Disturbances;
use service::BulkService;

/// The entry of the registry.
pub(crate) struct Bulk;

impl Workload for Bulk {
    fn name(&self) -> &'static str {
        "bulk"
    }

    fn summary(&self) -> &'static str {
        "phones download or upload one long piece of data each, verified by a BLAKE3 digest"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn prepare(&self, arguments: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(Transfers(Arc::new(Plan::new(arguments)?))))
    }
}

/// What the runs of a cell share.
struct Plan {
    direction: Direction,
    phones: u32,
    timeout: Duration,
    disturbances: Disturbances,
    /// How often each phone moves.
    moves: u32,
    /// Whether phones are told that they have moved.
    notice: bool,
    /// The data that is transferred.
    expected: Expected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Download,
    Upload,
}

impl Plan {
    fn new(arguments: &Arguments) -> Result<Plan, WorkloadError> {
        let size: ByteSize = arguments.need("size");
        if size.as_bytes() == 0 {
            return Err(WorkloadError::new(
                "size",
                "there is nothing to transfer; write \"10 MB\"",
            ));
        }
        let phones = u32::try_from(arguments.need::<u64>("phones")).ok();
        let timeout: Duration = arguments.need("timeout");
        if timeout.is_zero() {
            let advice = "nothing moves in no time; write \"60 s\"";
            return Err(WorkloadError::new("timeout", advice));
        }
        let (reconnections, moves) =
            (count(arguments, "reconnections")?, count(arguments, "moves")?);
        if size.as_bytes() <= u64::from(reconnections.max(moves)) {
            let (parameter, count) = match moves > reconnections {
                true => ("moves", moves),
                false => ("reconnections", reconnections),
            };
            let advice = format!("{size} have no {count} points in between; write fewer");
            return Err(WorkloadError::new(parameter, advice));
        }
        Ok(Plan {
            direction: match arguments.need("direction") {
                "upload" => Direction::Upload,
                _ => Direction::Download,
            },
            phones: phones.filter(|phones| *phones <= PHONES_MAX).ok_or_else(|| {
                WorkloadError::new("phones", format!("write at most {PHONES_MAX}"))
            })?,
            timeout,
            disturbances: Disturbances::new(size.as_bytes(), reconnections, moves),
            moves,
            notice: arguments.need("notice"),
            expected: Expected::of(size.as_bytes()),
        })
    }
}

/// How often something happens to a transfer.
fn count(arguments: &Arguments, parameter: &'static str) -> Result<u32, WorkloadError> {
    let count: u64 = arguments.need(parameter);
    let count = u32::try_from(count).ok().filter(|count| *count <= DISTURBANCES_MAX);
    count.ok_or_else(|| WorkloadError::new(parameter, format!("write at most {DISTURBANCES_MAX}")))
}

/// Bulk transfers with everything resolved.
struct Transfers(Arc<Plan>);

impl Prepared for Transfers {
    fn phones(&self) -> u32 {
        self.0.phones
    }

    fn networks(&self) -> u32 {
        self.0.moves + 1
    }

    fn service(&self, log: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(BulkService::new(Arc::clone(&self.0), log)))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(transfer::drive(Arc::clone(&self.0), stage))
    }

    fn site(&self) -> Result<Site, String> {
        if !self.0.disturbances.is_empty() {
            let why = "only our own server lets a transfer go on where it was: set reconnections \
                       and moves to 0";
            return Err(why.to_owned());
        }
        match self.0.direction {
            Direction::Download => {
                let transfer = service::site_file(self.0.expected.bytes());
                Ok(Site { files: vec![warm_up::site_file(), transfer] })
            }
            Direction::Upload => {
                Err("only our own server checks what an upload brings: download from this one"
                    .to_owned())
            }
        }
    }

    /// How long a transfer takes depends on windows and rates, not on round trips alone.
    fn expectation(&self) -> Option<Expectation> {
        None
    }
}

const PARAMETERS: &[Parameter] = &[
    Parameter::with_default("size", Kind::Size, "10 MB", "bytes that each phone transfers"),
    Parameter::with_default(
        "direction",
        Kind::Choice(&["download", "upload"]),
        "download",
        "from the server to the phones, or from the phones to the server",
    ),
    Parameter::with_default(
        "phones",
        Kind::Count { min: 1 },
        "1",
        "phones that transfer at once, each on a host of its own, up to 10000",
    ),
    Parameter::with_default(
        "timeout",
        Kind::Time,
        "60 s",
        "a transfer of which no byte has moved for this long is given up, and the run has \
         failed",
    ),
    Parameter::with_default("reconnections", Kind::Count { min: 0 }, "0", RECONNECTIONS),
    Parameter::with_default("moves", Kind::Count { min: 0 }, "0", MOVES),
    Parameter::with_default("notice", Kind::Flag, "true", NOTICE),
];

const RECONNECTIONS: &str = "how often each phone drops its connection and opens another one, \
                             which goes on where the transfer was: number k of N when k / (N + 1) \
                             of the bytes are there, up to 100";
const MOVES: &str = "how often each phone moves to another network, at points of progress \
                     likewise: its old address is gone at once; QUIC's connections migrate, others \
                     are replaced, up to 100";
const NOTICE: &str = "whether a phone that moves is told so by its system, as those of Android and \
                      iOS are; otherwise a connection has to time out before it is replaced";

const PHONES_MAX: u32 = 10_000;
/// Of a kind; with so many phones each has an address of its own for every move.
const DISTURBANCES_MAX: u32 = 100;
