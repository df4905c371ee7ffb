//! Idleness: time passes and nothing is sent. It is the baseline for cells with communication.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, Event, EventLog, Parameter, parameters};
use trackbed_substrate::{now, sleep_until};

use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::{nothing_but_warm_up, warm_up};

/// The entry of the registry.
pub(crate) struct Idle;

impl Workload for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn summary(&self) -> &'static str {
        "nothing is sent: the baseline of telemetry"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn communicates(&self) -> bool {
        false
    }

    fn prepare(&self, arguments: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
        let pause =
            Pause { duration: arguments.need("duration"), warm_up: arguments.need("warm-up") };
        if pause.duration > DURATION_MAX {
            return Err(WorkloadError::new(
                "duration",
                "write a time up to 24 h, such as \"60 s\"",
            ));
        }
        if pause.warm_up >= pause.duration {
            let advice = "nothing is left to measure; make it shorter than the duration";
            return Err(WorkloadError::new("warm-up", advice));
        }
        Ok(Box::new(pause))
    }
}

/// Idleness with everything resolved.
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
