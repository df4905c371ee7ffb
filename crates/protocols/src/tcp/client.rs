//! The client's side of a connection: a task that carries out one exchange after the other.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures_channel::{mpsc, oneshot};
use futures_core::future::LocalBoxFuture;
use futures_util::StreamExt as _;
use futures_util::future::try_join;
use trackbed_connection::body::pipe;
use trackbed_connection::error::{Result, Step};
use trackbed_connection::{Connection, Error, Request, Response, Security, TransportStats};
use trackbed_substrate::spawn;

use super::stream::{StreamInput, StreamOutput};
use crate::framing::{Delimiter, Reader, check_path, request_head, send_message};
use crate::tcp_transport::Stream;

/// An open connection. Its task ends when the last handle and the last body are gone.
pub(super) struct FramedConnection {
    protocol: &'static str,
    stream: Stream,
    /// Where exchanges wait for their turn; `None` after the connection was closed.
    queue: RefCell<Option<mpsc::UnboundedSender<Job>>>,
    /// Whether an exchange is under way.
    busy: Rc<Cell<bool>>,
    closed: Cell<Option<oneshot::Receiver<()>>>,
}

struct Job {
    request: Request,
    answer: oneshot::Sender<Result<Response>>,
}

impl FramedConnection {
    pub(super) fn new(
        protocol: &'static str,
        stream: Stream,
        idle_timeout: Duration,
    ) -> FramedConnection {
        let (queue, jobs) = mpsc::unbounded();
        let (done, closed) = oneshot::channel();
        let busy = Rc::new(Cell::new(false));
        let worker = Worker {
            protocol,
            reader: Reader::new(protocol, StreamInput::new(protocol, stream.clone())),
            output: StreamOutput::new(protocol, stream.clone()),
            stream: stream.clone(),
            busy: Rc::clone(&busy),
            idle_timeout,
        };
        let work = async move {
            worker.run(jobs).await;
            let _unless_nobody_waits = done.send(());
        };
        spawn(work).detach();
        let queue = RefCell::new(Some(queue));
        FramedConnection { protocol, stream, queue, busy, closed: Cell::new(Some(closed)) }
    }

    fn is_closed(&self) -> Error {
        Error::transient(self.protocol, Step::Send, "the connection is closed")
    }
}

impl Connection for FramedConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            check_path(self.protocol, &request.path)?;
            let (answer, answered) = oneshot::channel();
            let queue = self.queue.borrow().clone().ok_or_else(|| self.is_closed())?;
            queue.unbounded_send(Job { request, answer }).map_err(|_| self.is_closed())?;
            drop(queue);
            answered.await.unwrap_or_else(|_| Err(self.is_closed()))
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            self.queue.take();
            if self.busy.get() {
                return self.stream.abort();
            }
            if let Some(closed) = self.closed.take() {
                let _either_way = closed.await;
            }
        })
    }

    fn security(&self) -> Option<Security> {
        self.stream.security()
    }

    fn transport(&self) -> TransportStats {
        self.stream.stats()
    }
}

/// Both halves of the stream, in the task that alone uses them.
struct Worker {
    protocol: &'static str,
    reader: Reader<StreamInput>,
    output: StreamOutput,
    stream: Stream,
    busy: Rc<Cell<bool>>,
    idle_timeout: Duration,
}

impl Worker {
    /// Carries out exchanges until the queue closes, then closes the stream. The first failure
    /// resets it, because where the next message begins is then unknown.
    async fn run(mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        while let Some(job) = jobs.next().await {
            if job.answer.is_canceled() {
                continue;
            }
            self.busy.set(true);
            if !self.exchange(job).await {
                return self.stream.abort();
            }
            self.busy.set(false);
        }
        // The last bytes are lost if the server is gone.
        let _gone = self.stream.close().await;
    }

    /// Whether the connection can be used for another exchange.
    async fn exchange(&mut self, job: Job) -> bool {
        let head = request_head(&job.request.path, job.request.priority);
        let send = send_message(&mut self.output, Delimiter::EmptyChunk, head, job.request.body);
        let mut receiver = Receiver {
            protocol: self.protocol,
            reader: &mut self.reader,
            stream: &self.stream,
            idle_timeout: self.idle_timeout,
        };
        let (mut sender, body) = pipe();
        let mut answer = Some(job.answer);
        let receive = async {
            let status = receiver.status().await?;
            let response = Response { status, body };
            if answer.take().is_none_or(|answer| answer.send(Ok(response)).is_err()) {
                return Err(receiver.unwanted());
            }
            let mut left = 0;
            while let Some(piece) = receiver.piece(&mut left).await? {
                if !sender.send(piece).await {
                    return Err(receiver.unwanted());
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

/// Waits for the server, up to the idle timeout.
struct Receiver<'a> {
    protocol: &'static str,
    reader: &'a mut Reader<StreamInput>,
    stream: &'a Stream,
    idle_timeout: Duration,
}

impl Receiver<'_> {
    async fn status(&mut self) -> Result<u16> {
        let mut watchdog = self.stream.progress().watchdog(self.idle_timeout);
        let status = watchdog.guard(self.reader.response()).await;
        status.unwrap_or_else(|| Err(self.silent()))
    }

    async fn piece(&mut self, left: &mut usize) -> Result<Option<bytes::Bytes>> {
        let mut watchdog = self.stream.progress().watchdog(self.idle_timeout);
        let piece = watchdog.guard(self.reader.chunked_piece(left)).await;
        piece.unwrap_or_else(|| Err(self.silent()))
    }

    fn silent(&self) -> Error {
        Error::idle(self.protocol, Step::Receive, self.idle_timeout)
    }

    fn unwanted(&self) -> Error {
        Error::transient(self.protocol, Step::Receive, "the response was cancelled")
    }
}
