//! A client's open connection.

use std::cell::Cell;

use futures_channel::oneshot;
use trackbed_connection::{Error, Step};
use trackbed_substrate::spawn;

use super::{Patience, Stream, TcpDialer};
use crate::ledger::{Tally, UnderWay};

/// What the exchanges of a connection share.
pub(crate) struct Open {
    pub(crate) stream: Stream,
    /// How long an exchange waits for the server.
    pub(crate) patience: Patience,
    running: Tally,
    ended: Cell<Option<oneshot::Receiver<()>>>,
}

impl Open {
    /// Runs `connection` in a separate task; `running` counts the exchanges. They see how it ends.
    pub(crate) fn new<T>(
        dialer: &TcpDialer,
        stream: Stream,
        running: Tally,
        connection: impl Future<Output = T> + 'static,
    ) -> Open {
        let (end, ended) = oneshot::channel();
        let until_the_end = async move {
            let _seen_by_the_exchanges = connection.await;
            let _unless_unawaited = end.send(());
        };
        spawn(until_the_end).detach();
        let patience = dialer.patience(&stream);
        Open { stream, patience, running, ended: Cell::new(Some(ended)) }
    }

    /// Counts an exchange as under way until the result is dropped.
    pub(crate) fn begin(&self) -> UnderWay {
        self.running.begin()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.running.count() > 0
    }

    /// Whether another exchange may begin, as far as this end knows.
    pub(crate) fn is_open(&self) -> bool {
        let mut ended = self.ended.take();
        let runs = ended.as_mut().is_some_and(|ended| matches!(ended.try_recv(), Ok(None)));
        self.ended.set(ended);
        runs && self.stream.is_open()
    }

    /// The error of an exchange after the connection was closed.
    pub(crate) fn is_closed(&self) -> Error {
        Error::transient(self.patience.protocol, Step::Send, "the connection is closed")
    }

    /// Resets the connection if an exchange is under way; otherwise waits for its end.
    pub(crate) async fn close(&self) {
        if self.is_busy() {
            return self.stream.abort();
        }
        if let Some(ended) = self.ended.take() {
            let _either_way = ended.await;
        }
    }
}
