//! Verification of signed messages: a unit beside a crossing hears vehicles and decides which
//! messages to accept.
//!
//! Nothing is sent over the lab's links: the workload measures how long a message waits for its
//! verdict, and the processor time. In virtual time the unit is a [`modelled`] one, whose cores
//! have the speed of a [board](crate::boards); in real time it is this machine ([`measured`]),
//! which receives messages signed in advance and verifies them with `trackbed-verifier`.

mod book;
mod measured;
mod modelled;
mod parameters;
mod plan;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, Event, EventLog, Parameter};
use trackbed_substrate::{is_simulating, now};

use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::nothing_but_warm_up;
use plan::{Load, Plan};

/// The entry of the registry.
pub(crate) struct Verification;

impl Workload for Verification {
    fn name(&self) -> &'static str {
        "verification"
    }

    fn summary(&self) -> &'static str {
        "a unit verifies the signed messages of a crossing's vehicles, or as many signatures as it \
         can"
    }

    fn parameters(&self) -> &'static [Parameter] {
        parameters::PARAMETERS
    }

    fn communicates(&self) -> bool {
        false
    }

    fn prepare(&self, arguments: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(Unit(Arc::new(Plan::new(arguments)?))))
    }
}

/// A unit with everything resolved.
struct Unit(Arc<Plan>);

impl Prepared for Unit {
    fn deadline(&self) -> Option<Duration> {
        Some(self.0.deadline)
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        nothing_but_warm_up()
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        let plan = Arc::clone(&self.0);
        Box::pin(async move {
            let outcome = match (is_simulating(), plan.load) {
                (true, Load::Crossing) => modelled::crossing(&plan, &stage).await,
                (true, Load::Closed { signatures }) => {
                    modelled::closed(&plan, signatures, &stage).await;
                    Ok(())
                }
                (false, _) => measured::run(&plan, &stage).await,
            };
            let event = match outcome {
                Ok(()) => Event::Finished,
                Err(reason) => Event::Failed { phone: 0, message: 0, reason },
            };
            stage.log.record(now(), event);
        })
    }

    fn site(&self) -> Result<Site, String> {
        Ok(Site::default())
    }

    fn board(&self) -> Option<&'static str> {
        Some(self.0.board.name)
    }
}

#[cfg(test)]
mod tests;
