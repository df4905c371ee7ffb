//! Hostile clients: noise, damaged packets, packets that arrive byte by byte or never end.

use trackbed_core::Rng;
use trackbed_mqtt::broker::{Broker, Flow};

use crate::world::*;

/// A client's bytes in a session that uses all features.
fn session(version: Version) -> Vec<u8> {
    let mut broker = Broker::new(Limits::default());
    let at = broker.open(Time::ZERO).unwrap();
    let mut client = Client::new(named(version, "c"));
    client.connect(Time::ZERO).unwrap();
    let mut said = Vec::new();
    for round in 0..8 {
        match round {
            2 => {
                let wanted = vec![Subscription::new("a/#", Qos::ExactlyOnce)];
                client.subscribe(wanted, None, Time::ZERO).unwrap();
            }
            3 => {
                for qos in Qos::ALL {
                    let message = Message { retain: true, ..message("a/b", "text", *qos) };
                    client.publish(message, 0, Time::ZERO).unwrap();
                }
            }
            6 => drop(client.unsubscribe(vec!["a/#".to_owned()], Time::ZERO).unwrap()),
            _ => {}
        }
        let bytes = std::mem::take(client.output());
        broker.receive(at, &bytes, Time::ZERO);
        said.extend(bytes);
        let mut down = Vec::new();
        broker.take_output(at, Time::ZERO, &mut down);
        client.receive(&down, Time::ZERO);
    }
    client.disconnect();
    said.extend(std::mem::take(client.output()));
    assert!(said.len() > 60);
    said
}

fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len().max(1) as u64) as usize;
        match rng.below(5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.below(256) as u8,
            2 => bytes.truncate(at),
            3 => bytes.insert(at.min(bytes.len()), rng.below(256) as u8),
            _ => {
                let end = (at + rng.below(20) as usize).min(bytes.len());
                bytes.extend(bytes[at.min(end)..end].to_vec());
            }
        }
    }
}

/// Whatever arrives, the broker keeps serving a correct client.
#[test]
fn damaged_sessions_and_noise_harm_no_other_client() {
    let mut world = World::new(Limits { retained: 50, sessions: 50, ..Limits::default() });
    let peer = world.join(named(Version::V5, "honest"));
    world.subscribe(peer, "honest", Qos::AtLeastOnce);
    let sessions = Version::ALL.iter().map(|version| session(*version)).collect::<Vec<_>>();
    let mut rng = Seed::of_run(1, 0).stream("noise");
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut bytes = sessions[rng.below(2) as usize].clone();
        match round % 10 {
            0 => rng.fill(&mut bytes),
            // A session is longer.
            1 => rng.fill(&mut bytes[40..]),
            _ => damage(&mut bytes, &mut rng),
        }
        let at = world.broker.open(world.now).unwrap();
        let piece = 1 + rng.below(100) as usize;
        for piece in bytes.chunks(piece) {
            world.broker.receive(at, piece, world.now);
        }
        let mut answer = Vec::new();
        let flow = world.broker.take_output(at, world.now, &mut answer);
        accepted += u32::from(answer.starts_with(&[0x20]));
        assert!(answer.len() < 100_000);
        if flow == Flow::Closing || rng.below(2) == 0 {
            world.broker.close(at, world.now);
        } else {
            world.after(Duration::from_secs(100));
            world.broker.close(at, world.now);
        }
        if round % 100 == 0 {
            world.publish(peer, message("honest", &round.to_string(), Qos::AtLeastOnce));
            assert_eq!(world.texts(peer), [format!("honest={round}")]);
        }
    }
    assert!(accepted > 5_000, "most of them get to say something: {accepted}");
    assert!(world.broker.sessions() <= 50 && world.broker.retained() <= 50);
}

/// Our client receives garbage in place of a broker's answers.
#[test]
fn a_client_survives_a_broker_that_talks_nonsense() {
    let mut rng = Seed::of_run(2, 0).stream("noise");
    let connack = [0x20, 3, 0, 0, 0];
    for _ in 0..20_000 {
        let mut client = Client::new(named(Version::V5, "c"));
        client.connect(Time::ZERO).unwrap();
        let mut bytes = connack.to_vec();
        bytes.extend(session_of_broker(&mut rng));
        damage(&mut bytes, &mut rng);
        client.receive(&bytes, Time::ZERO);
        while client.next_event().is_some() {}
        client.output().clear();
    }
}

/// Packets of all kinds with contents of any kind.
fn session_of_broker(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + rng.below(5) {
        let mut body = vec![0; rng.below(30) as usize];
        rng.fill(&mut body);
        bytes.push((rng.below(16) << 4) as u8 | [0, 2, rng.below(16) as u8][rng.below(3) as usize]);
        bytes.push(body.len() as u8);
        bytes.extend(body);
    }
    bytes
}

/// One byte a second: the CONNECT does not arrive in time, nor does a packet after it.
#[test]
fn slow_clients_are_disconnected() {
    let hello = {
        let mut client = Client::new(Settings { keep_alive_secs: 0, ..named(Version::V5, "slow") });
        client.connect(Time::ZERO).unwrap();
        std::mem::take(client.output())
    };
    let mut world = World::new(Limits::default());
    let at = world.broker.open(world.now).unwrap();
    let mut lived = 0;
    for byte in &hello {
        world.broker.receive(at, &[*byte], world.now);
        world.after(Duration::from_secs(1));
        if world.broker.take_output(at, world.now, &mut Vec::new()) == Flow::Closing {
            break;
        }
        lived += 1;
    }
    assert_eq!(lived, 9, "it has 10 s");

    let at = world.broker.open(world.now).unwrap();
    world.broker.receive(at, &hello, world.now);
    world.broker.receive(at, &[0x30, 0xff, 0x7f], world.now);
    for second in 0..100 {
        world.broker.receive(at, &[0], world.now);
        world.after(Duration::from_secs(1));
        let flow = world.broker.take_output(at, world.now, &mut Vec::new());
        assert_eq!(flow == Flow::Closing, second >= 59, "after {second} s");
        if flow == Flow::Closing {
            break;
        }
    }
}
