//! A server's socket, shared by all peers.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use trackbed_substrate::yield_now;

use super::{Channel, Route, Socket};

/// The peers of a server, by their addresses and ports and the address that they know of it.
#[derive(Clone, Debug)]
pub(crate) struct Peers(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    socket: Socket,
    known: RefCell<BTreeMap<Route, Rc<Inbox>>>,
}

#[derive(Debug, Default)]
struct Inbox {
    datagrams: RefCell<VecDeque<Bytes>>,
    reader: RefCell<Option<Waker>>,
}

impl Peers {
    pub(crate) fn new(socket: Socket) -> Peers {
        Peers(Rc::new(Shared { socket, known: RefCell::default() }))
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.0.socket.local_addr()
    }

    /// Passes datagrams of known peers to their channels, and returns datagrams of unknown senders.
    pub(crate) async fn unknown(&self) -> io::Result<(Route, Bytes)> {
        loop {
            for _ in 0..TURN {
                let (route, datagram) = poll_fn(|cx| self.0.socket.poll_recv(cx)).await?;
                match self.0.known.borrow().get(&route) {
                    Some(inbox) => inbox.put(datagram),
                    None => return Ok((route, datagram)),
                }
            }
            yield_now().await;
        }
    }

    /// A channel to a peer, which is known until the channel is dropped. The datagram `said` is its
    /// first one.
    pub(crate) fn admit(&self, peer: Route, said: Option<Bytes>) -> Rc<PeerChannel> {
        let inbox = Rc::new(Inbox::default());
        said.into_iter().for_each(|datagram| inbox.put(datagram));
        self.0.known.borrow_mut().insert(peer, Rc::clone(&inbox));
        Rc::new(PeerChannel { shared: Rc::clone(&self.0), peer, inbox })
    }

    /// Sends a datagram to a peer without a channel; it is lost if the host has no room for it.
    pub(crate) fn answer(&self, peer: Route, datagram: &[u8]) {
        let mut cx = Context::from_waker(Waker::noop());
        let _lost = self.0.socket.poll_send(&mut cx, peer, datagram);
    }

    pub(crate) fn room(&self) -> usize {
        self.0.socket.room
    }
}

impl Inbox {
    fn put(&self, datagram: Bytes) {
        let mut datagrams = self.datagrams.borrow_mut();
        if datagrams.len() < INBOX_MAX {
            datagrams.push_back(datagram);
        }
        self.reader.take().into_iter().for_each(Waker::wake);
    }
}

#[derive(Debug)]
pub(crate) struct PeerChannel {
    shared: Rc<Shared>,
    peer: Route,
    inbox: Rc<Inbox>,
}

impl Channel for PeerChannel {
    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        match self.inbox.datagrams.borrow_mut().pop_front() {
            Some(datagram) => Poll::Ready(Ok(datagram)),
            None => {
                self.inbox.reader.replace(Some(cx.waker().clone()));
                Poll::Pending
            }
        }
    }

    fn poll_send(&self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>> {
        self.shared.socket.poll_send(cx, self.peer, datagram)
    }

    fn room(&self) -> usize {
        self.shared.socket.room
    }
}

impl Drop for PeerChannel {
    fn drop(&mut self) {
        let mut known = self.shared.known.borrow_mut();
        // The peer may have a new channel already.
        if known.get(&self.peer).is_some_and(|inbox| Rc::ptr_eq(inbox, &self.inbox)) {
            known.remove(&self.peer);
        }
    }
}

/// How many datagrams wait for a peer's task at most; more are lost.
const INBOX_MAX: usize = 4_096;

/// How many datagrams are passed on before other tasks get a turn.
const TURN: usize = 256;
