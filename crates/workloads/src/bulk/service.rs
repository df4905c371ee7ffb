//! The server: it sends the data, or receives and checks it.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use futures_util::{StreamExt as _, stream};
use trackbed_connection::{Body, Error, Request, Response, Service, body};
use trackbed_core::{Event, EventLog};
use trackbed_substrate::now;

use super::plan::Plan;
use super::uploads::Uploads;
use crate::contract::SiteFile;
use crate::data::{Arrived, nothing_at, pieces, refuse};

/// Answers these requests, and any other with 404:
///
/// - `/bulk/{bytes}` with that many bytes, `/bulk/{bytes}/from/{offset}` with the rest of them;
/// - `/bulk/upload/{phone}` with the result of the upload in the request;
/// - for transfers that are [disturbed](super::disturbances), `/bulk/upload/{phone}/have` with the
///   number of bytes received from a phone, and `/bulk/upload/{phone}/from/{offset}`, whose request
///   resumes there, with a count whenever the phone waits for one.
pub(super) struct BulkService {
    plan: Arc<Plan>,
    uploads: Rc<Uploads>,
    log: EventLog,
}

impl BulkService {
    pub(super) fn new(plan: Arc<Plan>, log: EventLog) -> BulkService {
        let uploads = Rc::new(Uploads::new(Arc::clone(&plan), log.clone()));
        BulkService { plan, uploads, log }
    }
}

impl Service for BulkService {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let answer = match Target::parse(&request.path) {
            Some(Target::Download { bytes, from }) => {
                let content = stream::iter(pieces(from, bytes).map(Ok));
                Response { status: 200, body: Box::pin(content) }
            }
            Some(Target::Upload(phone)) => {
                let (plan, log) = (Arc::clone(&self.plan), self.log.clone());
                return Box::pin(receive(phone, request.body, plan, log));
            }
            Some(Target::Have(phone)) => {
                let have = self.uploads.interrupt(phone);
                Response { status: 200, body: body::full(have.to_be_bytes().to_vec()) }
            }
            Some(Target::Rest { phone, from }) => {
                match Rc::clone(&self.uploads).take(phone, from, request.body) {
                    Some(reports) => Response { status: 200, body: reports },
                    None => refuse(CONFLICT, format!("the data does not go on at byte {from}")),
                }
            }
            None => nothing_at(&request.path),
        };
        Box::pin(std::future::ready(answer))
    }
}

async fn receive(phone: u32, body: Body, plan: Arc<Plan>, log: EventLog) -> Response {
    match take_in(body).await {
        Ok(arrived) => {
            let bytes = arrived.bytes;
            let intact = arrived.is_all_of(plan.bytes);
            log.record(now(), Event::Transferred { phone, bytes, intact });
            let content =
                serde_json::json!({ "status": "received", "bytes": bytes, "intact": intact });
            Response { status: 200, body: body::full(content.to_string()) }
        }
        Err(why) => refuse(400, why),
    }
}

pub(super) fn site_file(bytes: u64) -> SiteFile {
    let content = Arc::new(move |file: &mut dyn io::Write| {
        pieces(0, bytes).try_for_each(|piece| file.write_all(&piece))
    });
    SiteFile { path: Target::Download { bytes, from: 0 }.path(), bytes, content }
}

async fn take_in(mut body: Body) -> Result<Arrived, Error> {
    let mut arrived = Arrived::default();
    while let Some(piece) = body.next().await.transpose()? {
        arrived.take(&piece);
    }
    Ok(arrived)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Download {
        bytes: u64,
        from: u64,
    },
    Upload(u32),
    /// Report how many bytes of this phone have arrived.
    Have(u32),
    Rest {
        phone: u32,
        from: u64,
    },
}

impl Target {
    pub(super) fn path(self) -> String {
        match self {
            Target::Download { bytes, from: 0 } => format!("/bulk/{bytes}"),
            Target::Download { bytes, from } => format!("/bulk/{bytes}/from/{from}"),
            Target::Upload(phone) => format!("/bulk/upload/{phone}"),
            Target::Have(phone) => format!("/bulk/upload/{phone}/have"),
            Target::Rest { phone, from } => format!("/bulk/upload/{phone}/from/{from}"),
        }
    }

    fn parse(path: &str) -> Option<Target> {
        let words: Vec<&str> = path.strip_prefix("/bulk/")?.split('/').collect();
        Some(match words[..] {
            ["upload", phone] => Target::Upload(phone.parse().ok()?),
            ["upload", phone, "have"] => Target::Have(phone.parse().ok()?),
            ["upload", phone, "from", from] => {
                Target::Rest { phone: phone.parse().ok()?, from: from.parse().ok()? }
            }
            [bytes] => Target::Download { bytes: bytes.parse().ok()?, from: 0 },
            [bytes, "from", from] => {
                Target::Download { bytes: bytes.parse().ok()?, from: from.parse().ok()? }
            }
            _ => return None,
        })
    }
}

/// The data of a phone does not continue there (RFC 9110 section 15.5.10): data from a connection
/// that the phone has given up arrived after it had asked for the count.
pub(super) const CONFLICT: u16 = 409;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_back_to_their_target() {
        let targets = [
            Target::Download { bytes: 0, from: 0 },
            Target::Download { bytes: u64::MAX, from: u64::MAX },
            Target::Upload(7),
            Target::Have(8),
            Target::Rest { phone: 9, from: 0 },
        ];
        for target in targets {
            assert_eq!(Target::parse(&target.path()), Some(target));
        }
        let others =
            ["/bulk", "/bulk/", "/bulk/-1", "/bulk/upload/x", "/bulk/1/from", "/messages/1/2"];
        for other in others {
            assert_eq!(Target::parse(other), None, "{other}");
        }
    }
}
