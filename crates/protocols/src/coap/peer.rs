//! The server's side of one peer: its unfinished requests.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::{Rc, Weak};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use coap_lite::{MessageType, Packet};
use trackbed_connection::{Priority, Request, Response, Result, Service, body};
use trackbed_core::Time;
use trackbed_substrate::{Standing, Task, now, spawn};

use super::block::{Block, BlockSize, Pieces};
use super::codes::{
    self, BAD_OPTION, BAD_REQUEST, CONTINUE, GET, INCOMPLETE, METHOD_NOT_ALLOWED, POST, PROXYING,
    PUT, SERVER_ERROR, TOO_LARGE, UNAVAILABLE,
};
use super::driver::Party;
use super::messages::{Heard, Messages};
use super::options::{self, BLOCK1, BLOCK2, ETAG, EXACT_STATUS, REQUEST_TAG};
use super::recent::EXCHANGE_LIFETIME;
use super::uploads::Arriving;
use crate::framing::final_status;
use crate::nursery::Nursery;
use crate::pieces::Budget;

/// What a server's peers have in common.
pub(super) struct Common {
    pub(super) service: Rc<dyn Service>,
    pub(super) block_size: BlockSize,
    pub(super) budget: Budget,
    /// How long a peer may be silent before it is forgotten.
    pub(super) idle_max: Duration,
}

pub(super) struct Peer {
    this: Weak<RefCell<Peer>>,
    common: Rc<Common>,
    messages: Messages,
    /// The largest block that fits into a datagram with the head of a response.
    block_size: BlockSize,
    /// Confirmable requests that are neither answered nor acknowledged, and when the latter is due.
    unanswered: BTreeSet<u16>,
    acknowledgements: VecDeque<(Time, u16)>,
    /// Calls of the service, and blocks that are being produced.
    running: Nursery,
    running_count: usize,
    uploads: VecDeque<Transfer<Upload>>,
    downloads: VecDeque<Transfer<Download>>,
    next_etag: u32,
    /// When its last datagram arrived, which the server reads.
    standing: Standing,
    is_over: bool,
    pub(super) driver: Option<Waker>,
}

/// A body in blocks that is not over.
struct Transfer<T> {
    key: Key,
    touched: Time,
    body: T,
}

/// What the requests for the blocks of one body have in common (RFC 9175 section 3.3).
#[derive(Clone, PartialEq, Eq)]
struct Key {
    path: String,
    tag: Vec<u8>,
}

struct Upload {
    received: u64,
    arriving: Arriving,
    response: Task<Response>,
}

struct Download {
    /// `None` while a block is being produced.
    pieces: Option<Pieces>,
    offset: u64,
    etag: u32,
    /// The previous block, in case it is requested again.
    last: (Block, Bytes),
}

/// The destination of a response, and its request.
#[derive(Clone)]
struct ReplyTo {
    id: u16,
    token: Vec<u8>,
    is_confirmable: bool,
    /// The block of the request's body that it confirms.
    block1: Option<Block>,
    has_body: bool,
    /// The size of block that the client wants in the response.
    size: BlockSize,
}

impl Peer {
    pub(super) fn new(
        common: Rc<Common>,
        messages: Messages,
        room: usize,
        standing: Standing,
    ) -> Rc<RefCell<Peer>> {
        let within = BlockSize::within(room.saturating_sub(HEAD_LEN_MAX));
        Rc::new_cyclic(|this| {
            RefCell::new(Peer {
                this: this.clone(),
                block_size: within.map_or(common.block_size, |size| size.min(common.block_size)),
                common,
                messages,
                unanswered: BTreeSet::new(),
                acknowledgements: VecDeque::new(),
                running: Nursery::default(),
                running_count: 0,
                uploads: VecDeque::new(),
                downloads: VecDeque::new(),
                next_etag: 0,
                standing,
                is_over: false,
                driver: None,
            })
        })
    }

    fn request(&mut self, packet: Packet, now: Time) {
        let id = packet.header.message_id;
        let is_confirmable = packet.header.get_type() == MessageType::Confirmable;
        if is_confirmable {
            self.unanswered.insert(id);
            self.acknowledgements.push_back((now + PIGGYBACK_MAX, id));
        }
        let code: u8 = packet.header.code.into();
        let token = packet.get_token().to_vec();
        let [block1, block2] =
            [BLOCK1, BLOCK2].map(|number| options::first(&packet, number).map(Block::decode));
        let size = block2.flatten().map_or(BlockSize::MAX, |block| block.size);
        let reply_to = ReplyTo {
            id,
            token,
            is_confirmable,
            block1: None,
            has_body: code != GET,
            size: size.min(self.block_size),
        };
        if let Some((number, is_proxy)) = options::not_understood(&packet) {
            if !is_confirmable {
                // RFC 7252 section 5.4.1: it is rejected, which may be done silently.
                self.messages.refused += 1;
                return;
            }
            let code = if is_proxy { PROXYING } else { BAD_OPTION };
            return self.refuse(&reply_to, code, &format!("option {number} is not known"));
        }
        if ![GET, POST, PUT].contains(&code) {
            return self.refuse(&reply_to, METHOD_NOT_ALLOWED, "GET, POST and PUT are known");
        }
        let Some((path, priority)) = options::path(&packet) else {
            return self.refuse(&reply_to, BAD_REQUEST, "the path is too long");
        };
        let tag = options::first(&packet, REQUEST_TAG).map(<[u8]>::to_vec).unwrap_or_default();
        let key = Key { path, tag };
        let payload = Bytes::from(packet.payload);
        match (block1, block2) {
            (Some(None), _) | (_, Some(None)) => {
                self.refuse(&reply_to, BAD_OPTION, "a block option is malformed");
            }
            (Some(Some(block)), _) => {
                self.take_block(reply_to, key, priority, block, payload);
            }
            (None, Some(Some(block))) if block.number > 0 => {
                self.give_block(reply_to, key, block, now);
            }
            (None, _) => {
                let request =
                    Request { priority, ..Request::new(key.path.clone(), body::full(payload)) };
                let response = self.common.service.call(request);
                self.respond(reply_to, key, response);
            }
        }
    }

    /// Answers as soon as the service has a response.
    fn respond(
        &mut self,
        reply_to: ReplyTo,
        key: Key,
        response: impl Future<Output = Response> + 'static,
    ) {
        self.run(&reply_to.clone(), async move |peer| {
            answer(&peer, reply_to, key, response.await).await;
        });
    }

    /// Runs a task, unless too many run already.
    fn run<F: Future<Output = ()> + 'static>(
        &mut self,
        reply_to: &ReplyTo,
        what: impl FnOnce(Weak<RefCell<Peer>>) -> F,
    ) {
        if self.running_count >= RUNNING_MAX {
            return self.refuse(reply_to, UNAVAILABLE, "too many requests at once");
        }
        self.running_count += 1;
        let work = what(self.this.clone());
        let this = self.this.clone();
        self.running.spawn(async move {
            work.await;
            if let Some(peer) = this.upgrade() {
                peer.borrow_mut().running_count -= 1;
            }
        });
    }

    /// Takes a block of a request's body (RFC 7959 section 2.5).
    fn take_block(
        &mut self,
        mut reply_to: ReplyTo,
        key: Key,
        priority: Option<Priority>,
        block: Block,
        payload: Bytes,
    ) {
        // From now on the client must send blocks that fit here.
        let size = block.size.min(self.block_size);
        reply_to.block1 = Some(Block { size, ..block });
        if block.more && payload.len() != block.size.bytes() {
            return self.refuse(&reply_to, BAD_REQUEST, "a block has not the length that it says");
        }
        let found = self.uploads.iter().position(|upload| upload.key == key);
        let mut upload = found.and_then(|at| self.uploads.remove(at));
        if block.number == 0 {
            drop(upload.take());
            let (arriving, body) = Arriving::new(&self.common.budget);
            let request = Request { priority, ..Request::new(key.path.clone(), body) };
            let response = spawn(self.common.service.call(request));
            upload = Some(Transfer {
                key: key.clone(),
                touched: now(),
                body: Upload { received: 0, arriving, response },
            });
        }
        let Some(mut upload) = upload else {
            return self.refuse(&reply_to, INCOMPLETE, "the blocks before are not here");
        };
        let before = upload.body.received;
        let is_repeated = block.offset() + payload.len() as u64 == before && block.more;
        if block.offset() != before && !is_repeated {
            return self.refuse(&reply_to, INCOMPLETE, "the blocks before are not here");
        }
        if !is_repeated {
            upload.body.received += payload.len() as u64;
            if !upload.body.arriving.put(payload) {
                return self.refuse(&reply_to, TOO_LARGE, "the body is too large");
            }
        }
        if !block.more {
            let Upload { arriving, response, .. } = upload.body;
            arriving.finish();
            return self.respond(reply_to, key, response);
        }
        upload.touched = now();
        self.uploads.push_back(upload);
        if self.uploads.len() > UPLOADS_MAX {
            self.uploads.pop_front();
        }
        self.reply(&reply_to, CONTINUE, Packet::new());
    }

    /// Gives a later block of a response (RFC 7959 section 2.4).
    fn give_block(&mut self, reply_to: ReplyTo, key: Key, block: Block, now: Time) {
        let gone = "the response is not here any more: ask for it from its first block";
        let Some(found) = self.downloads.iter_mut().find(|download| download.key == key) else {
            return self.refuse(&reply_to, INCOMPLETE, gone);
        };
        found.touched = now;
        let Download { pieces, offset, etag, last } = &mut found.body;
        let (etag, offset) = (*etag, *offset);
        let (last_block, last_piece) = last;
        if block.offset() == last_block.offset() && reply_to.size >= last_block.size {
            let packet = block_packet(*last_block, last_piece.clone(), etag);
            return self.reply(&reply_to, success(&reply_to), packet);
        }
        let Some(mut pieces) = pieces.take_if(|_| block.offset() == offset) else {
            return self.refuse(&reply_to, INCOMPLETE, gone);
        };
        self.run(&reply_to.clone(), async move |peer| {
            let piece = pieces.next(reply_to.size.bytes()).await;
            let Some(peer) = peer.upgrade() else { return };
            let mut peer = peer.borrow_mut();
            peer.produced(
                &reply_to,
                &key,
                piece,
                Download { pieces: Some(pieces), offset, etag, last: (block, Bytes::new()) },
            );
        });
    }

    /// Sends a block that was produced, and keeps the rest of the body.
    fn produced(
        &mut self,
        reply_to: &ReplyTo,
        key: &Key,
        piece: Result<(Bytes, bool)>,
        mut download: Download,
    ) {
        let found = self.downloads.iter().position(|download| download.key == *key);
        let is_same = |at: &usize| self.downloads[*at].body.etag == download.etag;
        if let Some(at) = found.filter(is_same) {
            self.downloads.remove(at);
        }
        let at = download.offset;
        let (piece, block) = match piece {
            Err(_) => return self.refuse(reply_to, SERVER_ERROR, "the response has broken off"),
            Ok((piece, more)) => (piece, Block::at(at, more, reply_to.size)),
        };
        let Some(block) = block else {
            return self.refuse(reply_to, SERVER_ERROR, "the response has too many blocks");
        };
        let packet = block_packet(block, piece.clone(), download.etag);
        if block.more {
            download.offset += piece.len() as u64;
            download.last = (block, piece);
            self.keep(key.clone(), download);
        }
        self.reply(reply_to, success(reply_to), packet);
    }

    fn keep(&mut self, key: Key, download: Download) {
        self.downloads.retain(|other| other.key != key);
        self.downloads.push_back(Transfer { key, touched: now(), body: download });
        if self.downloads.len() > DOWNLOADS_MAX {
            self.downloads.pop_front();
        }
    }

    fn refuse(&mut self, reply_to: &ReplyTo, code: u8, why: &str) {
        let mut packet = Packet::new();
        packet.payload = why.as_bytes().to_vec();
        self.reply(reply_to, code, packet);
    }

    /// Responds in the acknowledgment if none was sent yet, otherwise in a separate message.
    fn reply(&mut self, reply_to: &ReplyTo, code: u8, mut packet: Packet) {
        packet.header.code = code.into();
        packet.set_token(reply_to.token.clone());
        if let Some(block) = reply_to.block1 {
            options::add(&mut packet, BLOCK1, block.encode());
        }
        if self.unanswered.remove(&reply_to.id) {
            self.messages.piggyback(packet, reply_to.id);
        } else {
            self.messages.send(packet, reply_to.is_confirmable, now());
        }
        self.wake();
    }

    fn wake(&mut self) {
        self.driver.take().into_iter().for_each(Waker::wake);
    }
}

/// Sends the first block of a response.
async fn answer(peer: &Weak<RefCell<Peer>>, reply_to: ReplyTo, key: Key, response: Response) {
    let mut pieces = Pieces::of(response.body);
    let piece = pieces.next(reply_to.size.bytes()).await;
    let Some(peer) = peer.upgrade() else { return };
    let mut peer = peer.borrow_mut();
    let Ok((piece, more)) = piece else {
        return peer.refuse(&reply_to, SERVER_ERROR, "there is no response");
    };
    let status = final_status(response.status);
    let code = codes::of_status(status, reply_to.has_body);
    let mut packet = Packet::new();
    if more {
        let etag = peer.next_etag;
        peer.next_etag = etag.wrapping_add(1);
        let block = Block { number: 0, more, size: reply_to.size };
        packet = block_packet(block, piece.clone(), etag);
        let offset = piece.len() as u64;
        let last = (block, piece);
        peer.keep(key, Download { pieces: Some(pieces), offset, etag, last });
    } else {
        packet.payload = piece.into();
    }
    if codes::status(code) != status {
        options::add(&mut packet, EXACT_STATUS, status.to_be_bytes().to_vec());
    }
    peer.reply(&reply_to, code, packet);
}

fn block_packet(block: Block, piece: Bytes, etag: u32) -> Packet {
    let mut packet = Packet::new();
    options::add(&mut packet, ETAG, etag.to_be_bytes().to_vec());
    options::add(&mut packet, BLOCK2, block.encode());
    packet.payload = piece.into();
    packet
}

fn success(reply_to: &ReplyTo) -> u8 {
    codes::of_status(200, reply_to.has_body)
}

impl Party for Peer {
    fn messages(&mut self) -> &mut Messages {
        &mut self.messages
    }

    fn hear(&mut self, datagram: &[u8], now: Time) {
        self.standing.asked();
        match self.messages.hear(datagram, now) {
            Heard::Request(packet) => self.request(packet, now),
            // A server sends no requests.
            Heard::Response(packet) => self.messages.reject(&packet),
            Heard::Nothing | Heard::Acknowledged(_) | Heard::Rejected(_) => {}
        }
    }

    fn advance(&mut self, now: Time) {
        // An unacknowledged response needs no action.
        self.messages.advance(now);
        while let Some(&(due, id)) = self.acknowledgements.front() {
            if due > now && self.unanswered.contains(&id) {
                break;
            }
            self.acknowledgements.pop_front();
            if self.unanswered.remove(&id) {
                self.messages.acknowledge(id);
            }
        }
        let is_alive = |touched: Time| now < touched + EXCHANGE_LIFETIME;
        self.uploads.retain(|upload| is_alive(upload.touched));
        self.downloads.retain(|download| is_alive(download.touched));
        if self.running_count == 0 && now >= self.standing.last() + self.common.idle_max {
            self.is_over = true;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        let acknowledgement = self.acknowledgements.front().map(|&(due, _)| due);
        let uploads = self.uploads.iter().map(|upload| upload.touched + EXCHANGE_LIFETIME);
        let downloads = self.downloads.iter().map(|download| download.touched + EXCHANGE_LIFETIME);
        let idle = (self.running_count == 0).then(|| self.standing.last() + self.common.idle_max);
        let all = [self.messages.next_timeout(), acknowledgement, idle];
        all.into_iter().flatten().chain(uploads).chain(downloads).min()
    }

    fn lose(&mut self, _reason: &std::io::Error) {
        self.is_over = true;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// How long the acknowledgment of a request waits for its response, to carry it (RFC 7252 section
/// 5.2.1). It is far below the minimum time before a retransmitted request.
const PIGGYBACK_MAX: Duration = Duration::from_millis(100);

/// The limits on the work and state of one peer.
const RUNNING_MAX: usize = 64;
const UPLOADS_MAX: usize = 64;
const DOWNLOADS_MAX: usize = 64;

/// The header, the longest token, two block options, an entity tag, a status, and the marker before
/// the payload.
const HEAD_LEN_MAX: usize = 4 + 8 + 2 * 5 + 6 + 6 + 1;
