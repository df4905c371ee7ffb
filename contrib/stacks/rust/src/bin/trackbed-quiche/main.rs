//! A server of quiche for Trackbed: exchanges on plain streams and HTTP/3. With --disable, the first option of a curl
//! that Trackbed starts, it is a client of HTTP/3.

mod client;
mod peer;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use quiche::{Config, ConnectionId, RecvInfo};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use trackbed_stacks::{Options, STREAMS, exit};

use peer::Peer;

fn main() {
    let is_client = std::env::args().nth(1).is_some_and(|word| word == "--disable");
    let ended = if is_client { client::fetch_all(std::env::args().skip(1)) } else { serve() };
    let Err(why) = ended else { return };
    exit("trackbed-quiche", why)
}

/// How long the identifiers of connections are that the server chooses, and its tokens.
const NAME_LEN: usize = 16;

/// The addresses and first identifiers of clients that were sent a Retry packet, by their tokens.
type Tokens = HashMap<[u8; NAME_LEN], (SocketAddr, ConnectionId<'static>)>;

fn serve() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let mut config = configured(&options)?;
    let socket = UdpSocket::bind(options.address)?;
    socket.set_nonblocking(true)?;
    let (mut peers, mut tokens): (Vec<Peer>, Tokens) = (Vec::new(), Tokens::new());
    let mut bytes = vec![0; 65_536];
    loop {
        pause(&socket, peers.iter().filter_map(Peer::wakes).min())?;
        loop {
            match socket.recv_from(&mut bytes) {
                Ok((len, from)) => {
                    let to = options.address;
                    let packet = &mut bytes[..len];
                    if let Some(at) = find(
                        packet,
                        from,
                        (&options, &mut config, &socket),
                        &mut peers,
                        &mut tokens,
                    ) {
                        peers[at].hear(packet, RecvInfo { from, to });
                    }
                }
                Err(why) if why.kind() == ErrorKind::WouldBlock => break,
                Err(why) => return Err(why.into()),
            }
        }
        let mut fault = Ok(());
        peers.retain_mut(|peer| {
            let goes_on = peer.work(&options.site, &socket);
            goes_on.unwrap_or_else(|why| {
                fault = Err(why);
                false
            })
        });
        fault?;
    }
}

/// Waits for a packet or a time.
fn pause(socket: &UdpSocket, until: Option<Instant>) -> std::io::Result<()> {
    let rest = until.map(|at| at.saturating_duration_since(Instant::now()));
    let rest = rest.map(|rest| Timespec {
        tv_sec: rest.as_secs() as i64,
        tv_nsec: i64::from(rest.subsec_nanos()),
    });
    poll(&mut [PollFd::new(socket, PollFlags::IN)], rest.as_ref())?;
    Ok(())
}

fn configured(options: &Options) -> quiche::Result<Config> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    config.load_cert_chain_from_pem_file(&options.certificate)?;
    config.load_priv_key_from_pem_file(&options.key)?;
    config.set_application_protos(&[STREAMS.as_bytes(), b"h3"])?;
    config.set_max_idle_timeout(60_000);
    config.set_max_send_udp_payload_size(1_452);
    config.discover_pmtu(true);
    config.set_initial_max_data(10_000_000);
    config.set_initial_max_stream_data_bidi_remote(1_000_000);
    config.set_initial_max_stream_data_uni(1_000_000);
    config.set_initial_max_streams_bidi(1_000);
    config.set_initial_max_streams_uni(100);
    if options.early {
        config.enable_early_data();
    }
    Ok(config)
}

/// The connection that a packet belongs to, or opens.
fn find(
    packet: &mut [u8],
    from: SocketAddr,
    (options, config, socket): (&Options, &mut Config, &UdpSocket),
    peers: &mut Vec<Peer>,
    tokens: &mut Tokens,
) -> Option<usize> {
    let header = quiche::Header::from_slice(packet, NAME_LEN).ok()?;
    let known = peers.iter().position(|peer| peer.is_called(&header.dcid));
    if known.is_some() || header.ty != quiche::Type::Initial {
        return known;
    }
    let mut reply = [0; 1_500];
    if !quiche::version_is_supported(header.version) {
        let len = quiche::negotiate_version(&header.scid, &header.dcid, &mut reply).ok()?;
        let _ = socket.send_to(&reply[..len], from);
        return None;
    }
    let mut first = None;
    if options.retry {
        let token = header.token.as_deref().and_then(|token| tokens.remove(token));
        first = token.filter(|(address, _)| *address == from).map(|(_, first)| first);
        if first.is_none() {
            let (name, token) = (random()?, random()?);
            let name = ConnectionId::from_ref(&name);
            let len = quiche::retry(
                &header.scid,
                &header.dcid,
                &name,
                &token,
                header.version,
                &mut reply,
            )
            .ok()?;
            let _ = socket.send_to(&reply[..len], from);
            if tokens.len() > 1_000 {
                tokens.clear();
            }
            tokens.insert(token, (from, header.dcid.into_owned()));
            return None;
        }
    }
    // After a Retry packet the client uses the identifier in it.
    let theirs = header.dcid.into_owned();
    let ours =
        if first.is_some() { theirs.clone() } else { ConnectionId::from_vec(random()?.to_vec()) };
    let connection = quiche::accept(&ours, first.as_ref(), options.address, from, config).ok()?;
    peers.push(Peer::new(connection, ours, theirs));
    Some(peers.len() - 1)
}

fn random() -> Option<[u8; NAME_LEN]> {
    let mut bytes = [0; NAME_LEN];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).ok().map(|()| bytes)
}
