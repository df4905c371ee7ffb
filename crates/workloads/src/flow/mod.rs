//! A flow: each phone downloads as fast as it can for a given time.
//!
//! It shows how much arrives, and when: around a handover, for example.

mod download;
mod service;

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, EventLog, Parameter, parameters};

use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::WithWarmUp;
use service::FlowService;

/// The entry of the registry.
pub(crate) struct Flow;

impl Workload for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn summary(&self) -> &'static str {
        "each phone downloads as fast as it can for a given time, every byte checked"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn prepare(&self, arguments: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
        let positive = |parameter: &'static str, advice: &str| {
            let time: Duration = arguments.need(parameter);
            let is_set = !time.is_zero();
            is_set.then_some(time).ok_or_else(|| WorkloadError::new(parameter, advice))
        };
        let phones = u32::try_from(arguments.need::<u64>("phones")).ok();
        Ok(Box::new(Plan {
            duration: positive("duration", "must be longer than zero; write for example \"60 s\"")?,
            interval: positive(
                "interval",
                "must be longer than zero; write for example \"10 ms\"",
            )?,
            timeout: positive("timeout", "must be longer than zero; write for example \"60 s\"")?,
            phones: phones.filter(|phones| *phones <= PHONES_MAX).ok_or_else(|| {
                WorkloadError::new("phones", format!("write at most {PHONES_MAX}"))
            })?,
        }))
    }
}

/// A flow with everything resolved.
#[derive(Clone, Copy)]
struct Plan {
    /// The duration, from the start of the measured part.
    duration: Duration,
    /// The interval of counting.
    interval: Duration,
    /// The maximum time without a byte.
    timeout: Duration,
    phones: u32,
}

impl Prepared for Plan {
    fn phones(&self) -> u32 {
        self.phones
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(FlowService))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(download::drive(*self, stage))
    }

    fn site(&self) -> Result<Site, String> {
        Err("only the built-in server has endless data: use the workload bulk".to_owned())
    }
}

const PARAMETERS: &[Parameter] = parameters! {
    "duration": Time = "60 s" => "duration of the download, connection set-up included";
    "interval": Time = "10 ms" =>
        "interval in which arriving bytes are counted, for throughput around handovers";
    "phones": Count { min: 1 } = "1" =>
        "phones that download at the same time, each on a separate host, up to 10000";
    "timeout": Time = "60 s" =>
        "a phone that receives no byte for this long gives up, and the run fails";
};

const PHONES_MAX: u32 = 10_000;
