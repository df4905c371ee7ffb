//! Idleness: time passes and nothing is sent. It is the baseline for cells with communication.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, Event, EventLog, Parameter, parameters};
use trackbed_substrate::{now, sleep_until};

use crate::arguments::{ensure, warm_up_before};
use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::{nothing_but_warm_up, warm_up};

pub(crate) static ENTRY: Workload = Workload {
    name: "idle",
    summary: "nothing is sent: the baseline of telemetry",
    parameters: || PARAMETERS,
    communicates: false,
    follows_environment: false,
    ranking: &[],
    prepare,
};

fn prepare(arguments: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
    let duration = arguments.need("duration");
    ensure(duration <= DURATION_MAX, "duration", "write a time up to 24 h, such as \"60 s\"")?;
    Ok(Box::new(Pause { duration, warm_up: warm_up_before(arguments, duration)? }))
}

#[derive(Clone, Copy)]
struct Pause {
    duration: Duration,
    warm_up: Duration,
}

impl Prepared for Pause {
    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        nothing_but_warm_up()
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.pass(stage))
    }

    fn site(&self) -> Result<Site, String> {
        Ok(Site::default())
    }
}

impl Pause {
    async fn pass(self, stage: Stage) {
        if !warm_up(&stage).await {
            return;
        }
        let started = now();
        let (from, until) = (started + self.warm_up, started + self.duration);
        stage.log.record(started, Event::Started);
        stage.log.record(started, Event::WindowSet { from, until });
        sleep_until(until).await;
        stage.log.record(now(), Event::Finished);
    }
}

const PARAMETERS: &[Parameter] = parameters! {
    "duration": Time = "60 s" => "duration of the run, up to 24 h";
    "warm-up": Time = "5 s" => "first part of the duration, which is not measured";
};

const DURATION_MAX: Duration = Duration::from_secs(86_400);
