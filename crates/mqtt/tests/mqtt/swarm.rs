//! Many clients whose connections break at any byte: QoS 1 arrives at least once, QoS 2 exactly once,
//! and each publisher's messages of one topic and QoS arrive in their order.

use std::collections::BTreeMap;

use crate::world::*;

const PUBLISHERS: usize = 4;
const SUBSCRIBERS: usize = 4;
const TOPICS: u64 = 3;

/// How often each message came to one subscriber, and in which order the first of them.
type Got = BTreeMap<(usize, u64, Qos), Vec<u64>>;

fn play(run: u64) {
    let mut rng = Seed::of_run(run, 0).stream("swarm");
    let limits = Limits { in_flight: 1 + rng.below(20) as usize, ..Limits::default() };
    let mut world = World::new(limits);
    for index in 0..PUBLISHERS + SUBSCRIBERS {
        let version = Version::ALL[rng.below(2) as usize];
        let receive_maximum = 1 + rng.below(10) as u16;
        world.join(Settings { receive_maximum, ..lasting(version, &format!("c{index}")) });
        if index >= PUBLISHERS {
            world.subscribe(index, "s/#", Qos::ExactlyOnce);
        }
    }
    let mut sent: BTreeMap<(usize, u64, Qos), u64> = BTreeMap::new();
    let mut got = vec![Got::new(); SUBSCRIBERS];
    for _ in 0..2_000 {
        let index = rng.below((PUBLISHERS + SUBSCRIBERS) as u64) as usize;
        match rng.below(20) {
            0 => {
                world.cut(index);
                world.connect(index);
            }
            1 => world.after(Duration::from_millis(rng.below(2_000))),
            2..=7 if index < PUBLISHERS => {
                let topic = rng.below(TOPICS);
                let qos = Qos::ALL[1 + rng.below(2) as usize];
                let count = sent.entry((index, topic, qos)).or_default();
                let text = format!("{index} {topic} {count}");
                *count += 1;
                let message = message(&format!("s/{index}/{topic}"), &text, qos);
                world.peers[index].client.publish(message, 0, world.now).unwrap();
            }
            _ => {
                world.step_of(index, 1 + rng.below(200) as usize, 1 + rng.below(200) as usize);
            }
        }
        note(&mut world, &mut got);
    }
    // The network heals: all clients reconnect, and everything arrives.
    for index in 0..PUBLISHERS + SUBSCRIBERS {
        world.cut(index);
        world.connect(index);
    }
    world.run();
    note(&mut world, &mut got);
    assert_eq!(world.broker.counters().dropped, 0);
    assert!(world.peers[..PUBLISHERS].iter().all(|peer| peer.client.unacknowledged() == 0));
    for (subscriber, got) in got.iter().enumerate() {
        for ((publisher, topic, qos), count) in &sent {
            let case = format!("run {run}: {subscriber} from {publisher}, topic {topic}, {qos:?}");
            let arrived = got.get(&(*publisher, *topic, *qos)).cloned().unwrap_or_default();
            let expected: Vec<u64> = (0..*count).collect();
            if *qos == Qos::ExactlyOnce {
                assert_eq!(arrived, expected, "{case}");
            }
            let mut first = Vec::new();
            for number in arrived {
                // Section 4.6: a retransmission may arrive after what was sent after the original.
                if !first.contains(&number) {
                    first.push(number);
                }
            }
            assert_eq!(first, expected, "{case}");
        }
    }
}

fn note(world: &mut World, got: &mut [Got]) {
    for (index, got) in got.iter_mut().enumerate() {
        for message in world.messages(PUBLISHERS + index) {
            let text = String::from_utf8(message.payload.as_ref().to_vec()).unwrap();
            let mut words = text.split(' ').map(|word| word.parse::<u64>().unwrap());
            let mut next = || words.next().unwrap();
            got.entry((next() as usize, next(), message.qos)).or_default().push(next());
        }
    }
}

#[test]
fn nothing_is_lost_doubled_or_turned_around() {
    for run in 0..60 {
        play(run);
    }
}
