//! Interfaces: pairs of virtual Ethernet devices, their addresses and routes, in the namespace of
//! the calling thread.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::Duration;

use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{
    AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope,
};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage as Message};
use rustix::net::netdevice::name_to_index;
use trackbed_core::text::hex;
use trackbed_linux::netlink::{Failure, Requests};

use super::NetNamespace;
use super::error::NamespaceError;

/// An address and the prefix length of its network.
pub type Address = (IpAddr, u8);

/// An interface of the calling thread's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    name: String,
    index: u32,
}

/// The properties of a pair of virtual Ethernet devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Veth<'a> {
    /// The name of the end in the calling thread's namespace.
    pub name: &'a str,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// The name of the other end.
    pub peer_name: &'a str,
    /// Its hardware address.
    pub peer_mac: [u8; 6],
    /// The largest packet, IP header included.
    pub mtu: u32,
}

/// Each change fails if the kernel refuses it.
impl Interface {
    /// The interface of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Interface, NamespaceError> {
        use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
        let socket =
            socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
        let index = socket.and_then(|socket| name_to_index(socket, name)).map_err(|why| {
            NamespaceError::configure(format!("interface \"{name}\" does not exist"), why.into())
        })?;
        Ok(Interface { name: name.to_owned(), index })
    }

    /// Creates a pair of devices: one here, its peer in `there`. Address resolution is off: what
    /// one sends, the other receives.
    pub fn pair(veth: &Veth<'_>, there: &NetNamespace) -> Result<Interface, NamespaceError> {
        let end = |name: &str, mac: &[u8; 6]| {
            let mut link = LinkMessage::default();
            link.header.flags = LinkFlags::Noarp;
            link.header.change_mask = LinkFlags::Noarp;
            link.attributes = vec![
                LinkAttribute::IfName(name.to_owned()),
                LinkAttribute::Address(mac.to_vec()),
                LinkAttribute::Mtu(veth.mtu),
            ];
            link
        };
        let mut peer = end(veth.peer_name, &veth.peer_mac);
        peer.attributes.push(LinkAttribute::NetNsFd(there.as_fd().as_raw_fd()));
        let mut link = end(veth.name, &veth.mac);
        link.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        apply(Message::NewLink(link), NEW, || format!("create the interface \"{}\"", veth.name))?;
        Interface::named(veth.name)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its index.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Sets it up.
    pub fn set_up(&self) -> Result<(), NamespaceError> {
        let mut link = self.link_message();
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        apply(Message::SetLink(link), 0, || format!("set up \"{}\"", self.name))
    }

    /// Removes it, and with it the other end of a pair.
    pub fn remove(self) -> Result<(), NamespaceError> {
        apply(Message::DelLink(self.link_message()), 0, || format!("remove \"{}\"", self.name))
    }

    /// Sets its MTU in bytes, IP header included, and its queue length in packets.
    pub fn set_limits(&self, mtu: u32, queue: u32) -> Result<(), NamespaceError> {
        let mut link = self.link_message();
        link.attributes = vec![LinkAttribute::Mtu(mtu), LinkAttribute::TxQueueLen(queue)];
        apply(Message::SetLink(link), 0, || format!("set the MTU of \"{}\"", self.name))
    }

    fn link_message(&self) -> LinkMessage {
        let mut link = LinkMessage::default();
        link.header.index = self.index;
        link
    }

    /// Adds an address, ready for use immediately; the interface must be up. On a machine without
    /// IPv6 an IPv6 address is ignored.
    ///
    /// # Errors
    /// If it already has the address, or the kernel refuses.
    pub fn add_address(&self, (address, prefix): Address) -> Result<(), NamespaceError> {
        if address.is_ipv6() && !has_ipv6() {
            return Ok(());
        }
        let mut message = self.address_message((address, prefix));
        // No other host can have it, so duplicate address detection would only take time (RFC
        // 4862).
        message.header.flags = AddressHeaderFlags::Nodad;
        let what = || format!("add the address {address} to \"{}\"", self.name);
        apply(Message::NewAddress(message), NEW, what)?;
        if let IpAddr::V6(address) = address {
            wait_until_local(address);
        }
        Ok(())
    }

    /// Removes an address, immediately and for good: sockets bound to it remain, but can no longer
    /// send or receive. On a machine without IPv6 an IPv6 address is ignored.
    ///
    /// # Errors
    /// If it does not have the address, or the kernel refuses.
    pub fn remove_address(&self, (address, prefix): Address) -> Result<(), NamespaceError> {
        if address.is_ipv6() && !has_ipv6() {
            return Ok(());
        }
        let what = || format!("remove the address {address} from \"{}\"", self.name);
        apply(Message::DelAddress(self.address_message((address, prefix))), 0, what)?;
        match address {
            IpAddr::V4(_) => Ok(()),
            // Here the kernel does not check whether a socket's address still exists.
            IpAddr::V6(_) => {
                apply(Message::NewRule(rule_from(address, RuleAction::Blackhole)), NEW, what)
            }
        }
    }

    fn address_message(&self, (address, prefix): Address) -> AddressMessage {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = prefix;
        message.header.scope = AddressScope::Universe;
        message.header.index = self.index;
        message.attributes =
            vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        message
    }

    /// Routes this network through the interface; a prefix of 0 is the default route. On a machine
    /// without IPv6 an IPv6 network is ignored. It replaces a route to the same network.
    ///
    /// # Errors
    /// If the kernel refuses, or has no such congestion control.
    pub fn add_route(&self, network: Address, route: Route<'_>) -> Result<(), NamespaceError> {
        let table = if route.is_first { TABLE_LOCAL } else { RouteHeader::RT_TABLE_MAIN.into() };
        self.route(network, RouteType::Unicast, table, route)
    }

    /// Routes packets from `source` through the interface, whatever their destination: a machine
    /// with several paths has an address on each, and packets take the path of their source
    /// address. On a machine without IPv6 an IPv6 address is ignored.
    pub fn add_route_from(&self, source: IpAddr) -> Result<(), NamespaceError> {
        if source.is_ipv6() && !has_ipv6() {
            return Ok(());
        }
        // Every interface has a separate table, beyond those that the kernel uses.
        let table = SOURCE_TABLES + self.index;
        let everything = EVERYTHING[usize::from(source.is_ipv6())];
        self.route(everything, RouteType::Unicast, table, Route::default())?;
        let mut message = rule_from(source, RuleAction::ToTable);
        message.attributes.push(RuleAttribute::Table(table));
        let what = || format!("route packets from {source} through \"{}\"", self.name);
        apply(Message::NewRule(message), NEW, what)
    }

    /// Makes this machine accept packets to this network, whatever the address, and lets sockets
    /// send from there; `self` is the loopback interface. A prefix of 0 is everything without
    /// another route.
    pub fn add_local_route(&self, network: Address) -> Result<(), NamespaceError> {
        // The table in which the kernel looks up its own addresses.
        self.route(network, RouteType::Local, TABLE_LOCAL, Route::default())
    }

    fn route(
        &self,
        (network, prefix): Address,
        kind: RouteType,
        table: u32,
        Route { congestion, mtu, .. }: Route<'_>,
    ) -> Result<(), NamespaceError> {
        if network.is_ipv6() && !has_ipv6() {
            return Ok(());
        }
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: family(network),
            destination_prefix_length: prefix,
            protocol: RouteProtocol::Static,
            scope: if kind == RouteType::Local { RouteScope::Host } else { RouteScope::Link },
            kind,
            ..RouteHeader::default()
        };
        message.attributes = vec![RouteAttribute::Table(table), RouteAttribute::Oif(self.index)];
        let congestion = congestion.map(|name| RouteMetric::CcAlgo(name.to_owned()));
        let metrics: Vec<_> = congestion.into_iter().chain(mtu.map(RouteMetric::Mtu)).collect();
        message
            .attributes
            .extend((!metrics.is_empty()).then_some(RouteAttribute::Metrics(metrics)));
        if prefix > 0 {
            let network = match network {
                IpAddr::V4(network) => RouteAddress::Inet(network),
                IpAddr::V6(network) => RouteAddress::Inet6(network),
            };
            message.attributes.push(RouteAttribute::Destination(network));
        }
        let what = || format!("route {network}/{prefix} through \"{}\"", self.name);
        apply(Message::NewRoute(message), NLM_F_CREATE | NLM_F_REPLACE, what)
    }
}

/// How packets take a route (ip-route(8)).
#[derive(Clone, Copy, Debug, Default)]
pub struct Route<'a> {
    /// The congestion control of TCP connections, unless a program asks for another (`congctl`).
    pub congestion: Option<&'a str>,
    /// The largest packet in bytes, IP header included; by default that of the interface.
    pub mtu: Option<u32>,
    /// Whether it has priority over a wider network of [`Interface::add_local_route`].
    pub is_first: bool,
}

/// Sets `/proc/sys/net/NAME` of the calling thread's namespace, if the machine permits it.
pub fn set_sysctl(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/{name}"), value)
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

fn rule_from(source: IpAddr, action: RuleAction) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = family(source);
    message.header.src_len = if source.is_ipv4() { 32 } else { 128 };
    message.header.action = action;
    message.attributes = vec![RuleAttribute::Source(source)];
    message
}

/// Requests a change of the network's configuration: rtnetlink(7).
fn apply(change: Message, flags: u16, what: impl Fn() -> String) -> Result<(), NamespaceError> {
    let request = || Requests::route()?.send(change, NLM_F_ACK | flags);
    let failed = |why: Failure| NamespaceError::configure(format!("cannot {}", what()), why.into());
    request().map(drop).map_err(failed)
}

/// All addresses, IPv4 first.
pub(crate) const EVERYTHING: [Address; 2] =
    [(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0), (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0)];

/// For what must not exist yet.
const NEW: u16 = NLM_F_CREATE | NLM_F_EXCL;

/// `RT_TABLE_LOCAL` of rtnetlink(7): consulted before all others.
const TABLE_LOCAL: u32 = 255;

/// Whether this machine supports IPv6; it may be disabled at boot. The kernel makes an IPv6 address
/// usable shortly after it has accepted it: until then sockets cannot bind to it, and packets to it
/// are dropped. If that takes long, packets are lost.
#[expect(
    clippy::disallowed_methods,
    reason = "it waits for the kernel, outside of any run's clock"
)]
fn wait_until_local(address: Ipv6Addr) {
    let wanted = hex(&address.octets());
    for _ in 0..LOCAL_WITHIN.as_micros() / LOOK_AGAIN.as_micros() {
        // The thread's file: its namespace may differ from that of its process.
        let Ok(routes) = fs::read_to_string("/proc/thread-self/net/ipv6_route") else { return };
        if routes.lines().any(|line| is_local_route(line, &wanted)) {
            return;
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// Whether a line of `ipv6_route` shows that this machine has the address: destination, its prefix,
/// six more columns, flags.
fn is_local_route(line: &str, address: &str) -> bool {
    let mut columns = line.split_ascii_whitespace();
    if columns.next() != Some(address) || columns.next() != Some("80") {
        return false;
    }
    let flags = columns.nth(6).and_then(|flags| u32::from_str_radix(flags, 16).ok());
    flags.is_some_and(|flags| flags & RTF_LOCAL != 0)
}

fn has_ipv6() -> bool {
    fs::exists("/proc/net/if_inet6").unwrap_or(false)
}

/// Flag of a route to this machine itself (`linux/ipv6_route.h`).
const RTF_LOCAL: u32 = 0x8000_0000;

/// An idle kernel needs less than a millisecond.
const LOCAL_WITHIN: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_micros(100);

/// Routing tables below this number have other uses.
const SOURCE_TABLES: u32 = 1_000;
