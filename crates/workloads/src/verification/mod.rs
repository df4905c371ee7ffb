//! Verification of signed messages: a unit beside a crossing decides which of them to accept.
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

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Event, EventLog};
use trackbed_substrate::{is_simulating, now};

use crate::contract::{Prepared, Site, Stage, Workload};
use crate::warm_up::nothing_but_warm_up;
use plan::{Load, Plan};

pub(crate) static ENTRY: Workload = Workload {
    name: "verification",
    summary: "a unit verifies the signed messages of a crossing's vehicles, or as many signatures \
              as it can",
    parameters: || parameters::PARAMETERS,
    communicates: false,
    follows_environment: false,
    ranking: &[
        ("load=closed", &["signature_rate_hz"]),
        ("", &["late_verdict_ratio", "verdict_ms", "accepted_count"]),
    ],
    prepare: |arguments, base| Ok(Box::new(Arc::new(Plan::new(arguments, base)?))),
};

impl Prepared for Arc<Plan> {
    fn deadline(&self) -> Option<Duration> {
        Some(self.deadline)
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        nothing_but_warm_up()
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            let outcome = match (is_simulating(), self.load) {
                (true, Load::Crossing) => modelled::crossing(self, &stage).await,
                (true, Load::Closed { signatures }) => {
                    modelled::closed(self, signatures, &stage).await;
                    Ok(())
                }
                (false, _) if self.recording.is_some() => {
                    Err("vehicles of a file exist in virtual time only: remove `traffic`"
                        .to_owned())
                }
                (false, _) => measured::run(self, &stage).await,
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

    fn board(&self) -> Option<&str> {
        Some(&self.board.name)
    }

    fn chosen_board(&self) -> Option<&str> {
        self.chosen.as_deref()
    }

    fn unit(&self) -> Option<[u64; 2]> {
        let verifying = self.board.cores(self.workers).len();
        // Those of a file are not counted.
        let vehicles = self.recording.as_ref().map_or(self.crossing.vehicles().into(), |_| 0);
        (self.load == Load::Crossing).then_some([vehicles, self.board.usual.max(verifying) as u64])
    }

    fn is_extrapolated(&self) -> bool {
        self.board.is_extrapolated(self.workers)
    }
}

#[cfg(test)]
mod tests;
