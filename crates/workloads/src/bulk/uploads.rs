//! What the server has received from each phone, where uploads are disturbed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use trackbed_connection::{Body, Error};
use trackbed_core::{Event, EventLog};
use trackbed_substrate::now;

use super::disturbances::Silence;
use super::plan::Plan;
use crate::data::Arrived;

pub(super) struct Uploads {
    plan: Arc<Plan>,
    log: EventLog,
    phones: RefCell<BTreeMap<u32, Upload>>,
}

#[derive(Default)]
struct Upload {
    arrived: Arrived,
    /// Counts the requests with data. Only the last one may add data: an older one belongs to a
    /// connection that its phone has given up, though its data may still arrive.
    request: u32,
    is_complete: bool,
}

struct Receiving {
    uploads: Rc<Uploads>,
    phone: u32,
    request: u32,
    body: Body,
    is_first: bool,
    /// Starts when the phone was last notified that it has reached a disturbance.
    silence: Option<Silence>,
    is_over: bool,
}

impl Uploads {
    pub(super) fn new(plan: Arc<Plan>, log: EventLog) -> Uploads {
        Uploads { plan, log, phones: RefCell::default() }
    }

    /// The number of bytes received from a phone. No more are added until the phone resumes.
    pub(super) fn interrupt(&self, phone: u32) -> u64 {
        let mut phones = self.phones.borrow_mut();
        let upload = phones.entry(phone).or_default();
        upload.request += 1;
        if upload.arrived.bytes == self.plan.bytes {
            // Only the end of the request with the last byte is missing.
            self.complete(phone, upload);
        }
        upload.arrived.bytes
    }

    /// Receives a phone's data from byte `from` on; `None` if it does not continue there. The response
    /// is the number of bytes received (8 bytes, big-endian) at each disturbance, and at the end.
    pub(super) fn take(self: Rc<Self>, phone: u32, from: u64, body: Body) -> Option<Body> {
        let request = {
            let mut phones = self.phones.borrow_mut();
            let upload = phones.entry(phone).or_default();
            if upload.arrived.bytes != from {
                return None;
            }
            upload.request += 1;
            upload.request
        };
        let receiving = Receiving {
            uploads: self,
            phone,
            request,
            body,
            is_first: true,
            silence: None,
            is_over: false,
        };
        Some(Box::pin(stream::try_unfold(receiving, Receiving::report)))
    }

    /// Adds a piece, and returns the number of bytes after and before it.
    fn add(&self, phone: u32, request: u32, piece: &[u8]) -> Option<(u64, u64)> {
        let mut phones = self.phones.borrow_mut();
        let upload = phones.get_mut(&phone).filter(|upload| upload.request == request)?;
        let before = upload.arrived.bytes;
        upload.arrived.take(piece);
        Some((before, upload.arrived.bytes))
    }

    /// Ends a request with data; returns the number of bytes received.
    fn end(&self, phone: u32, request: u32) -> Option<u64> {
        let mut phones = self.phones.borrow_mut();
        let upload = phones.get_mut(&phone).filter(|upload| upload.request == request)?;
        self.complete(phone, upload);
        Some(upload.arrived.bytes)
    }

    fn complete(&self, phone: u32, upload: &mut Upload) {
        if !std::mem::replace(&mut upload.is_complete, true) {
            let bytes = upload.arrived.bytes;
            let intact = upload.arrived.is_all_of(self.plan.bytes);
            self.log.record(now(), Event::Transferred { phone, bytes, intact });
        }
    }
}

impl Receiving {
    async fn report(mut self) -> Result<Option<(Bytes, Receiving)>, Error> {
        if self.is_over {
            return Ok(None);
        }
        while let Some(piece) = self.body.next().await.transpose()? {
            let uploads = &self.uploads;
            let added = uploads.add(self.phone, self.request, &piece).ok_or_else(overtaken)?;
            let (before, bytes) = added;
            if std::mem::take(&mut self.is_first) && before > 0 {
                uploads.log.record(now(), Event::Resumed { phone: self.phone });
            }
            if let Some(silence) = &mut self.silence {
                silence.end(now());
            }
            let disturbances = &uploads.plan.disturbances;
            if disturbances.up_to(bytes) > disturbances.up_to(before) {
                self.settle();
                self.silence = Some(Silence::since(now()));
                return Ok(Some((count(bytes), self)));
            }
        }
        self.is_over = true;
        self.settle();
        let bytes = self.uploads.end(self.phone, self.request).ok_or_else(overtaken)?;
        Ok(Some((count(bytes), self)))
    }

    /// A phone that still sends over the disturbed connection has kept it.
    fn settle(&mut self) {
        if let Some(silence) = self.silence.take() {
            let (phone, silence) = (self.phone, silence.longest());
            self.uploads.log.record(now(), Event::Outlived { phone, silence });
        }
    }
}

fn count(bytes: u64) -> Bytes {
    Bytes::copy_from_slice(&bytes.to_be_bytes())
}

fn overtaken() -> Error {
    Error::Body { reason: "the phone continues over another connection".to_owned() }
}
