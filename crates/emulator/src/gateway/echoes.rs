//! Pings of the command, repeated from the machine's network if icmp(7) permits it to this user
//! (`net.ipv4.ping_group_range`).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustc_hash::FxHashMap;
use rustix::event::epoll::EventFlags;
use rustix::net::{RecvFlags, SendFlags, SocketType, connect, ipproto, recv, send};
use slab::Slab;
use trackbed_core::packet::{Unreachable, icmp_packet};
use trackbed_core::{Packet, Time};

use super::addresses::tell_full;
use super::gate::Order;
use super::site::{Site, Source, reason};
use super::wire;
use super::workshop::socket;

#[derive(Debug, Default)]
pub(super) struct Echoes {
    all: Slab<Series>,
    by_ends: FxHashMap<Ends, usize>,
}

/// Source, destination and identifier of the request (RFC 792, RFC 4443 section 4.1).
type Ends = (IpAddr, IpAddr, [u8; 2]);

#[derive(Debug)]
struct Series {
    socket: OwnedFd,
    ends: Ends,
    /// The last request.
    request: Packet,
    used: Time,
}

impl Echoes {
    /// Sends the command's echo request to the outside host.
    pub(super) fn ask(&mut self, site: &mut Site, request: &Packet) {
        let Some(message) = wire::echo_request(request) else { return };
        let ends = (request.source(), request.destination(), [message[4], message[5]]);
        let asked = self.series(site, ends, request).and_then(|index| {
            let Some(series) = index.map(|index| &mut self.all[index]) else { return Ok(()) };
            series.used = site.now();
            series.request = request.clone();
            // The kernel inserts its own identifier and checksum.
            send(&series.socket, message, SendFlags::NOSIGNAL)?;
            Ok(())
        });
        if let Err(why) = asked {
            refuse(site, request, &why);
        }
    }

    /// The series between these two; `None` if there are too many.
    fn series(&mut self, site: &Site, ends: Ends, request: &Packet) -> io::Result<Option<usize>> {
        if let Some(index) = self.by_ends.get(&ends) {
            return Ok(Some(*index));
        }
        if self.all.len() >= site.room {
            tell_full(site.room);
            return Ok(None);
        }
        let socket = call(ends.1)?;
        let entry = self.all.vacant_entry();
        let index = entry.key();
        site.watch(&socket, Source::Echoes(index), EventFlags::IN)?;
        entry.insert(Series { socket, ends, request: request.clone(), used: site.now() });
        self.by_ends.insert(ends, index);
        Ok(Some(index))
    }

    pub(super) fn attend(&mut self, site: &mut Site, index: usize) {
        let Some(series) = self.all.get(index) else { return };
        let mut message = vec![0; 1 << 16];
        match recv(&series.socket, &mut *message, RecvFlags::empty()) {
            Ok((length, _)) if length >= wire::ECHO_HEADER => {
                let (from, to, identifier) = series.ends;
                message[4..6].copy_from_slice(&identifier);
                let reply = icmp_packet(to, from, &message[..length.min(MESSAGE_MAX)]);
                site.order(Order::Answer(reply));
            }
            Ok(_) => {}
            Err(why) => refuse(site, &series.request, &why.into()),
        }
    }

    pub(super) fn tick(&mut self, site: &Site) {
        let (now, by_ends) = (site.now(), &mut self.by_ends);
        self.all.retain(|_, series| {
            let is_used = now.since(series.used) < PATIENCE;
            if !is_used {
                by_ends.remove(&series.ends);
            }
            is_used
        });
    }
}

fn refuse(site: &mut Site, request: &Packet, why: &io::Error) {
    match reason(why) {
        // A host does not refuse pings by port.
        Some(Unreachable::Port) | None => {}
        Some(why) => site.refuse(request, why),
    }
}

/// A socket that pings only `target`, in the network of this thread.
fn call(target: IpAddr) -> io::Result<OwnedFd> {
    let protocol = if target.is_ipv4() { ipproto::ICMP } else { ipproto::ICMPV6 };
    let socket = socket(target, SocketType::DGRAM, Some(protocol))?;
    connect(&socket, &SocketAddr::new(target, 0))?;
    Ok(socket)
}

/// RFC 5508 section 3.2.
const PATIENCE: Duration = Duration::from_secs(60);
/// With its IPv6 header, the largest packet.
const MESSAGE_MAX: usize = 65_535 - 40;
