//! Links that share a medium: a network passes packets to it, and from it to the links behind.

use trackbed_net::medium::{Medium, MediumOutlet, Way};

use crate::harness::*;
use crate::topology::drain;

/// Sends one packet at a time, each for a millisecond, of all stations; drops what would be the third
/// to wait.
#[derive(Debug, Default)]
struct OneAtATime {
    waiting: VecDeque<(Way, Packet)>,
    free_at: Option<Time>,
}

impl Medium for OneAtATime {
    fn push(&mut self, now: Time, way: Way, packet: Packet, out: &mut dyn MediumOutlet) {
        if self.waiting.len() == 3 {
            return out.drop(now, way, packet, DropReason::QueueFull);
        }
        self.waiting.push_back((way, packet));
        self.free_at.get_or_insert(now + ms(1));
    }

    fn advance(&mut self, now: Time, out: &mut dyn MediumOutlet) {
        while let Some(at) = self.free_at.filter(|at| *at <= now) {
            let (way, packet) = self.waiting.pop_front().unwrap();
            out.deliver(at, way, packet);
            self.free_at = (!self.waiting.is_empty()).then_some(at + ms(1));
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.free_at
    }

    fn held(&self, way: Way) -> usize {
        self.waiting.iter().filter(|(whose, _)| *whose == way).count()
    }
}

#[test]
fn stations_wait_for_each_other_in_both_directions() {
    let mut builder = NetworkBuilder::default();
    let (mast, server) = (builder.router("mast"), builder.host("server"));
    let names = ["10.0.0.1", "10.0.0.2"];
    let stations = names.map(|address| {
        let node = builder.host(address);
        let behind = LinkSpec::new().then(Delay::fixed(ms(10)));
        let link = Duplex::new(&behind, &behind, &Seed::of_run(1, 0));
        (node, builder.connect(End::new(node, [ip(address)]), End::new(mast, []), link))
    });
    let wire = Duplex::new(&LinkSpec::new(), &LinkSpec::new(), &Seed::of_run(1, 0));
    builder.connect(End::new(mast, []), End::new(server, [ip("10.1.0.1")]), wire);
    builder.share(Box::new(OneAtATime::default()), stations.map(|(_, link)| link).into());
    let mut network = builder.build().unwrap();

    network.send(Time::ZERO, stations[0].0, datagram(names[0], "10.1.0.1", 100));
    network.send(Time::ZERO, server, datagram("10.1.0.1", names[1], 100));
    network.send(Time::ZERO, stations[1].0, datagram(names[1], "10.1.0.1", 100));
    network.send(Time::ZERO, stations[1].0, datagram(names[1], "10.1.0.1", 100));
    let link = stations[1].1;
    assert_eq!(network.held(link, Direction::Forward), 1);
    assert_eq!(network.held(link, Direction::Backward), 1);

    let arrived: Vec<_> = drain(&mut network).iter().map(|one| (one.node, one.at)).collect();
    let at = Time::from_millis;
    assert_eq!(arrived, [(server, at(11)), (stations[1].0, at(12)), (server, at(13))]);
    let counters = network.counters(link, Direction::Forward);
    assert_eq!((counters.offered.packets, counters.delivered.packets), (2, 1));
    assert_eq!(counters.dropped(DropReason::QueueFull).packets, 1);

    network.send(at(20), stations[0].0, datagram(names[0], "10.1.0.1", 100));
    network.drain(ms(5));
    assert_eq!(network.held(stations[0].1, Direction::Forward), 1, "it is on the link behind");
}
