//! A bulk transfer: each phone downloads or uploads one long piece of data, verified byte by byte.
//!
//! During the transfer, a phone may have to open a new connection or move to another network
//! ([`disturbances`]); the transfer then resumes where it was.

mod disturbances;
mod download;
mod plan;
mod service;
mod transfer;
mod upload;
mod uploads;

use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{EventLog, Parameter, parameters};

use crate::contract::{Prepared, Site, Stage, Workload};
use crate::warm_up::{self, WithWarmUp};
use plan::{Direction, Plan};
use service::BulkService;

pub(crate) static ENTRY: Workload = Workload {
    name: "bulk",
    summary: "each phone downloads or uploads one long piece of data, verified byte by byte",
    parameters: || PARAMETERS,
    communicates: true,
    follows_environment: false,
    ranking: &[("", &["completion_ms", "interruption_ms"])],
    prepare: |arguments, _| Ok(Box::new(Arc::new(Plan::new(arguments)?))),
};

impl Prepared for Arc<Plan> {
    fn phones(&self) -> u32 {
        self.phones
    }

    fn networks(&self) -> u32 {
        self.moves + 1
    }

    fn reconnections(&self) -> u32 {
        self.reconnections
    }

    fn service(&self, log: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(BulkService::new(Arc::clone(self), log)))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(transfer::drive(Arc::clone(self), stage))
    }

    fn site(&self) -> Result<Site, String> {
        if !self.disturbances.is_empty() {
            let why = "only the built-in server can resume a transfer: set reconnections and moves \
                       to 0";
            return Err(why.to_owned());
        }
        match self.direction {
            Direction::Download => {
                let transfer = service::site_file(self.bytes);
                Ok(Site { files: vec![warm_up::site_file(), transfer] })
            }
            Direction::Upload => {
                Err("only the built-in server verifies uploads: set direction = \"download\""
                    .to_owned())
            }
        }
    }
}

const PARAMETERS: &[Parameter] = parameters! {
    "size": Size = "10 MB" => "bytes transferred per phone";
    "direction": Choice(&["download", "upload"]) = "download" =>
        "from the server to the phones (download) or from the phones to the server (upload)";
    "phones": Count { min: 1 } = "1" =>
        "phones that transfer at the same time, each on a separate host, up to 10000";
    "timeout": Time = "60 s" =>
        "a transfer without any progress for this long is given up, and the run fails";
    "reconnections": Count { min: 0 } = "0" =>
        "times that each phone drops its connection and resumes on a new one, number k of N after \
         k / (N + 1) of the bytes, up to 100";
    "moves": Count { min: 0 } = "0" =>
        "times that each phone moves to another network and loses its old address, at the same \
         points of progress, up to 100; QUIC connections migrate, others are replaced";
    "notice": Flag = "true" =>
        "whether the system notifies a phone of its move, as Android and iOS do; without it a \
         connection must time out before it is replaced";
};
