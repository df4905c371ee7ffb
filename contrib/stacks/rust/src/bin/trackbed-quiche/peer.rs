//! A connection of quiche, and its exchanges.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::UdpSocket;
use std::path::Path;
use std::time::{Duration, Instant};

use quiche::h3::{self, Header, NameValue as _};
use quiche::{Connection, ConnectionId, RecvInfo, SendInfo, Shutdown};
use trackbed_stacks::{Request, framed};

/// A connection and its exchanges.
pub struct Peer {
    connection: Connection,
    /// The identifiers that the client sends to: ours, and until it knows that, its own.
    names: [ConnectionId<'static>; 2],
    http: Option<h3::Connection>,
    requests: HashMap<u64, Request>,
    responses: HashMap<u64, Response>,
    /// A packet that waits for its time, as the library paces it.
    next: Option<(Vec<u8>, SendInfo)>,
}

struct Response {
    /// The fields of HTTP/3 that are not yet sent.
    fields: Option<Vec<Header>>,
    body: Vec<u8>,
    sent: usize,
}

impl Peer {
    /// The connection that the client opens by sending to `theirs`.
    pub fn new(
        connection: Connection,
        ours: ConnectionId<'static>,
        theirs: ConnectionId<'static>,
    ) -> Peer {
        let (requests, responses) = (HashMap::new(), HashMap::new());
        Peer { connection, names: [ours, theirs], http: None, requests, responses, next: None }
    }

    /// Whether a packet to `name` belongs to it.
    pub fn is_called(&self, name: &ConnectionId<'_>) -> bool {
        self.names.contains(name)
    }

    /// When it has something to do without a packet.
    pub fn wakes(&self) -> Option<Instant> {
        let next = self.next.as_ref().map(|(_, info)| info.at);
        self.connection.timeout_instant().into_iter().chain(next).min()
    }

    /// Takes a packet. One that comes too late or is none is ignored.
    pub fn hear(&mut self, packet: &mut [u8], info: RecvInfo) {
        let _ = self.connection.recv(packet, info);
    }

    /// Does all that can be done now, and returns whether the connection goes on.
    pub fn work(&mut self, site: &Path, socket: &UdpSocket) -> std::io::Result<bool> {
        if self.connection.timeout() == Some(Duration::ZERO) {
            self.connection.on_timeout();
        }
        self.receive(site);
        self.respond();
        send(&mut self.connection, &mut self.next, socket)?;
        Ok(!self.connection.is_closed())
    }

    /// Takes what has arrived.
    fn receive(&mut self, site: &Path) {
        let connection = &mut self.connection;
        if !connection.is_established() && !connection.is_in_early_data() {
            return;
        }
        if connection.application_proto() == b"h3" {
            if self.http.is_none() {
                let settings = h3::Config::new();
                self.http = settings
                    .and_then(|settings| h3::Connection::with_transport(connection, &settings))
                    .ok();
            }
            return self.receive_http(site);
        }
        let mut bytes = vec![0; 65_536];
        'streams: for stream in connection.readable() {
            let request = self.requests.entry(stream).or_default();
            let end = loop {
                match connection.stream_recv(stream, &mut bytes) {
                    Ok((len, false)) if request.take(&bytes[..len]).is_ok() => {}
                    Ok((len, true)) if request.take(&bytes[..len]).is_ok() => {
                        break request.answer(site).ok();
                    }
                    Err(quiche::Error::Done) => continue 'streams,
                    _ => break None,
                }
            };
            self.requests.remove(&stream);
            if let Some((status, body)) = end {
                let response = Response { fields: None, body: framed(status, &body), sent: 0 };
                self.responses.insert(stream, response);
            } else {
                // A part must not pass for the whole.
                let _ = connection.stream_shutdown(stream, Shutdown::Read, 1);
                let _ = connection.stream_shutdown(stream, Shutdown::Write, 1);
            }
        }
    }

    fn receive_http(&mut self, site: &Path) {
        let Some(http) = &mut self.http else { return };
        let mut bytes = vec![0; 65_536];
        while let Ok((stream, event)) = http.poll(&mut self.connection) {
            match event {
                h3::Event::Headers { list, .. } => {
                    let path = list.iter().find(|field| field.name() == b":path");
                    let path =
                        path.map(|field| String::from_utf8_lossy(field.value()).into_owned());
                    let request = self.requests.entry(stream).or_default();
                    request.path = request.path.take().or(path);
                }
                h3::Event::Data => {
                    let request = self.requests.entry(stream).or_default();
                    while let Ok(len) = http.recv_body(&mut self.connection, stream, &mut bytes) {
                        request.has_body |= len > 0;
                    }
                }
                h3::Event::Finished => {
                    let answer =
                        self.requests.remove(&stream).and_then(|request| request.answer(site).ok());
                    let Some((status, body)) = answer else { continue };
                    let length = body.len().to_string();
                    let fields = [(":status", status.to_string()), ("content-length", length)];
                    let fields =
                        fields.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
                    let response = Response { fields: Some(fields.into()), body, sent: 0 };
                    self.responses.insert(stream, response);
                }
                h3::Event::Reset(_) => drop(self.requests.remove(&stream)),
                h3::Event::PriorityUpdate | h3::Event::GoAway => {}
            }
        }
    }

    /// Sends of the responses what there is room for.
    fn respond(&mut self) {
        let connection = &mut self.connection;
        self.responses.retain(|&stream, response| {
            let sent = match &mut self.http {
                None => connection.stream_send(stream, &response.body[response.sent..], true),
                Some(http) => {
                    if let Some(fields) = &response.fields {
                        match http.send_response(
                            connection,
                            stream,
                            fields,
                            response.body.is_empty(),
                        ) {
                            Ok(()) => response.fields = None,
                            Err(why) => {
                                return matches!(why, h3::Error::StreamBlocked | h3::Error::Done);
                            }
                        }
                    }
                    let sent =
                        http.send_body(connection, stream, &response.body[response.sent..], true);
                    sent.map_err(|why| {
                        if why == h3::Error::Done {
                            quiche::Error::Done
                        } else {
                            quiche::Error::InvalidState
                        }
                    })
                }
            };
            match sent {
                Ok(len) => response.sent += len,
                Err(quiche::Error::Done) => {}
                Err(_) => return false,
            }
            response.sent < response.body.len()
        });
    }
}

/// Sends packets whose time has come. One that waits for its time is kept in `next`.
pub fn send(
    connection: &mut Connection,
    next: &mut Option<(Vec<u8>, SendInfo)>,
    socket: &UdpSocket,
) -> std::io::Result<()> {
    loop {
        if next.is_none() {
            let mut packet = vec![0; 1_500];
            let Ok((len, info)) = connection.send(&mut packet) else { return Ok(()) };
            packet.truncate(len);
            *next = Some((packet, info));
        }
        let Some((packet, info)) = next.take_if(|(_, info)| info.at <= Instant::now()) else {
            return Ok(());
        };
        match socket.send_to(&packet, info.to) {
            // A full buffer loses the packet, as a queue would.
            Err(why) if why.kind() != ErrorKind::WouldBlock => return Err(why),
            _ => {}
        }
    }
}
