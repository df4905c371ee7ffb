//! A TCP connection that records its last progress, with its observers.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use trackbed_connection::TransportStats;
use trackbed_core::Time;
use trackbed_substrate::{TcpStream, now};

use crate::config::TransportParameters;
use crate::ledger::{Account, Accounted, Ledger};
use crate::observer::{Observer, Side, TcpTrace};

impl Account for Box<dyn TcpStream> {
    fn account(&self) -> TransportStats {
        self.info().into()
    }
}

/// The ledger and the observer of the connections of one end.
pub(super) struct Watch {
    side: Side,
    ledger: Option<Ledger>,
    observer: Option<Arc<dyn Observer>>,
}

impl Watch {
    pub(super) fn new(side: Side, transport: &TransportParameters) -> Watch {
        let TransportParameters { ledger, observer, .. } = transport;
        Watch { side, ledger: ledger.clone(), observer: observer.clone() }
    }

    /// Begins with a connection that has just been established.
    pub(super) fn over(&self, tcp: Box<dyn TcpStream>) -> Watched {
        let began = now();
        Watched {
            tcp: Accounted::new(tcp, self.ledger.as_ref()),
            progress: Rc::new(Cell::new(began)),
            began,
            first_heard: None,
            stuck_since: None,
            trace: self.observer.as_ref().and_then(|observer| observer.tcp(self.side)),
        }
    }
}

/// The TCP connection below everything else.
pub(super) struct Watched {
    tcp: Accounted<Box<dyn TcpStream>>,
    /// When it last took or gave bytes.
    pub(super) progress: Rc<Cell<Time>>,
    pub(super) began: Time,
    /// When the first byte came, if one has.
    pub(super) first_heard: Option<Time>,
    /// Since when the peer has taken no byte of what waits for it.
    pub(super) stuck_since: Option<Time>,
    trace: Option<TcpTrace>,
}

impl Watched {
    pub(super) fn tcp(&self) -> &dyn TcpStream {
        &*self.tcp.connection
    }

    fn moved(&mut self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(1..)) = result {
            self.progress.set(now());
            if let Some(trace) = &mut self.trace {
                trace(now(), &*self.tcp.connection);
            }
        }
        result
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tcp.connection).poll_read(cx, buffer);
        if self.first_heard.is_none() && matches!(result, Poll::Ready(Ok(1..))) {
            self.first_heard = Some(now());
        }
        self.moved(result)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tcp.connection).poll_write(cx, bytes);
        self.stuck_since = match result {
            Poll::Pending => self.stuck_since.or_else(|| Some(now())),
            Poll::Ready(_) => None,
        };
        self.moved(result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp.connection).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp.connection).poll_close(cx)
    }
}
