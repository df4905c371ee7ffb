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
    /// Where each path of the phones begins: at their hosts, which are the same for all paths, or at edges, of
    /// which each has one link.
    pub begins: Vec<Vec<NodeId>>,
    /// The server's host.
    pub server: NodeId,
    /// The link between phones and server of each path; forward is from the phones.
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
    /// Builds the network of `plan` for these clients, with hosts or edges at its ends. Several paths meet at a
    /// router in front of the server, and each phone has addresses on each ([`path_addresses`]). One phone without
    /// an access link or medium is joined to the link of each path directly; otherwise phones meet at a router in
    /// front of it, and share the medium if there is one. Access links lead to the first.
    pub fn build(plan: &NetworkPlan, clients: &Clients<'_>, seed: &Seed, ends: Ends) -> Track {
        let mut builder = NetworkBuilder::default();
        let server = ends.place(&mut builder, SERVER_NAME.to_owned());
        let most = |way: usize| plan.paths.iter().map(|path| path.mtu[way]).max().unwrap_or(0);
        let wire = || wire([most(0), most(1)], seed);
        let server_end = End::new(server, SERVER_ADDRESSES);
        let far = match plan.paths.len() {
            1 => server_end,
            _ => {
                let crossing = End::new(builder.router("crossing"), []);
                builder.connect(crossing.clone(), server_end, wire());
                crossing
            }
        };
        let is_alone = clients.count() == 1 && clients.access().flatten().count() == 0;
        let is_direct = is_alone && plan.medium.is_none();
        let (mut begins, mut links, mut stations) = (Vec::new(), Vec::new(), Vec::new());
        for (path, link) in plan.paths.iter().enumerate() {
            let (nodes, mut phones) =
                phones_of(&mut builder, begins.first(), path, (clients, ends));
            begins.push(nodes);
            let link = duplex(link, &seed.child(&of_path(path, "link")));
            if let Some(phone) = phones.pop_if(|_| is_direct) {
                links.push(builder.connect(phone, far.clone(), link));
                continue;
            }
            let router = builder.router(of_path(path, "access point"));
            links.push(builder.connect(End::new(router, []), far.clone(), link));
            let first = stations.len();
            for ((index, phone), access) in (0..).zip(phones).zip(clients.access()) {
                let seed = seed.child(&format!("access/{index}"));
                let own = access.filter(|_| path == 0);
                let own = own.map_or_else(wire, |access| duplex(access, &seed));
                stations.push(builder.connect(phone, End::new(router, []), own));
            }
            if let Some(medium) = &plan.medium {
                let seed = match plan.paths.len() {
                    1 => seed.child("medium"),
                    _ => seed.child(&format!("medium/{path}")),
                };
                let medium = medium.build(&clients.stations(plan, path), &seed);
                builder.share(medium, stations[first..].to_vec());
            }
        }
        let network = builder.build().expect("names and addresses differ, and the plan has an MTU");
        Track { network, begins, server, links, stations }
    }

    /// The phones' hosts, or the edges of their first path.
    pub fn phones(&self) -> &[NodeId] {
        &self.begins[0]
    }
}

/// The phones at the begin of a path, and their ends there.
fn phones_of(
    builder: &mut NetworkBuilder,
    hosts: Option<&Vec<NodeId>>,
    path: usize,
    (clients, ends): (&Clients<'_>, Ends),
) -> (Vec<NodeId>, Vec<End>) {
    let mut place = |index| ends.place(builder, of_path(path, &phone_name(index)));
    let nodes: Vec<NodeId> = match hosts {
        Some(hosts) if ends == Ends::Hosts => hosts.clone(),
        _ => (0..clients.count()).map(&mut place).collect(),
    };
    let end = |(index, node): (u32, &NodeId)| {
        End::new(*node, own_addresses(path, index, clients.networks))
    };
    let begins = (0..).zip(&nodes).map(end).collect();
    (nodes, begins)
}

/// What a part of the first path is called there is called differently on further ones.
fn of_path(path: usize, name: &str) -> String {
    match path {
        0 => name.to_owned(),
        1 => format!("second-{name}"),
        _ => format!("{name} {}", path + 1),
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

/// The addresses of phone number `index` on a path, counted from 0: 10.1.0.1 onwards, on the second 100.65.0.1
/// onwards, and so on, and the same number behind fd00:1::, fd01:1:: and so on; for numbers below 16,000,000, or
/// 1,000,000 on further paths.
pub(crate) fn path_addresses(path: usize, index: u32) -> [IpAddr; 2] {
    let path = u8::try_from(path).expect("a track has few paths");
    let most = if path == 0 { MAX_PHONES } else { SECOND_PHONES_MAX };
    assert!(index < most && path < 5, "a path has at most {most} phones, a phone five paths");
    let v4 = match path {
        0 => Ipv4Addr::new(10, 1, 0, 1),
        _ => Ipv4Addr::new(100, 49 + 16 * path, 0, 1),
    };
    let v6 = Ipv6Addr::new(0xfd00 + u16::from(path), 1, 0, 0, 0, 0, 0, 1);
    let v4 = Ipv4Addr::from_bits(v4.to_bits() + index);
    let v6 = Ipv6Addr::from_bits(v6.to_bits() + u128::from(index));
    [v4.into(), v6.into()]
}

/// All addresses of a phone on a path during a run. It moves between networks on the first.
pub(crate) fn own_addresses(path: usize, index: u32, networks: u32) -> Vec<IpAddr> {
    match path {
        0 => phone_networks(index, networks).concat(),
        _ => path_addresses(path, index).to_vec(),
    }
}

/// The addresses of phone number `index` in `networks` networks, in the order of its moves: first
/// its [`path_addresses`], then further ones in 172.16.0.0/12 and behind fd00:2::. A phone that
/// moves has a number below 10,000, and is in at most 101 networks.
pub(crate) fn phone_networks(index: u32, networks: u32) -> Vec<Vec<IpAddr>> {
    let at_home = path_addresses(0, index).to_vec();
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
