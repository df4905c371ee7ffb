//! The client's side of a connection: a task that carries out one exchange after the other.

use std::cell::RefCell;

use futures_channel::{mpsc, oneshot};
use futures_core::future::LocalBoxFuture;
use futures_util::StreamExt as _;
use futures_util::future::try_join;
use trackbed_connection::body::pipe;
use trackbed_connection::{
    Connection, Error, Request, Response, Result, Security, Step, TransportStats,
};

use super::stream::{StreamInput, StreamOutput};
use crate::framing::{Delimiter, Reader, check_path, request_head, send_message};
use crate::ledger::Tally;
use crate::tcp_transport::{Open, Patience, Stream, TcpDialer};

/// An open connection. Its task ends when the last handle and the last body are gone.
pub(super) struct FramedConnection {
    open: Open,
    /// Where exchanges wait for their turn; `None` after the connection was closed.
    queue: RefCell<Option<mpsc::UnboundedSender<Job>>>,
}

struct Job {
    request: Request,
    answer: oneshot::Sender<Result<Response>>,
}

impl FramedConnection {
    pub(super) fn new(dialer: &TcpDialer, stream: Stream) -> FramedConnection {
        let (queue, jobs) = mpsc::unbounded();
        let (protocol, running) = (dialer.protocol, Tally::default());
        let worker = Worker {
            reader: Reader::new(protocol, StreamInput::new(protocol, stream.clone())),
            output: StreamOutput::new(protocol, stream.clone()),
            stream: stream.clone(),
            running: running.clone(),
            patience: dialer.patience(&stream),
        };
        let open = Open::new(dialer, stream, running, worker.run(jobs));
        FramedConnection { open, queue: RefCell::new(Some(queue)) }
    }
}

impl Connection for FramedConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            check_path(self.open.patience.protocol, &request.path)?;
            let (answer, answered) = oneshot::channel();
            let queue = self.queue.borrow().clone().ok_or_else(|| self.open.is_closed())?;
            queue.unbounded_send(Job { request, answer }).map_err(|_| self.open.is_closed())?;
            drop(queue);
            answered.await.unwrap_or_else(|_| Err(self.open.is_closed()))
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            self.queue.take();
            self.open.close().await;
        })
    }

    answers! {
        is_open -> bool: open.is_open;
        security -> Option<Security>: open.stream.security;
        transport -> TransportStats: open.stream.stats;
    }
}

/// Both halves of the stream, in the task that alone uses them.
struct Worker {
    reader: Reader<StreamInput>,
    output: StreamOutput,
    stream: Stream,
    running: Tally,
    patience: Patience,
}

impl Worker {
    /// Carries out exchanges until the queue closes, then closes the stream. The first failure
    /// resets it, because where the next message begins is then unknown.
    async fn run(mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        while let Some(job) = jobs.next().await {
            if job.answer.is_canceled() {
                continue;
            }
            let _running = self.running.begin();
            if !self.exchange(job).await {
                return self.stream.abort();
            }
        }
        // The last bytes are lost if the server is gone.
        let _gone = self.stream.close().await;
    }

    /// Whether the connection can be used for another exchange.
    async fn exchange(&mut self, job: Job) -> bool {
        let head = request_head(&job.request.path, job.request.priority);
        let send = send_message(&mut self.output, Delimiter::EmptyChunk, head, job.request.body);
        let (patience, reader) = (&self.patience, &mut self.reader);
        let unwanted =
            || Error::transient(patience.protocol, Step::Receive, "the response was cancelled");
        let (mut sender, body) = pipe();
        let mut answer = Some(job.answer);
        let receive = async {
            let status = patience.wait(Step::Receive, reader.response()).await??;
            let response = Response { status, body };
            if answer.take().is_none_or(|answer| answer.send(Ok(response)).is_err()) {
                return Err(unwanted());
            }
            let mut left = 0;
            while let Some(piece) =
                patience.wait(Step::Receive, reader.chunked_piece(&mut left)).await??
            {
                if !sender.send(piece).await {
                    return Err(unwanted());
                }
            }
            Ok(())
        };
        let result = try_join(send, receive).await.map(|_| ());
        let usable = result.is_ok();
        match (answer, result) {
            (Some(answer), Err(error)) => drop(answer.send(Err(error))),
            (_, result) => sender.finish(result),
        }
        usable
    }
}
