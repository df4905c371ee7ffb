//! The machine's network interfaces, from rtnetlink(7).

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use trackbed_linux::netlink::{Failure, Requests};

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// It is up and has a carrier.
    pub works: bool,
    /// Bytes received over it so far.
    pub received: u64,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// Queries the interfaces of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Interfaces(Requests);

impl Interfaces {
    /// Opens it in the calling thread's namespace.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn open() -> io::Result<Interfaces> {
        Requests::route().map(Interfaces)
    }

    /// All interfaces by their numbers.
    ///
    /// # Errors
    /// If the query fails.
    pub fn list(&mut self) -> io::Result<BTreeMap<u32, Interface>> {
        let mut interfaces = BTreeMap::new();
        for message in self.dump(RouteNetlinkMessage::GetLink(LinkMessage::default()))? {
            if let RouteNetlinkMessage::NewLink(link) = message {
                interfaces.insert(link.header.index, describe(link));
            }
        }
        for message in self.dump(RouteNetlinkMessage::GetAddress(AddressMessage::default()))? {
            let RouteNetlinkMessage::NewAddress(message) = message else { continue };
            let Some(interface) = interfaces.get_mut(&message.header.index) else { continue };
            // On a point-to-point link, "address" is the far end and "local" the near one; IPv6 has only the
            // first.
            let local = message.attributes.iter().find_map(|attribute| match attribute {
                AddressAttribute::Local(address) => Some(*address),
                _ => None,
            });
            let address = message.attributes.iter().find_map(|attribute| match attribute {
                AddressAttribute::Address(address) => Some(*address),
                _ => None,
            });
            interface.addresses.extend(local.or(address));
        }
        Ok(interfaces)
    }

    fn dump(&mut self, request: RouteNetlinkMessage) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.0.send(request, NLM_F_DUMP).map_err(|failure| match failure {
            Failure::Garbled => io::Error::new(io::ErrorKind::InvalidData, "a garbled answer"),
            other => other.into(),
        })
    }
}

fn describe(link: LinkMessage) -> Interface {
    let needed = LinkFlags::Up | LinkFlags::LowerUp;
    let mut interface =
        Interface { works: link.header.flags.contains(needed), ..Interface::default() };
    for attribute in link.attributes {
        match attribute {
            LinkAttribute::IfName(name) => interface.name = name,
            LinkAttribute::Stats64(counters) => interface.received = counters.rx_bytes,
            _ => {}
        }
    }
    interface
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;

    #[test]
    fn loopback_works_has_its_address_and_counts() {
        let mut interfaces = Interfaces::open().unwrap();
        let loopback = |interfaces: &mut Interfaces| {
            let list = interfaces.list().unwrap();
            list.into_values().find(|interface| interface.name == "lo").unwrap()
        };
        let before = loopback(&mut interfaces);
        if !before.works {
            return eprintln!("SKIPPED: this machine's loopback interface is down");
        }
        assert!(before.addresses.contains(&Ipv4Addr::LOCALHOST.into()), "{before:?}");
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[0; 1_000], socket.local_addr().unwrap()).unwrap();
        assert!(loopback(&mut interfaces).received >= before.received + 1_000);
    }
}
