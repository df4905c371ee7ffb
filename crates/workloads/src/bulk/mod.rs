//! A bulk transfer: each phone fetches or sends one long piece of data, verified by its digest.

mod data;
mod service;
mod transfer;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_core::parameter::Kind;
use trackbed_core::{Arguments, ByteSize, EventLog, Parameter};
use trackbed_protocols::Service;

use crate::contract::{Expectation, Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::{self, WithWarmUp};
use data::Expected;
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
    /// The data that is transferred.
    expected: Arc<Expected>,
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
        Ok(Plan {
            direction: match arguments.need("direction") {
                "upload" => Direction::Upload,
                _ => Direction::Download,
            },
            phones: phones.filter(|phones| *phones <= PHONES_MAX).ok_or_else(|| {
                WorkloadError::new("phones", format!("write at most {PHONES_MAX}"))
            })?,
            timeout,
            expected: Arc::new(Expected::of(size.as_bytes())),
        })
    }
}

/// Bulk transfers with everything resolved.
struct Transfers(Arc<Plan>);

impl Prepared for Transfers {
    fn phones(&self) -> u32 {
        self.0.phones
    }

    fn service(&self, log: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(BulkService::new(Arc::clone(&self.0.expected), log)))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(transfer::drive(Arc::clone(&self.0), stage))
    }

    fn site(&self) -> Result<Site, String> {
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
];

const PHONES_MAX: u32 = 10_000;
