//! The server: it sends the data, or receives and checks it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use futures_util::StreamExt as _;
use futures_util::stream;
use trackbed_core::{Event, EventLog};
use trackbed_protocols::{Body, Error, Request, Response, Service, body};
use trackbed_substrate::now;

use super::data::{Arrived, Expected, pieces};
use crate::contract::SiteFile;

/// Answers transfers: `/bulk/{bytes}` with that many bytes, `/bulk/upload/{phone}` with what
/// became of the data in the request, anything else with 404.
pub(super) struct BulkService {
    expected: Arc<Expected>,
    log: EventLog,
}

impl BulkService {
    pub(super) fn new(expected: Arc<Expected>, log: EventLog) -> BulkService {
        BulkService { expected, log }
    }
}

impl Service for BulkService {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let (expected, log) = (Arc::clone(&self.expected), self.log.clone());
        Box::pin(async move {
            match Target::parse(&request.path) {
                Some(Target::Download(bytes)) => {
                    Response { status: 200, body: Box::pin(stream::iter(pieces(bytes).map(Ok))) }
                }
                Some(Target::Upload(phone)) => receive(phone, request.body, &expected, &log).await,
                None => {
                    let reason = format!("there is nothing at {}", request.path);
                    answer(404, &serde_json::json!({ "status": "refused", "reason": reason }))
                }
            }
        })
    }
}

async fn receive(phone: u32, body: Body, expected: &Expected, log: &EventLog) -> Response {
    match take_in(body, |_| ()).await {
        Ok(arrived) => {
            let bytes = arrived.bytes;
            let intact = expected.matches(arrived);
            log.record(now(), Event::Transferred { phone, bytes, intact });
            answer(
                200,
                &serde_json::json!({ "status": "received", "bytes": bytes, "intact": intact }),
            )
        }
        Err(why) => {
            let reason = why.to_string();
            answer(400, &serde_json::json!({ "status": "refused", "reason": reason }))
        }
    }
}

/// The file from which a server that is not ours sends so many bytes.
pub(super) fn site_file(bytes: u64) -> SiteFile {
    let content = Arc::new(move |file: &mut dyn io::Write| {
        pieces(bytes).try_for_each(|piece| file.write_all(&piece))
    });
    SiteFile { path: Target::Download(bytes).path(), content }
}

/// Reads a body to its end; `progress` is called for each piece.
pub(super) async fn take_in(
    mut body: Body,
    mut progress: impl FnMut(&Bytes),
) -> Result<Arrived, Error> {
    let mut arrived = Arrived::default();
    while let Some(piece) = body.next().await.transpose()? {
        progress(&piece);
        arrived.take(&piece);
    }
    Ok(arrived)
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To send this many bytes.
    Download(u64),
    /// To receive data from this phone.
    Upload(u32),
}

impl Target {
    /// The path of a request about this.
    pub(super) fn path(self) -> String {
        match self {
            Target::Download(bytes) => format!("/bulk/{bytes}"),
            Target::Upload(phone) => format!("/bulk/upload/{phone}"),
        }
    }

    fn parse(path: &str) -> Option<Target> {
        let rest = path.strip_prefix("/bulk/")?;
        match rest.strip_prefix("upload/") {
            Some(phone) => phone.parse().ok().map(Target::Upload),
            None => rest.parse().ok().map(Target::Download),
        }
    }
}

fn answer(status: u16, content: &serde_json::Value) -> Response {
    Response { status, body: body::full(content.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_back_to_their_target() {
        for target in [Target::Download(0), Target::Download(u64::MAX), Target::Upload(7)] {
            assert_eq!(Target::parse(&target.path()), Some(target));
        }
        for other in ["/bulk", "/bulk/", "/bulk/-1", "/bulk/upload/x", "/messages/1/2"] {
            assert_eq!(Target::parse(other), None, "{other}");
        }
    }
}
