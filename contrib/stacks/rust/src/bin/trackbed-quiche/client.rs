//! A client of HTTP/3 that fetches files one after another on one connection, and reports each as curl does.

use std::error::Error;
use std::fs::File;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use quiche::h3::{self, Header, NameValue as _};
use quiche::{Config, Connection, ConnectionId, RecvInfo, SendInfo};

use crate::peer;
use crate::{pause, random};

type Failure = Box<dyn Error>;

/// What Trackbed says to curl, as far as it matters here.
struct Asked {
    name: String,
    address: SocketAddr,
    roots: String,
    /// The parts of an address: scheme, authority, path.
    urls: Vec<[String; 3]>,
}

impl Asked {
    fn read(words: impl Iterator<Item = String>) -> Result<Asked, Failure> {
        let (mut resolve, mut roots, mut urls) = (None, None, Vec::new());
        let mut words = words.skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--resolve" => resolve = words.next(),
                "--cacert" => roots = words.next(),
                "--noproxy" | "--write-out" | "--output" => drop(words.next()),
                option if option.starts_with("--") => {}
                url => {
                    let (scheme, rest) = url.split_once("://").ok_or("an address without ://")?;
                    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                    urls.push([scheme.into(), authority.into(), format!("/{path}")]);
                }
            }
        }
        let resolve = resolve.ok_or("--resolve is missing")?;
        let mut parts = resolve.splitn(3, ':');
        let (Some(name), Some(port), Some(address)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("--resolve needs NAME:PORT:ADDRESS".into());
        };
        let address = address.trim_matches(['[', ']']).parse()?;
        Ok(Asked {
            name: name.into(),
            address: SocketAddr::new(address, port.parse()?),
            roots: roots.ok_or("--cacert is missing")?,
            urls,
        })
    }
}

/// Fetches what the words after the program's name ask for.
pub fn fetch_all(words: impl Iterator<Item = String>) -> Result<(), Failure> {
    let asked = Asked::read(words)?;
    let mut begin = Instant::now();
    let mut client = Client::connect(&asked)?;
    for (number, url) in asked.urls.iter().enumerate() {
        client.fetch(url, number, begin)?;
        begin = Instant::now();
    }
    // Closing tells the server that nothing more will come.
    let _ = client.connection.close(true, 0x100, b"");
    peer::send(&mut client.connection, &mut client.next, &client.socket)?;
    Ok(())
}

struct Client {
    connection: Connection,
    socket: UdpSocket,
    local: SocketAddr,
    http: Option<h3::Connection>,
    next: Option<(Vec<u8>, SendInfo)>,
}

impl Client {
    fn connect(asked: &Asked) -> Result<Client, Failure> {
        let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
        let read = config.load_verify_locations_from_file(&asked.roots);
        read.map_err(|why| format!("{}: {why}", asked.roots))?;
        config.verify_peer(true);
        config.set_application_protos(&[b"h3"])?;
        config.set_max_idle_timeout(60_000);
        config.set_max_send_udp_payload_size(1_452);
        config.discover_pmtu(true);
        config.set_initial_max_data(10_000_000);
        config.set_initial_max_stream_data_bidi_local(1_000_000);
        config.set_initial_max_stream_data_uni(1_000_000);
        config.set_initial_max_streams_uni(100);
        let log = std::env::var_os("SSLKEYLOGFILE");
        if log.is_some() {
            config.log_keys();
        }
        let any = if asked.address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any)?;
        socket.connect(asked.address)?;
        socket.set_nonblocking(true)?;
        let local = socket.local_addr()?;
        let name = ConnectionId::from_vec(random().ok_or("no random numbers")?.to_vec());
        let to = asked.address;
        let mut connection = quiche::connect(Some(&asked.name), &name, local, to, &mut config)?;
        if let Some(log) = log {
            connection.set_keylog(Box::new(File::options().append(true).create(true).open(log)?));
        }
        Ok(Client { connection, socket, local, http: None, next: None })
    }

    /// Sends what is due, and waits for a packet or a time.
    fn turn(&mut self) -> Result<(), Failure> {
        peer::send(&mut self.connection, &mut self.next, &self.socket)?;
        let next = self.next.as_ref().map(|(_, info)| info.at);
        pause(&self.socket, self.connection.timeout_instant().into_iter().chain(next).min())?;
        let mut bytes = vec![0; 65_536];
        loop {
            match self.socket.recv_from(&mut bytes) {
                Ok((len, from)) => {
                    let _ =
                        self.connection.recv(&mut bytes[..len], RecvInfo { from, to: self.local });
                }
                Err(why) if why.kind() == ErrorKind::WouldBlock => break,
                Err(why) => return Err(why.into()),
            }
        }
        if self.connection.timeout() == Some(Duration::ZERO) {
            self.connection.on_timeout();
        }
        if self.connection.is_closed() || self.connection.is_draining() {
            let errors = [self.connection.peer_error(), self.connection.local_error()];
            return Err(format!("the connection ended: {errors:?}").into());
        }
        if self.http.is_none() && self.connection.is_established() {
            let settings = h3::Config::new()?;
            self.http = Some(h3::Connection::with_transport(&mut self.connection, &settings)?);
        }
        Ok(())
    }

    fn request(&mut self, url: &[String; 3]) -> Result<u64, Failure> {
        let names = [":scheme", ":authority", ":path"];
        let fields = names.iter().zip(url).map(|(name, value)| (*name, value.as_str()));
        let fields = [(":method", "GET")].into_iter().chain(fields);
        let fields: Vec<Header> =
            fields.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).collect();
        loop {
            let sent = self.http.as_mut().map_or(Err(h3::Error::StreamBlocked), |http| {
                http.send_request(&mut self.connection, &fields, true)
            });
            match sent {
                Err(h3::Error::StreamBlocked) => self.turn()?,
                sent => return Ok(sent?),
            }
        }
    }

    /// Fetches a file, and writes what curl's `--write-out '%{json}'` has, as far as Trackbed reads it.
    fn fetch(&mut self, url: &[String; 3], number: usize, begin: Instant) -> Result<(), Failure> {
        let asked = self.request(url)?;
        let requested = begin.elapsed().as_secs_f64();
        let (mut status, mut first, mut size) = (0, requested, 0);
        let mut bytes = vec![0; 65_536];
        loop {
            let Some(http) = &mut self.http else { return Err("no HTTP/3".into()) };
            match http.poll(&mut self.connection) {
                Ok((stream, h3::Event::Headers { list, .. })) if stream == asked => {
                    let field = list.iter().find(|field| field.name() == b":status");
                    status = std::str::from_utf8(field.ok_or("no status")?.value())?.parse()?;
                    first = begin.elapsed().as_secs_f64();
                }
                Ok((stream, h3::Event::Data)) if stream == asked => {
                    while let Ok(len) = http.recv_body(&mut self.connection, stream, &mut bytes) {
                        size += len;
                    }
                }
                Ok((stream, h3::Event::Finished)) if stream == asked => break,
                Ok((stream, h3::Event::Reset(code))) if stream == asked => {
                    return Err(format!("the server reset the response: {code:#x}").into());
                }
                Ok(_) => {}
                Err(h3::Error::Done) => self.turn()?,
                Err(why) => return Err(why.into()),
            }
        }
        let total = begin.elapsed().as_secs_f64();
        println!(
            "{{\"urlnum\":{number},\"response_code\":{status},\"http_version\":\"3\",\"size_download\":{size},\
             \"time_pretransfer\":{requested},\"time_starttransfer\":{first},\"time_total\":{total}}}"
        );
        Ok(())
    }
}
