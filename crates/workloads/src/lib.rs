//! The traffic over a protocol: messages, telemetry, web pages, bulk transfers, streamed media, or
//! none; and signature verification.
//!
//! A [`Workload`] is an entry of [`registry`]. It knows no protocol and no network: it opens
//! connections with dialers, exchanges requests and responses over them, responds as a service, and
//! reports [`Event`](trackbed_core::Event)s. All metrics are computed from these.
//!
//! 1. [`prepare`](Workload::prepare) reads files and refuses inconsistent combinations.
//! 2. [`Prepared::service`] is the server's side of one run.
//! 3. [`Prepared::drive`] is the clients' side, from the warm-up to the last answer.
#![forbid(unsafe_code)]

mod arguments;
mod boards;
mod bulk;
mod contract;
mod data;
pub mod environment;
mod flow;
mod idle;
mod lines;
mod messages;
mod page;
mod phone;
mod registry;
mod signatures;
mod streaming;
mod tasks;
mod telemetry;
mod verification;
mod warm_up;

pub use arguments::WorkloadError;
pub use boards::HERE;
pub use contract::{
    Expectation, PageObject, Patience, Prepared, Site, SiteFile, Stage, Workload, WriteContent,
};
pub use data::generate as generate_data;
pub use registry::{find, registry};
pub use signatures::OnThisThread;

#[cfg(test)]
mod tests {
    use trackbed_core::Arguments;

    use super::*;

    #[test]
    fn every_entry_is_complete_and_its_defaults_work() {
        for (index, workload) in registry().iter().enumerate() {
            assert!(registry()[..index].iter().all(|other| other.name != workload.name));
            assert!(!workload.summary.is_empty());
            assert!(workload.parameters().iter().all(|parameter| !parameter.help.is_empty()));
            let defaults = Arguments::read(workload.parameters(), &[]).unwrap();
            let prepared = (workload.prepare)(&defaults, std::path::Path::new("."));
            assert_eq!(prepared.map(|prepared| prepared.phones()).ok(), Some(1));
        }
        assert!(find("messages").is_some() && find("nothing").is_none());
    }
}
