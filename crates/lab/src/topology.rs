//! The network of a run: phones, a server, and the link that all phones share.

use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use trackbed_core::Seed;
use trackbed_net::medium::Station;
use trackbed_net::{Duplex, End, LinkId, Network, NetworkBuilder, NodeId};

use trackbed_scenario::{LinkPlan, NetworkPlan, SERVER_ADDRESSES};

/// A network and its roles.
pub(crate) struct Track {
    /// The network, ready to run.
    pub network: Network,
    /// The phones' hosts, or edges.
    pub phones: Vec<NodeId>,
    /// Where their second links begin: at the same hosts, but at separate edges; empty without a
    /// second link.
    pub second_phones: Vec<NodeId>,
    /// The server's host.
    pub server: NodeId,
    /// The link between phones and server, and the second one if there is one; forward is from the
    /// phones.
    pub links: Vec<LinkId>,
    /// The link of each phone to the router before each shared link; forward is from the phone. Empty
    /// where there is none.
    pub stations: Vec<LinkId>,
}

/// The kind of nodes at the ends of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Hosts of the virtual substrate.
    Hosts,
    /// Edges, which connect real machines.
    Edges,
}

impl Ends {
    fn place(self, builder: &mut NetworkBuilder, name: String) -> NodeId {
        match self {
            Ends::Hosts => builder.host(name),
            Ends::Edges => builder.edge(name),
        }
    }
}

/// The name of the server's host.
pub(crate) const SERVER_NAME: &str = "server";

/// The clients of a track.
pub(crate) struct Clients<'a> {
    /// The number of networks in which each phone has addresses ([`phone_networks`]).
    pub networks: u32,
    /// The phones, in their order.
    pub phones: Vec<Phones<'a>>,
}

/// Phones that are alike.
pub(crate) struct Phones<'a> {
    pub count: u32,
    /// A link of each, between it and the shared one.
    pub access: Option<&'a LinkPlan>,
    /// Its rank on a medium with priorities.
    pub priority: u8,
}

impl Clients<'_> {
    pub fn count(&self) -> u32 {
        self.phones.iter().map(|phones| phones.count).sum()
    }

    /// The access links of the phones, one by one.
    fn access(&self) -> impl Iterator<Item = Option<&LinkPlan>> {
        self.phones.iter().flat_map(|phones| iter::repeat_n(phones.access, phones.count as usize))
    }

    /// The phones on the medium of a path of `plan`, counted from 0.
    fn stations(&self, plan: &NetworkPlan, path: usize) -> Vec<Station> {
        let station = |priority| Station { priority, course: plan.courses.get(path).cloned() };
        let each = self.phones.iter();
        each.flat_map(|one| iter::repeat_n(station(one.priority), one.count as usize)).collect()
    }
}

impl Track {
    /// Builds the network of `plan` for these clients, with hosts or edges at its ends. One phone
    /// without an access link or medium is joined to the server directly; otherwise phones meet at a
    /// router in front of the shared link, and share the medium if there is one. With a second link,
    /// the two links meet at a router in front of the server, and each phone has addresses on both
    /// ([`second_addresses`]).
    pub fn build(plan: &NetworkPlan, clients: &Clients<'_>, seed: &Seed, ends: Ends) -> Track {
        let mut builder = NetworkBuilder::new();
        let (phones, networks) = (clients.count(), clients.networks);
        let server = ends.place(&mut builder, SERVER_NAME.to_owned());
        let server_end = End::new(server, SERVER_ADDRESSES);
        if let Some(second) = &plan.second {
            return Track::fork(builder, server_end, (plan, second), clients, (ends, seed));
        }
        let shared = duplex(&plan.link, &seed.child("link"));

        let has_access = clients.phones.iter().any(|phones| phones.access.is_some());
        if phones == 1 && !has_access && plan.medium.is_none() {
            let phone = ends.place(&mut builder, phone_name(0));
            let phone_end = End::new(phone, phone_networks(0, networks).concat());
            let shared = builder.connect(phone_end, server_end, shared);
            return Track::assemble(builder, (vec![phone], Vec::new()), server, vec![shared]);
        }
        let router = builder.router("access point");
        let shared = builder.connect(End::new(router, []), server_end, shared);
        let (mut nodes, mut stations) = (Vec::new(), Vec::new());
        for (index, access) in (0..).zip(clients.access()) {
            let phone = ends.place(&mut builder, phone_name(index));
            let link = match access {
                None => wire(plan.link.mtu, seed),
                Some(access) => duplex(access, &seed.child(&format!("access/{index}"))),
            };
            let end = End::new(phone, phone_networks(index, networks).concat());
            stations.push(builder.connect(end, End::new(router, []), link));
            nodes.push(phone);
        }
        if let Some(medium) = &plan.medium {
            let medium = medium.build(&clients.stations(plan, 0), &seed.child("medium"));
            builder.share(medium, stations.clone());
        }
        let mut track = Track::assemble(builder, (nodes, Vec::new()), server, vec![shared]);
        track.stations = stations;
        track
    }

    /// Two links from each phone, which meet in front of the server. An edge has one link, so a
    /// phone behind edges has two edges.
    fn fork(
        mut builder: NetworkBuilder,
        server: End,
        (plan, second): (&NetworkPlan, &LinkPlan),
        clients: &Clients<'_>,
        (ends, seed): (Ends, &Seed),
    ) -> Track {
        let (node, ways) = (server.node(), [&plan.link, second]);
        let (phones, networks) = (clients.count(), clients.networks);
        let crossing = builder.router("crossing");
        let wire = || wire([0, 1].map(|way| ways[0].mtu[way].max(ways[1].mtu[way])), seed);
        builder.connect(End::new(crossing, []), server, wire());
        let first: Vec<NodeId> =
            (0..phones).map(|index| ends.place(&mut builder, phone_name(index))).collect();
        let other = |index: u32| match ends {
            Ends::Hosts => first[index as usize],
            Ends::Edges => builder.edge(format!("{} on the second link", phone_name(index))),
        };
        let second: Vec<NodeId> = (0..phones).map(other).collect();
        let nodes = [first, second];
        let names = [("link", "access point"), ("second-link", "second access point")];
        let mut stations = Vec::new();
        let links = [0, 1].map(|number| {
            let (name, access) = names[number];
            let link = duplex(ways[number], &seed.child(name));
            let end = |index: u32| {
                let addresses = match number {
                    0 => phone_networks(index, networks).concat(),
                    _ => second_addresses(index).to_vec(),
                };
                End::new(nodes[number][index as usize], addresses)
            };
            if phones == 1 && plan.medium.is_none() {
                return builder.connect(end(0), End::new(crossing, []), link);
            }
            let router = builder.router(access);
            let own = stations.len();
            for index in 0..phones {
                stations.push(builder.connect(end(index), End::new(router, []), wire()));
            }
            if let Some(medium) = &plan.medium {
                let seed = seed.child(&format!("medium/{number}"));
                let medium = medium.build(&clients.stations(plan, number), &seed);
                builder.share(medium, stations[own..].to_vec());
            }
            builder.connect(End::new(router, []), End::new(crossing, []), link)
        });
        let [nodes, others] = nodes;
        let track = Track::assemble(builder, (nodes, others), node, links.into());
        Track { stations, ..track }
    }

    fn assemble(
        builder: NetworkBuilder,
        (phones, second_phones): (Vec<NodeId>, Vec<NodeId>),
        server: NodeId,
        links: Vec<LinkId>,
    ) -> Track {
        let network = builder.build().expect("names and addresses differ, and the plan has an MTU");
        Track { network, phones, second_phones, server, links, stations: Vec::new() }
    }
}

fn duplex(plan: &LinkPlan, seed: &Seed) -> Duplex {
    Duplex { mtu: plan.mtu, ..Duplex::new(&plan.up, &plan.down, seed) }
}

/// A link that takes no time.
fn wire(mtu: [u32; 2], seed: &Seed) -> Duplex {
    Duplex { mtu, ..Duplex::new(&Default::default(), &Default::default(), seed) }
}

/// Phones are numbered from 0.
pub(crate) fn phone_name(index: u32) -> String {
    format!("phone-{index}")
}

/// 10.1.0.1 onwards, and the same number behind fd00:1::; for numbers below 16,000,000.
pub(crate) fn phone_addresses(index: u32) -> [IpAddr; 2] {
    assert!(index < MAX_PHONES, "a track has at most {MAX_PHONES} phones");
    numbered(Ipv4Addr::new(10, 1, 0, 1), Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 1), index)
}

/// The addresses that are `index` after these.
fn numbered(v4: Ipv4Addr, v6: Ipv6Addr, index: u32) -> [IpAddr; 2] {
    let v4 = Ipv4Addr::from_bits(v4.to_bits() + index);
    let v6 = Ipv6Addr::from_bits(v6.to_bits() + u128::from(index));
    [v4.into(), v6.into()]
}

/// The addresses of phone number `index`, below 1,000,000, on the second link: from 100.65.0.1 on, and
/// the same number behind fd01:1::.
pub(crate) fn second_addresses(index: u32) -> [IpAddr; 2] {
    assert!(index < SECOND_PHONES_MAX, "a second link has at most {SECOND_PHONES_MAX} phones");
    numbered(Ipv4Addr::new(100, 65, 0, 1), Ipv6Addr::new(0xfd01, 1, 0, 0, 0, 0, 0, 1), index)
}

/// The addresses of phone number `index` in `networks` networks, in the order of its moves: first
/// its [`phone_addresses`], then further ones in 172.16.0.0/12 and behind fd00:2::. A phone that
/// moves has a number below 10,000, and is in at most 101 networks.
pub(crate) fn phone_networks(index: u32, networks: u32) -> Vec<Vec<IpAddr>> {
    let at_home = phone_addresses(index).to_vec();
    let away = |network: u32| {
        assert!(network <= MOVES_MAX && index < MOVING_PHONES_MAX, "addresses have run out");
        let v4 = Ipv4Addr::new(172, 16, 0, 0).to_bits() + index * MOVES_MAX + network - 1;
        let v6 = Ipv6Addr::new(0xfd00, 2, 0, 0, 0, 0, 0, 0).to_bits()
            + (u128::from(index) << 32)
            + u128::from(network);
        vec![Ipv4Addr::from_bits(v4).into(), Ipv6Addr::from_bits(v6).into()]
    };
    iter::once(at_home).chain((1..networks).map(away)).collect()
}

/// Limited by the addresses in 172.16.0.0/12; workloads do not ask for more.
const MOVES_MAX: u32 = 100;
const MOVING_PHONES_MAX: u32 = 10_000;

const MAX_PHONES: u32 = 16_000_000;
const SECOND_PHONES_MAX: u32 = 1_000_000;
