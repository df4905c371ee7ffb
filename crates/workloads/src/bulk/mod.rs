//! A bulk transfer: each phone fetches or sends one long piece of data, verified by its digest.
//!
//! On the way, a phone may be made to open a new connection, or move to another network
//! ([`disturbances`]); the transfer then goes on where it was.

mod disturbances;
mod download;
mod plan;
mod service;
mod transfer;
mod upload;
mod uploads;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, EventLog, Parameter, parameters};

use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::{self, WithWarmUp};
use plan::{Direction, Plan};
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

/// Bulk transfers with everything resolved.
struct Transfers(Arc<Plan>);

impl Prepared for Transfers {
    fn phones(&self) -> u32 {
        self.0.phones
    }

    fn networks(&self) -> u32 {
        self.0.moves + 1
    }

    fn reconnections(&self) -> u32 {
        self.0.reconnections
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
}

const PARAMETERS: &[Parameter] = parameters! {
    "size": Size = "10 MB" => "bytes that each phone transfers";
    "direction": Choice(&["download", "upload"]) = "download" =>
        "from the server to the phones, or from the phones to the server";
    "phones": Count { min: 1 } = "1" =>
        "phones that transfer at once, each on a host of its own, up to 10000";
    "timeout": Time = "60 s" =>
        "a transfer of which no byte has moved for this long is given up, and the run has failed";
    "reconnections": Count { min: 0 } = "0" =>
        "how often each phone drops its connection and opens another one, which goes on where the \
         transfer was: number k of N when k / (N + 1) of the bytes are there, up to 100";
    "moves": Count { min: 0 } = "0" =>
        "how often each phone moves to another network, at points of progress likewise: its old \
         address is gone at once; QUIC's connections migrate, others are replaced, up to 100";
    "notice": Flag = "true" =>
        "whether a phone that moves is told so by its system, as those of Android and iOS are; \
         otherwise a connection has to time out before it is replaced";
};
