//! What the server has of each phone's data, where uploads are disturbed.

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

/// Uploads that outlive their connections.
pub(super) struct Uploads {
    plan: Arc<Plan>,
    log: EventLog,
    phones: RefCell<BTreeMap<u32, Upload>>,
}

/// The data of one phone.
#[derive(Default)]
struct Upload {
    arrived: Arrived,
    /// Counts the requests that brought data. Only the last one may bring more: an older one is
    /// of a connection that its phone has given up, though its data may still arrive.
    request: u32,
    /// Whether all of it is there, and that is recorded.
    is_complete: bool,
}

/// A request that brings data.
struct Receiving {
    uploads: Rc<Uploads>,
    phone: u32,
    request: u32,
    body: Body,
    /// Whether nothing has come yet.
    is_first: bool,
    /// Since the phone was last told that it has reached a disturbance.
    silence: Option<Silence>,
    is_over: bool,
}

impl Uploads {
    pub(super) fn new(plan: Arc<Plan>, log: EventLog) -> Uploads {
        Uploads { plan, log, phones: RefCell::default() }
    }

    /// How many bytes there are of a phone's data. Nothing comes to these any more until the phone
    /// goes on.
    pub(super) fn interrupt(&self, phone: u32) -> u64 {
        let mut phones = self.phones.borrow_mut();
        let upload = phones.entry(phone).or_default();
        upload.request += 1;
        if upload.arrived.bytes == self.plan.expected.bytes() {
            // Of the request that brought the last byte, only the end has not come.
            self.complete(phone, upload);
        }
        upload.arrived.bytes
    }

    /// Takes in the data of a phone from byte `from` on; `None` if that is not where it goes on. The
    /// answer is the number of bytes that are there (8 bytes, big-endian) whenever it reaches a
    /// disturbance, and at the end.
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

    /// Takes in a piece, and says how many bytes are there now and how many were before.
    fn add(&self, phone: u32, request: u32, piece: &[u8]) -> Option<(u64, u64)> {
        let mut phones = self.phones.borrow_mut();
        let upload = phones.get_mut(&phone).filter(|upload| upload.request == request)?;
        let before = upload.arrived.bytes;
        upload.arrived.take(piece);
        Some((before, upload.arrived.bytes))
    }

    /// Ends a request that brought data; says how many bytes there are.
    fn end(&self, phone: u32, request: u32) -> Option<u64> {
        let mut phones = self.phones.borrow_mut();
        let upload = phones.get_mut(&phone).filter(|upload| upload.request == request)?;
        self.complete(phone, upload);
        Some(upload.arrived.bytes)
    }

    /// Records that a phone's data is there.
    fn complete(&self, phone: u32, upload: &mut Upload) {
        if !std::mem::replace(&mut upload.is_complete, true) {
            let bytes = upload.arrived.bytes;
            let intact = self.plan.expected.matches(&upload.arrived);
            self.log.record(now(), Event::Transferred { phone, bytes, intact });
        }
    }
}

impl Receiving {
    /// Takes in data until there is something to report.
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
}

impl Receiving {
    /// If the phone still sends over the connection on which it was disturbed, it has kept it.
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
    Error::Body { reason: "the phone goes on over another connection".to_owned() }
}
