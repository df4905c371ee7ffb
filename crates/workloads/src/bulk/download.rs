//! A phone downloads its data.

use futures_util::StreamExt as _;
use trackbed_connection::{Request, body};
use trackbed_core::Event;

use super::service::Target;
use super::transfer::{Session, Transfer};
use crate::data::Arrived;
use crate::phone::{Failure, Line, check_status};

impl Transfer {
    /// Downloads over `line` what has not arrived yet.
    pub(super) async fn download(
        &self,
        line: &Line,
        arrived: &mut Arrived,
    ) -> Result<Session, Failure> {
        let bytes = self.plan.bytes;
        let path = Target::Download { bytes, from: arrived.bytes }.path();
        let response = line.exchange(Request::new(path, body::empty())).await?;
        check_status(response.status)?;
        let mut arriving = response.body;
        while let Some(piece) = arriving.next().await.transpose()? {
            self.note_arrival();
            let mut piece = &piece[..];
            while let Some((point, disturbance)) = self.next_disturbance()
                && let Ok(missing) = usize::try_from(point - arrived.bytes)
                && missing <= piece.len()
            {
                // What is beyond the point is left unread: all protocols have the same progress.
                let (read, unread) = piece.split_at(missing);
                arrived.take(read);
                piece = unread;
                if !self.disturb(line, disturbance)? {
                    return Ok(Session::Disturbed);
                }
            }
            arrived.take(piece);
            self.there.set(arrived.bytes);
        }
        self.settle();
        let (phone, bytes) = (self.phone.number, arrived.bytes);
        let intact = arrived.is_all_of(self.plan.bytes);
        self.phone.record(Event::Transferred { phone, bytes, intact });
        Ok(Session::Complete)
    }
}
