//! The receiver: one connection at a time, and one piece of media at a time over it.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use futures_util::StreamExt as _;
use trackbed_connection::{Error, Request, body};
use trackbed_core::Time;
use trackbed_substrate::{Task, now, sleep_until, spawn_named};

use crate::phone::{Line, Phone};

/// Fetches pieces. What it has begun goes on only while [`Receiver::next`] is awaited.
pub(super) struct Receiver {
    phone: Rc<Phone>,
    /// Whether exchanges share a connection. Where they do not, a response that nobody wants any
    /// more is still in the way of the next one.
    multiplexed: bool,
    link: Link,
    fetch: Option<Fetch>,
    /// When a byte last came, or something was begun.
    progress: Rc<Cell<Time>>,
    /// What is in the way: at most one response.
    in_the_way: Option<Task<()>>,
    /// Connections that are being closed.
    closing: Vec<Task<()>>,
}

/// The connection.
enum Link {
    Down,
    Opening(LocalBoxFuture<'static, Result<Rc<Line>, Error>>),
    Open(Rc<Line>),
}

/// A piece that was asked for.
struct Fetch {
    path: String,
    /// `None` until there is a connection.
    arriving: Option<LocalBoxFuture<'static, Result<u64, Failure>>>,
}

/// What a receiver has to tell.
pub(super) enum Happening {
    /// The piece that was asked for is there; so many bytes.
    Loaded(u64),
    /// The connection, or the piece, cannot be had.
    Failed(Failure),
    /// The time has come that was waited for.
    Due,
}

/// Why something cannot be had.
#[derive(Debug)]
pub(super) struct Failure {
    /// In words.
    pub reason: String,
    /// Whether a new connection may help.
    pub is_retryable: bool,
}

impl Receiver {
    pub fn new(phone: Rc<Phone>, multiplexed: bool) -> Receiver {
        Receiver {
            phone,
            multiplexed,
            link: Link::Down,
            fetch: None,
            progress: Rc::new(Cell::new(now())),
            in_the_way: None,
            closing: Vec::new(),
        }
    }

    /// Opens a connection, in place of the one there is. A piece that was under way is no longer
    /// fetched.
    pub fn connect(&mut self) {
        self.drop_connection();
        self.link = Link::Opening(Rc::clone(&self.phone).open());
        self.progress.set(now());
    }

    /// Asks for a piece, as soon as there is a connection.
    pub fn request(&mut self, path: String) {
        self.fetch = Some(Fetch { path, arriving: None });
        self.progress.set(now());
        self.begin();
    }

    /// Leaves the piece that was asked for. Where exchanges share the connection, its sender is
    /// told to stop; where they do not, it is received to its end all the same, before the next.
    pub fn abandon(&mut self) {
        let arriving = self.fetch.take().and_then(|fetch| fetch.arriving);
        let Some(arriving) = arriving.filter(|_| !self.multiplexed) else { return };
        // If something is still in the way, this request has not been sent yet.
        if self.in_the_way.as_ref().is_none_or(Task::is_finished) {
            let rest = async move { drop(arriving.await) };
            self.in_the_way = Some(spawn_named("an unwanted piece", rest));
        }
    }

    /// Whether a piece is asked for.
    pub fn is_fetching(&self) -> bool {
        self.fetch.is_some()
    }

    /// Since when nothing has moved; `None` if nothing should.
    pub fn silent_since(&self) -> Option<Time> {
        let is_busy = self.fetch.is_some() || matches!(self.link, Link::Opening(_));
        is_busy.then(|| self.progress.get())
    }

    /// The smoothed round-trip time of the connection.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        match &self.link {
            Link::Open(line) => line.smoothed_rtt(),
            Link::Down | Link::Opening(_) => None,
        }
    }

    /// Whether the connection outlives the move of its phone.
    pub fn follows_phone(&self) -> bool {
        matches!(&self.link, Link::Open(line) if line.follows_its_phone())
    }

    /// Goes on until there is something to tell, at `until` at the latest.
    pub async fn next(&mut self, until: Time) -> Happening {
        let mut timer = pin!(sleep_until(until));
        poll_fn(|cx| {
            if let Link::Opening(opening) = &mut self.link
                && let Poll::Ready(opened) = opening.as_mut().poll(cx)
            {
                match opened {
                    Ok(line) => self.link = Link::Open(line),
                    Err(why) => {
                        self.link = Link::Down;
                        return Poll::Ready(Happening::Failed(why.into()));
                    }
                }
                self.progress.set(now());
                self.begin();
            }
            let arriving = self.fetch.as_mut().and_then(|fetch| fetch.arriving.as_mut());
            if let Some(arriving) = arriving
                && let Poll::Ready(outcome) = arriving.as_mut().poll(cx)
            {
                self.fetch = None;
                return Poll::Ready(outcome.map_or_else(Happening::Failed, Happening::Loaded));
            }
            timer.as_mut().poll(cx).map(|()| Happening::Due)
        })
        .await
    }

    /// Closes the connection; the tasks end when all that were ever opened are closed.
    pub fn close(mut self) -> Vec<Task<()>> {
        self.drop_connection();
        self.closing
    }

    /// Begins what waits for a connection.
    fn begin(&mut self) {
        if let (Link::Open(line), Some(fetch)) = (&self.link, &mut self.fetch) {
            let (line, progress) = (Rc::clone(line), Rc::clone(&self.progress));
            fetch.arriving = Some(Box::pin(download(line, fetch.path.clone(), progress)));
        }
    }

    fn drop_connection(&mut self) {
        let unfinished = (self.fetch.take(), self.in_the_way.take());
        if let Link::Open(line) = std::mem::replace(&mut self.link, Link::Down) {
            let close = async move {
                // What is under way must not look finished: a connection that closes in order would
                // wait for it.
                line.close().await;
                drop(unfinished);
            };
            self.closing.push(spawn_named("closing", close));
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { reason: error.to_string(), is_retryable: error.is_retryable() }
    }
}

/// Fetches a piece and returns its length.
async fn download(line: Rc<Line>, path: String, progress: Rc<Cell<Time>>) -> Result<u64, Failure> {
    let mut response = line.exchange(Request::new(path, body::empty())).await?;
    if response.status != 200 {
        let reason = format!("the server answered with status {}", response.status);
        return Err(Failure { reason, is_retryable: false });
    }
    let mut bytes = 0;
    while let Some(piece) = response.body.next().await.transpose()? {
        progress.set(now());
        bytes += piece.len() as u64;
    }
    Ok(bytes)
}
