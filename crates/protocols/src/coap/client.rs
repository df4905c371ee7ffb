//! The client's side: dialer, connection, exchanges.

use std::cell::RefCell;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use bytes::Bytes;
use coap_lite::Packet;
use futures_core::future::LocalBoxFuture;
use trackbed_connection::{
    Body, Connection, Dialer, Error, Request, Response, Result, Security, Step, TransportStats,
    body,
};
use trackbed_substrate::{Host, spawn};

use super::WHOLE_MAX;
use super::asking::{Asking, Shared, ask};
use super::block::{Block, BlockSize, Pieces};
use super::codes::{self, CONTINUE, GET, POST, TOO_LARGE};
use super::driver::{Driver, Party as _};
use super::messages::Messages;
use super::options::{self, BLOCK1, BLOCK2, ETAG, EXACT_STATUS, Target};
use crate::config::{ClientConfig, TransportParameters, Trust};
use crate::datagrams::{Channel, ClientChannel};
use crate::dtls_transport::DtlsEnd;
use crate::framing::{check_path, final_status};
use crate::ledger::{Account, Accounted};

/// Opens connections, each from a separate port.
pub(super) struct CoapDialer {
    protocol: &'static str,
    host: Arc<dyn Host>,
    local: Option<IpAddr>,
    transport: TransportParameters,
    block_size: BlockSize,
    /// For DTLS: this end's settings, and the server to trust.
    dtls: Option<(DtlsEnd, Trust)>,
}

impl CoapDialer {
    pub(super) fn new(
        protocol: &'static str,
        host: Arc<dyn Host>,
        config: &ClientConfig,
        dtls: Option<(DtlsEnd, Trust)>,
    ) -> Result<CoapDialer> {
        if config.transport.coap.outstanding_max == 0 {
            let advice = "at least one outstanding request must be allowed";
            return Err(Error::unsupported(protocol, advice));
        }
        let block_size = super::block::block_size(protocol, &config.transport)?;
        let (local, transport) = (config.local, config.transport.clone());
        Ok(CoapDialer { protocol, host, local, transport, block_size, dtls })
    }
}

impl Dialer for CoapDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let CoapDialer { protocol, host, local, transport, block_size, dtls } = self;
            let below = ClientChannel::open(protocol, &**host, *local, remote, transport)?;
            let (channel, security): (Rc<dyn Channel>, _) = match dtls {
                None => (below, None),
                Some((end, trust)) => {
                    let channel = end.connect(below, trust).await?;
                    let security = channel.security();
                    (channel, security)
                }
            };
            let messages = Messages::new(&**host)
                .map_err(|reason| Error::lasting(protocol, Step::Connect, reason))?;
            let coap = &transport.coap;
            let asking = Asking::new(
                protocol,
                messages,
                coap.outstanding_max as usize,
                coap.confirmable,
                transport.idle_timeout,
            );
            let room = channel.room();
            let shared = Rc::new(RefCell::new(asking));
            let account = Accounted::new(Rc::clone(&shared), transport.ledger.as_ref());
            spawn(drive(Rc::clone(&shared), channel, account)).detach();
            let (block_size, block_wise) = (*block_size, coap.block_wise);
            let open = Rc::new(Open { protocol, shared, room, block_size, block_wise });
            Ok(Rc::new(CoapConnection { open, security }) as Rc<dyn Connection>)
        })
    }
}

/// Moves datagrams until the connection ends.
async fn drive(shared: Shared, channel: Rc<dyn Channel>, account: Accounted<Shared>) {
    let mut driver = Driver::new(channel);
    poll_fn(|cx| {
        let mut asking = shared.borrow_mut();
        asking.driver = Some(cx.waker().clone());
        driver.poll(&mut *asking, cx)
    })
    .await;
    drop((driver, account));
    let mut asking = shared.borrow_mut();
    asking.is_over = true;
    asking.closing.take().into_iter().for_each(Waker::wake);
}

impl Account for Shared {
    fn account(&self) -> TransportStats {
        self.borrow_mut().messages().stats()
    }
}

struct CoapConnection {
    open: Rc<Open>,
    security: Option<Security>,
}

impl Connection for CoapConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            check_path(self.open.protocol, &request.path)?;
            Exchange::begin(&self.open, &request)?.run(request.body).await
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            self.open.end();
            poll_fn(|cx| {
                let mut asking = self.open.shared.borrow_mut();
                if asking.is_over {
                    return Poll::Ready(());
                }
                asking.closing = Some(cx.waker().clone());
                Poll::Pending
            })
            .await;
        })
    }

    fn is_open(&self) -> bool {
        self.open.shared.borrow().end.is_none()
    }

    fn security(&self) -> Option<Security> {
        self.security
    }

    fn transport(&self) -> TransportStats {
        self.open.shared.account()
    }
}

/// An open connection; it ends when the last handle is dropped.
struct Open {
    protocol: &'static str,
    shared: Shared,
    /// The maximum size of a message.
    room: usize,
    block_size: BlockSize,
    block_wise: bool,
}

impl Open {
    fn end(&self) {
        let error = Error::transient(self.protocol, Step::Send, "the connection is closed");
        self.shared.borrow_mut().fail(error);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.end();
    }
}

/// One exchange: a request and its response, each in as many blocks as it needs.
struct Exchange {
    open: Rc<Open>,
    path: String,
    /// Whether this is the exchange that the connection knows by its path.
    has_path: bool,
    target: Target,
    size: BlockSize,
    code: u8,
}

impl Exchange {
    fn begin(open: &Rc<Open>, request: &Request) -> Result<Exchange> {
        let protocol = open.protocol;
        let target = Target::of(protocol, &request.path, request.priority)?;
        let has_path = open.shared.borrow_mut().paths.insert(request.path.clone());
        let mut exchange = Exchange {
            open: Rc::clone(open),
            path: request.path.clone(),
            has_path,
            target,
            size: open.block_size,
            code: GET,
        };
        // Two simultaneous bodies of one path must be distinguished (RFC 9175 section 3.3).
        if !has_path {
            exchange.target.tag = Some(exchange.draw());
        }
        let len = HEAD_LEN_MAX + exchange.target.len_max();
        let room = open.room.saturating_sub(len);
        let largest = BlockSize::within(room).ok_or_else(|| {
            let advice = format!(
                "the path is too long: with the message header it fills the {} bytes of a \
                 datagram",
                open.room
            );
            Error::unsupported(protocol, advice)
        })?;
        exchange.size = exchange.size.min(largest);
        Ok(exchange)
    }

    fn draw(&self) -> u32 {
        self.open.shared.borrow_mut().messages().draw()
    }

    async fn run(mut self, body: Body) -> Result<Response> {
        let mut pieces = Pieces::of(body);
        let block_wise = self.open.block_wise;
        let most = if block_wise { self.size.bytes() } else { WHOLE_MAX };
        let (first, more) = pieces.next(most).await?;
        if more && !block_wise {
            let advice = format!(
                "without block-wise transfer a request has at most {WHOLE_MAX} B: send less, or \
                 remove the key block-wise"
            );
            return Err(Error::unsupported(self.open.protocol, advice));
        }
        if !first.is_empty() {
            self.code = POST;
        }
        let response = match more {
            true => self.upload(first, pieces).await?,
            false => {
                let response = ask(&self.open.shared, self.packet(None, first.clone())).await?;
                match self.smaller(&response) {
                    // The server requests smaller blocks (RFC 7959 section 2.9.3).
                    Some(size) if block_wise && first.len() > size.bytes() => {
                        self.size = size;
                        pieces.return_piece(first);
                        let (first, _) = pieces.next(size.bytes()).await?;
                        self.upload(first, pieces).await?
                    }
                    _ => response,
                }
            }
        };
        self.response(response)
    }

    /// Sends the request in blocks (RFC 7959 section 2.5), of which this is the first.
    async fn upload(&mut self, first: Bytes, mut pieces: Pieces) -> Result<Packet> {
        if self.target.tag.is_none() {
            self.target.tag = Some(self.draw());
        }
        let (mut piece, mut more, mut offset) = (first, true, 0);
        loop {
            let block = self.block_at(offset, more)?;
            let packet = self.packet(Some((BLOCK1, block)), piece.clone());
            let response = ask(&self.open.shared, packet).await?;
            let code: u8 = response.header.code.into();
            let said = options::first(&response, BLOCK1).and_then(Block::decode);
            if let Some(size) = self.smaller(&response).filter(|_| offset == 0) {
                self.size = size;
                pieces.return_piece(piece);
                (piece, more) = pieces.next(size.bytes()).await?;
                continue;
            }
            if !more || code != CONTINUE {
                return Ok(response);
            }
            let Some(said) = said.filter(|said| said.offset() == offset) else {
                return Err(self.malformed("the server acknowledged a block that was not sent"));
            };
            offset += piece.len() as u64;
            // From now on the server may request smaller ones (section 2.3).
            self.size = self.size.min(said.size);
            (piece, more) = pieces.next(self.size.bytes()).await?;
        }
    }

    /// The smaller block size that a server requests when it refuses a body.
    fn smaller(&self, response: &Packet) -> Option<BlockSize> {
        let code: u8 = response.header.code.into();
        let said = options::first(response, BLOCK1).and_then(Block::decode);
        said.map(|said| said.size).filter(|size| code == TOO_LARGE && *size < self.size)
    }

    fn block_at(&self, offset: u64, more: bool) -> Result<Block> {
        Block::at(offset, more, self.size).ok_or_else(|| {
            let advice = format!(
                "a body has at most 1,048,576 blocks (RFC 7959 section 2.2), here of {} bytes \
                 each: send less, or use larger blocks",
                self.size.bytes()
            );
            Error::unsupported(self.open.protocol, advice)
        })
    }

    fn packet(&self, block: Option<(u16, Block)>, payload: Bytes) -> Packet {
        let mut packet = Packet::new();
        packet.header.code = self.code.into();
        self.target.add_to(&mut packet);
        if let Some((number, block)) = block {
            options::add(&mut packet, number, block.encode());
        }
        let asks_for_block = block.is_some_and(|(number, _)| number == BLOCK2);
        if !asks_for_block && self.size < BlockSize::MAX {
            // Early negotiation (RFC 7959 section 2.4).
            let wanted = Block { number: 0, more: false, size: self.size };
            options::add(&mut packet, BLOCK2, wanted.encode());
        }
        packet.payload = payload.into();
        packet
    }

    fn response(self, packet: Packet) -> Result<Response> {
        let code: u8 = packet.header.code.into();
        let exact = options::first(&packet, EXACT_STATUS).and_then(|value| match *value {
            [high, low] => Some(u16::from_be_bytes([high, low])),
            _ => None,
        });
        let status = exact.map_or_else(|| codes::status(code), final_status);
        let block = match options::first(&packet, BLOCK2) {
            None => None,
            Some(value) => match Block::decode(value) {
                Some(block) if block.number == 0 => Some(block),
                _ => return Err(self.malformed("the response does not start with its first block")),
            },
        };
        let piece = Bytes::from(packet.payload.clone());
        let Some(block) = block.filter(|block| block.more) else {
            return Ok(Response { status, body: body::full(piece) });
        };
        if piece.len() != block.size.bytes() {
            return Err(self.malformed("a block is shorter than its declared size"));
        }
        let etag = options::first(&packet, ETAG).map(<[u8]>::to_vec);
        let offset = piece.len() as u64;
        let download = Download { exchange: self, size: block.size, etag, offset };
        let state = (Some(piece), Some(download));
        let body = body::unfold(state, async |(first, rest)| {
            if first.is_some() {
                return Ok(first.take());
            }
            let Some(download) = rest.take() else { return Ok(None) };
            let (piece, download) = download.next().await?;
            *rest = download;
            Ok(Some(piece))
        });
        Ok(Response { status, body })
    }

    fn malformed(&self, reason: &str) -> Error {
        Error::malformed(self.open.protocol, Step::Receive, reason)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.has_path {
            self.open.shared.borrow_mut().paths.remove(&self.path);
        }
    }
}

/// The missing blocks of a response (RFC 7959 section 2.4).
struct Download {
    exchange: Exchange,
    size: BlockSize,
    etag: Option<Vec<u8>>,
    offset: u64,
}

impl Download {
    async fn next(mut self) -> Result<(Bytes, Option<Download>)> {
        let Some(wanted) = Block::at(self.offset, false, self.size) else {
            return Err(self
                .exchange
                .malformed("the response has more blocks than block numbers allow"));
        };
        let packet = self.exchange.packet(Some((BLOCK2, wanted)), Bytes::new());
        let response = ask(&self.exchange.open.shared, packet).await?;
        let code: u8 = response.header.code.into();
        if !codes::is_success(code) {
            let reason =
                format!("the server aborted its response with {}.{:02}", code >> 5, code & 31);
            return Err(Error::transient(self.exchange.open.protocol, Step::Receive, reason));
        }
        let said = options::first(&response, BLOCK2).and_then(Block::decode);
        let Some(said) = said.filter(|said| said.offset() == self.offset) else {
            return Err(self
                .exchange
                .malformed("the server sent a different block than requested"));
        };
        if options::first(&response, ETAG) != self.etag.as_deref() {
            let reason = "the response changed between two of its blocks";
            return Err(Error::transient(self.exchange.open.protocol, Step::Receive, reason));
        }
        let piece = Bytes::from(response.payload);
        let is_short = piece.len() < said.size.bytes();
        if said.size > self.size || piece.len() > said.size.bytes() || said.more && is_short {
            return Err(self.exchange.malformed("a block does not have its declared length"));
        }
        self.offset += piece.len() as u64;
        self.size = said.size;
        Ok((piece, said.more.then_some(self)))
    }
}

/// The header, a token of four bytes, two block options, and the marker before the payload.
const HEAD_LEN_MAX: usize = 4 + 4 + 2 * 5 + 1;
