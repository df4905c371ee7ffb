//! A flow: each phone downloads as fast as it can for a given time.
//!
//! It shows how much arrives, and when: around a handover, for example.

mod download;

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, EventLog, Parameter, parameters};

use crate::arguments::{at_most, positive, recordable};
use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::WithWarmUp;

pub(crate) static ENTRY: Workload = Workload {
    name: "flow",
    summary: "each phone downloads as fast as it can for a given time, every byte checked",
    parameters: || PARAMETERS,
    communicates: true,
    follows_environment: false,
    ranking: &[("", &["goodput_mbps", "gap_ms"])],
    prepare,
};

fn prepare(arguments: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
    let plan = Plan {
        duration: positive(arguments, "duration", "60 s")?,
        interval: positive(arguments, "interval", "10 ms")?,
        timeout: positive(arguments, "timeout", "60 s")?,
        phones: at_most(arguments, "phones", PHONES_MAX)?,
    };
    recordable(plan.duration, ("interval", plan.interval), plan.phones, "intervals")?;
    Ok(Box::new(plan))
}

#[derive(Clone, Copy)]
struct Plan {
    duration: Duration,
    interval: Duration,
    timeout: Duration,
    phones: u32,
}

impl Prepared for Plan {
    fn phones(&self) -> u32 {
        self.phones
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(download::service()))
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
