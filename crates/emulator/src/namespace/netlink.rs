//! Requests to the kernel's network configuration: rtnetlink(7).

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::link::LinkMessage;
use netlink_packet_route::route::RouteMessage;
use netlink_packet_route::rule::RuleMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

#[derive(Debug)]
pub(super) enum Request {
    NewLink(LinkMessage),
    SetLink(LinkMessage),
    RemoveLink(LinkMessage),
    NewAddress(AddressMessage),
    RemoveAddress(AddressMessage),
    /// Adds a route, replacing one to the same destination.
    Route(RouteMessage),
    Rule(RuleMessage),
}

/// Sends a request in the calling thread's network namespace and waits for the answer.
pub(super) fn request(request: Request) -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let (message, flags) = match request {
        Request::NewLink(link) => (RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL),
        Request::SetLink(link) => (RouteNetlinkMessage::SetLink(link), 0),
        Request::RemoveLink(link) => (RouteNetlinkMessage::DelLink(link), 0),
        Request::NewAddress(address) => {
            (RouteNetlinkMessage::NewAddress(address), NLM_F_CREATE | NLM_F_EXCL)
        }
        Request::RemoveAddress(address) => (RouteNetlinkMessage::DelAddress(address), 0),
        Request::Route(route) => {
            (RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_REPLACE)
        }
        Request::Rule(rule) => (RouteNetlinkMessage::NewRule(rule), NLM_F_CREATE | NLM_F_EXCL),
    };
    let mut message = NetlinkMessage::from(message);
    message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let invalid =
        |_| io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer is malformed");
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(invalid)?;
    match answer.payload {
        NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
        _ => Ok(()),
    }
}
