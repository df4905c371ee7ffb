//! Random networks: routes are shortest, nothing appears or vanishes, and a seed determines
//! everything.

use crate::harness::*;
use crate::topology::drain;

/// A random tree of routers with some links more, a host at each router, and the distances
/// between routers by Floyd and Warshall.
struct Graph {
    network: Network,
    hosts: Vec<NodeId>,
    distances: Vec<Vec<u64>>,
}

impl Graph {
    fn random(rng: &mut Rng, mut link: impl FnMut(&mut Rng) -> Duplex) -> Graph {
        let size = 2 + rng.below(12) as usize;
        let mut builder = NetworkBuilder::default();
        let routers: Vec<NodeId> = (0..size).map(|n| builder.router(format!("r{n}"))).collect();
        let mut distances = vec![vec![1_000; size]; size];
        (0..size).for_each(|n| distances[n][n] = 0);
        let tree = (1..size).map(|n| (n, rng.below(n as u64) as usize)).collect::<Vec<_>>();
        let random =
            |rng: &mut Rng| (rng.below(size as u64) as usize, rng.below(size as u64) as usize);
        let more =
            (0..rng.below(8)).map(|_| random(rng)).filter(|(a, b)| a != b).collect::<Vec<_>>();
        for (a, b) in tree.into_iter().chain(more) {
            builder.connect(End::new(routers[a], []), End::new(routers[b], []), link(rng));
            (distances[a][b], distances[b][a]) = (1, 1);
        }
        for (via, from, to) in triples(size) {
            distances[from][to] =
                distances[from][to].min(distances[from][via] + distances[via][to]);
        }
        let hosts = (0..size).map(|n| {
            let host = builder.host(format!("h{n}"));
            builder.connect(End::new(host, [ip(&address(n))]), End::new(routers[n], []), link(rng));
            host
        });
        let hosts = hosts.collect();
        Graph { network: builder.build().unwrap(), hosts, distances }
    }
}

fn triples(size: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..size.pow(3)).map(move |n| (n / (size * size), n / size % size, n % size))
}

fn address(host: usize) -> String {
    format!("10.0.{host}.1")
}

#[test]
fn every_way_is_a_shortest_one() {
    let millisecond = LinkSpec::new().then(Delay::fixed(ms(1)));
    for run in 0..40 {
        let mut rng = Seed::of_run(31, run).stream("graph");
        let link = |_: &mut Rng| Duplex::new(&millisecond, &millisecond, &Seed::of_run(1, 0));
        let Graph { mut network, hosts, distances } = Graph::random(&mut rng, link);
        let mut now = Time::ZERO;
        for (from, to) in (0..hosts.len().pow(2)).map(|n| (n / hosts.len(), n % hosts.len())) {
            network.send(now, hosts[from], datagram(&address(from), &address(to), 100));
            let [Delivery { at, node, .. }] = &drain(&mut network)[..] else {
                panic!("run {run}: the packet from {from} to {to} does not arrive alone");
            };
            assert_eq!(*node, hosts[to], "run {run}");
            if from != to {
                assert_eq!(*at - now, ms(1) * (2 + distances[from][to] as u32), "run {run}");
            }
            now = *at;
        }
    }
}

/// Random traffic over bad links; checks the balance of every link during the run.
fn bad_day(run: u64) -> Vec<Delivery> {
    let mut rng = Seed::of_run(32, run).stream("graph");
    let Graph { mut network, hosts, .. } = Graph::random(&mut rng, bad_link);
    let mut deliveries = Vec::new();
    let mut now = Time::ZERO;
    for _ in 0..400 {
        now += us(rng.below(300));
        let (from, to) =
            (rng.below(hosts.len() as u64) as usize, rng.below(hosts.len() as u64) as usize);
        let len = 40 + rng.below(1_461) as usize;
        network.send(now, hosts[from], datagram(&address(from), &address(to), len));
        check_balance(&network);
        deliveries.extend(std::iter::from_fn(|| network.poll_delivery()));
    }
    deliveries.extend(drain(&mut network));
    check_balance(&network);
    assert_eq!(network.links().map(|link| held(&network, link)).sum::<usize>(), 0);
    deliveries
}

fn bad_link(rng: &mut Rng) -> Duplex {
    let rate = Bitrate::from_bps(2_000_000 + rng.below(20_000_000));
    let codel = Codel { target: us(500), interval: ms(5), ..Codel::default() };
    let rate = match rng.below(3) {
        0 => Rate::new(rate, DropTail::of_packets(4)),
        1 => Rate::new(rate, codel),
        _ => {
            Rate::new(rate, FqCodel { codel: Codel { packets: 9, ..codel }, ..FqCodel::default() })
        }
    };
    let spec = LinkSpec::new().then(rate);
    let spec = spec
        .with(Loss::bernoulli(Ratio::from_parts(rng.below(20), 100)))
        .with(Duplication { probability: Ratio::from_parts(rng.below(20), 100) })
        .with(Delay::new(Uniform::new(us(100), ms(3)).unwrap()).with_overtaking());
    Duplex::new(&spec, &spec, &Seed::of_run(rng.next_u64(), 0))
}

fn held(network: &Network, link: LinkId) -> usize {
    network.held(link, Direction::Forward) + network.held(link, Direction::Backward)
}

fn check_balance(network: &Network) {
    for link in network.links() {
        for direction in [Direction::Forward, Direction::Backward] {
            let counters = network.counters(link, direction);
            let entered =
                counters.offered.packets + counters.altered(Alteration::Duplicated).packets;
            let left = counters.delivered.packets + counters.dropped_in_all().packets;
            assert_eq!(entered, left + network.held(link, direction) as u64);
        }
    }
}

#[test]
fn bad_links_balance_their_books_and_repeat_themselves() {
    let mut different = 0;
    for run in 0..30 {
        let first = bad_day(run);
        assert!(first.windows(2).all(|pair| pair[0].at <= pair[1].at), "run {run}");
        assert!(first == bad_day(run), "run {run}");
        different += usize::from(first != bad_day(run + 1_000));
    }
    assert_eq!(different, 30);
}
