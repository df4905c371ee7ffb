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

use crate::phone::{Failure, Line, Phone, check_status};

/// Fetches pieces. It makes progress only while [`Receiver::next`] is awaited.
pub(super) struct Receiver {
    phone: Rc<Phone>,
    /// Whether exchanges share a connection. Otherwise an abandoned response delays the next one.
    multiplexed: bool,
    link: Link,
    fetch: Option<Fetch>,
    /// When a byte last arrived, or something was begun.
    progress: Rc<Cell<Time>>,
    /// The abandoned response that delays the next one, if any.
    in_the_way: Option<Task<()>>,
    closing: Vec<Task<()>>,
}

enum Link {
    Down,
    Opening(LocalBoxFuture<'static, Result<Rc<Line>, Error>>),
    Open(Rc<Line>),
}

struct Fetch {
    path: String,
    /// `None` until there is a connection.
    arriving: Option<LocalBoxFuture<'static, Result<u64, Failure>>>,
}

pub(super) enum Happening {
    /// The requested piece has arrived, with this number of bytes.
    Loaded(u64),
    Failed(Failure),
    /// The given time has come.
    Due,
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

    /// Opens a connection that replaces the current one. A piece in progress is no longer fetched.
    pub fn connect(&mut self) {
        self.drop_connection();
        self.link = Link::Opening(Rc::clone(&self.phone).open());
        self.progress.set(now());
    }

    /// Requests a piece, as soon as there is a connection.
    pub fn request(&mut self, path: String) {
        self.fetch = Some(Fetch { path, arriving: None });
        self.progress.set(now());
        self.begin();
    }

    /// Abandons the requested piece. If exchanges share the connection, its sender is told to stop;
    /// otherwise it is still received to its end before the next.
    pub fn abandon(&mut self) {
        let arriving = self.fetch.take().and_then(|fetch| fetch.arriving);
        let Some(arriving) = arriving.filter(|_| !self.multiplexed) else { return };
        // If something is still in the way, this request has not been sent yet.
        if self.in_the_way.as_ref().is_none_or(Task::is_finished) {
            let rest = async move { drop(arriving.await) };
            self.in_the_way = Some(spawn_named("an unwanted piece", rest));
        }
    }

    /// Whether a piece is requested.
    pub fn is_fetching(&self) -> bool {
        self.fetch.is_some()
    }

    /// Since when there has been no progress; `None` if none is expected.
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

    /// Whether the connection survives the move of its phone.
    pub fn follows_phone(&self) -> bool {
        matches!(&self.link, Link::Open(line) if line.follows_its_phone())
    }

    /// Runs until the next event, or `until` at the latest.
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

    /// Closes the connection; the tasks end when all connections that were opened are closed.
    pub fn close(mut self) -> Vec<Task<()>> {
        self.drop_connection();
        self.closing
    }

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
                // If the response in flight looked finished, an orderly close would wait for it.
                line.close().await;
                drop(unfinished);
            };
            self.closing.push(spawn_named("closing", close));
        }
    }
}

/// Fetches a piece and returns its length.
async fn download(line: Rc<Line>, path: String, progress: Rc<Cell<Time>>) -> Result<u64, Failure> {
    let mut response = line.exchange(Request::new(path, body::empty())).await?;
    check_status(response.status)?;
    let mut bytes = 0;
    while let Some(piece) = response.body.next().await.transpose()? {
        progress.set(now());
        bytes += piece.len() as u64;
    }
    Ok(bytes)
}
