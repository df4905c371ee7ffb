//! A phone uploads its data.

use bytes::{Buf as _, BytesMut};
use futures_util::{StreamExt as _, stream};
use trackbed_connection::{Body, Request, body};

use super::service::{CONFLICT, Target};
use super::transfer::{Session, Transfer};
use crate::data::pieces;
use crate::phone::{Failure, Line, check_status};

impl Transfer {
    /// Sends over `line` what the server does not have yet.
    pub(super) async fn upload(&self, line: &Line, resumes: bool) -> Result<Session, Failure> {
        if self.plan.disturbances.is_empty() {
            return self.upload_at_once(line).await;
        }
        let phone = self.phone.number;
        let from = if resumes { self.ask(line).await? } else { 0 };
        self.there.set(from);
        if resumes && from == self.plan.bytes {
            return Ok(Session::Complete);
        }
        let path = Target::Rest { phone, from }.path();
        let response = line.exchange(Request::new(path, self.data(from))).await?;
        if response.status == CONFLICT {
            let reason = "data of a lost connection arrived meanwhile".to_owned();
            return Err(Failure { reason, is_retryable: true });
        }
        check_status(response.status)?;
        let mut reports = Counts(response.body, BytesMut::new());
        while let Some(count) = reports.next().await? {
            self.note();
            self.there.set(count);
            while let Some((point, disturbance)) = self.next_disturbance()
                && point <= count
            {
                if !self.disturb(line, disturbance)? {
                    return Ok(Session::Disturbed);
                }
            }
        }
        match self.there.get() {
            all if all == self.plan.bytes => Ok(Session::Complete),
            part => Err(Failure::lasting(format!("the server received only {part} bytes"))),
        }
    }

    async fn upload_at_once(&self, line: &Line) -> Result<Session, Failure> {
        let path = Target::Upload(self.phone.number).path();
        let response = line.exchange(Request::new(path, self.data(0))).await?;
        check_status(response.status)?;
        body::drain(response.body).await?;
        Ok(Session::Complete)
    }

    async fn ask(&self, line: &Line) -> Result<u64, Failure> {
        let path = Target::Have(self.phone.number).path();
        let response = line.exchange(Request::new(path, body::empty())).await?;
        check_status(response.status)?;
        Counts(response.body, BytesMut::new()).next().await?.ok_or_else(|| {
            Failure::lasting("the server did not report how many bytes it has".to_owned())
        })
    }

    fn data(&self, from: u64) -> Body {
        let note = self.notes();
        Box::pin(stream::iter(pieces(from, self.plan.bytes).map(move |piece| {
            note();
            Ok(piece)
        })))
    }
}

/// The counts in a body, of 8 bytes each, and the incomplete next one.
struct Counts(Body, BytesMut);

impl Counts {
    async fn next(&mut self) -> Result<Option<u64>, Failure> {
        loop {
            if let Ok(count) = self.1.try_get_u64() {
                return Ok(Some(count));
            }
            match self.0.next().await.transpose()? {
                Some(piece) => self.1.extend_from_slice(&piece),
                None => return Ok(None),
            }
        }
    }
}
