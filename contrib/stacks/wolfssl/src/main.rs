//! CoAP over wolfSSL's DTLS 1.3, for Trackbed: a server that answers every request with 2.04 (RFC 7252), and with
//! `-connect` a client that fetches a path some times.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wolfssl::{
    Context, ContextBuilder, CurveGroup, IOCallbackResult, IOCallbacks, Method, Poll,
    RootCertificate, Secret, Session, SessionConfig, SslVerifyMode,
};

type Failure = Box<dyn Error>;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = words.iter().position(|word| word == name);
        let value = at.and_then(|at| words.get(at + 1)).cloned();
        value.ok_or_else(|| Failure::from(format!("{name} is missing")))
    };
    let done = match option("-connect") {
        Ok(address) => fetch(&address, option),
        Err(_) => serve(option),
    };
    if let Err(why) = done {
        eprintln!("trackbed-wolfssl: {why}");
        std::process::exit(1);
    }
}

/// What connects a session with the socket.
struct Datagrams {
    socket: Rc<UdpSocket>,
    peer: SocketAddr,
    arrived: Rc<RefCell<VecDeque<Vec<u8>>>>,
}

impl IOCallbacks for Datagrams {
    fn recv(&mut self, bytes: &mut [u8]) -> IOCallbackResult<usize> {
        let Some(datagram) = self.arrived.borrow_mut().pop_front() else {
            return IOCallbackResult::WouldBlock;
        };
        let len = datagram.len().min(bytes.len());
        bytes[..len].copy_from_slice(&datagram[..len]);
        IOCallbackResult::Ok(len)
    }

    fn send(&mut self, bytes: &[u8]) -> IOCallbackResult<usize> {
        match self.socket.send_to(bytes, self.peer) {
            Ok(len) => IOCallbackResult::Ok(len),
            Err(why) => IOCallbackResult::Err(why),
        }
    }
}

/// A connection to one peer.
struct Peer {
    session: Session<Datagrams>,
    arrived: Rc<RefCell<VecDeque<Vec<u8>>>>,
    is_ready: bool,
    /// When the handshake's timer ends.
    due: Instant,
}

impl Peer {
    /// `name` is that of the server, for clients.
    fn new(
        context: &Context,
        socket: &Rc<UdpSocket>,
        peer: SocketAddr,
        name: Option<&str>,
    ) -> Result<Peer, Failure> {
        let arrived = Rc::new(RefCell::new(VecDeque::new()));
        let datagrams = Datagrams { socket: socket.clone(), peer, arrived: arrived.clone() };
        let config = SessionConfig::new(datagrams).with_dtls_nonblocking(true);
        let config = config.when_some(name, |config, name| {
            // Trackbed's DTLS exchanges keys over P-256 with others.
            let config = config.with_keyshare_group(CurveGroup::EccSecp256R1);
            config.with_sni(name).with_checked_domain_name(name)
        });
        let mut session = context.new_session(config)?;
        let due = Instant::now() + session.dtls_current_timeout();
        Ok(Peer { session, arrived, is_ready: false, due })
    }

    fn negotiate(&mut self) -> Result<(), Failure> {
        self.is_ready = matches!(self.session.try_negotiate()?, Poll::Ready(()));
        // It wants to be called sooner where a part of a flight is missing (RFC 9147 section 7.1).
        let part = if self.session.dtls13_use_quick_timeout() { 4 } else { 1 };
        self.due = Instant::now() + self.session.dtls_current_timeout() / part;
        Ok(())
    }

    /// Takes a datagram, if there is one, and returns the messages in what has arrived.
    fn go_on(&mut self, datagram: Option<&[u8]>) -> Result<Vec<Vec<u8>>, Failure> {
        self.arrived.borrow_mut().extend(datagram.map(<[u8]>::to_vec));
        let is_late = Instant::now() >= self.due;
        if !self.is_ready && (is_late || datagram.is_some()) {
            if is_late {
                let _ = self.session.dtls_has_timed_out();
            }
            self.negotiate()?;
        }
        let mut messages = Vec::new();
        let mut bytes = [0; 2048];
        while self.is_ready {
            match self.session.try_read_slice(&mut bytes)? {
                Poll::Ready(len) if len > 0 => messages.push(bytes[..len].to_vec()),
                _ => break,
            }
        }
        Ok(messages)
    }
}

/// The next datagram, within a short time.
fn next(socket: &UdpSocket, bytes: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
    match socket.recv_from(bytes) {
        Ok(datagram) => Ok(Some(datagram)),
        Err(why) if matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Ok(None)
        }
        Err(why) => Err(why),
    }
}

const TICK: Duration = Duration::from_millis(20);

fn serve(option: impl Fn(&str) -> Result<String, Failure>) -> Result<(), Failure> {
    let context = ContextBuilder::new(Method::DtlsServerV1_3)?
        .with_certificate(Secret::PemFile(Path::new(&option("-certificate")?)))?
        .with_private_key(Secret::PemFile(Path::new(&option("-key")?)))?
        .build();
    let socket = Rc::new(UdpSocket::bind(option("-address")?)?);
    socket.set_read_timeout(Some(TICK))?;
    let mut peers: HashMap<SocketAddr, Peer> = HashMap::new();
    let mut bytes = [0; 2048];
    loop {
        let datagram = next(&socket, &mut bytes)?;
        if let Some((_, from)) = datagram.filter(|(_, from)| !peers.contains_key(from)) {
            peers.insert(from, Peer::new(&context, &socket, from, None)?);
        }
        peers.retain(|address, peer| {
            let datagram = datagram.filter(|(_, from)| from == address);
            let messages = match peer.go_on(datagram.map(|(len, _)| &bytes[..len])) {
                Ok(messages) => messages,
                Err(why) => {
                    eprintln!("{address}: {why}");
                    return false;
                }
            };
            let answers = messages.iter().filter_map(|message| answer(message));
            answers.fold(true, |goes_on, answer| {
                goes_on && peer.session.try_write_slice(&answer).is_ok()
            })
        });
    }
}

/// 2.04 in an acknowledgment, or in a message without confirmation.
fn answer(message: &[u8]) -> Option<Vec<u8>> {
    let (&[first, code, ..], token) = (message.first_chunk::<4>()?, message.get(4..)?);
    let token = token.get(..usize::from(first & 15))?;
    let is_request = first >> 6 == 1 && (1..32).contains(&code);
    let kind = if first >> 4 & 3 == 0 { 0x60 } else { 0x50 };
    is_request.then(|| [&[kind | first & 15, 0x44], &message[2..4], token].concat())
}

fn fetch(address: &str, option: impl Fn(&str) -> Result<String, Failure>) -> Result<(), Failure> {
    let certificate = option("-certificate")?;
    let context = ContextBuilder::new(Method::DtlsClientV1_3)?
        .with_root_certificate(RootCertificate::PemFileOrDirectory(Path::new(&certificate)))?
        .with_verify_method(SslVerifyMode::SslVerifyPeer)
        .build();
    let (path, count): (_, u16) = (option("-path")?, option("-count")?.parse()?);
    let socket = Rc::new(UdpSocket::bind("0.0.0.0:0")?);
    socket.set_read_timeout(Some(TICK))?;
    let mut peer = Peer::new(&context, &socket, address.parse()?, Some(&option("-name")?))?;
    let mut bytes = [0; 2048];
    let (mut number, mut sent_at, begin) = (1, None::<Instant>, Instant::now());
    peer.negotiate()?;
    while number <= count {
        let datagram = next(&socket, &mut bytes)?;
        for message in peer.go_on(datagram.map(|(len, _)| &bytes[..len]))? {
            if message.get(2..4) == Some(&number.to_be_bytes()) && message[0] >> 4 & 3 == 2 {
                if message[1] >> 5 != 2 {
                    return Err(format!(
                        "the answer has code {}.{:02}",
                        message[1] >> 5,
                        message[1] & 31
                    )
                    .into());
                }
                (number, sent_at) = (number + 1, None);
            }
        }
        if peer.is_ready && sent_at.is_none_or(|at| at.elapsed() > Duration::from_secs(2)) {
            let [high, low] = number.to_be_bytes();
            let option = [0xb0
                | u8::try_from(path.len()).ok().filter(|len| *len < 13).ok_or("a long path")?];
            let request = [&[0x40, 1, high, low], &option[..], path.as_bytes()].concat();
            peer.session.try_write_slice(&request)?;
            sent_at = Some(Instant::now());
        }
        if begin.elapsed() > Duration::from_secs(60) {
            return Err("no answer within 60 s".into());
        }
    }
    let _ = peer.session.try_shutdown();
    Ok(())
}
