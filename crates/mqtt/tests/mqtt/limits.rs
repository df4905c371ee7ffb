//! What goes beyond a limit is refused with its reason, or dropped and counted.

use Qos::{AtLeastOnce, AtMostOnce};
use Version::V5;

use trackbed_mqtt::broker::Flow;

use crate::world::*;

#[test]
fn each_limit_has_its_reason() {
    let limits = Limits {
        sessions: 2,
        packet_len: 1_000,
        client_id_len: 10,
        topic_levels: 3,
        subscriptions: 2,
        retained: 1,
        ..Limits::default()
    };
    let mut world = World::new(limits);
    let peer = world.join(named(V5, "p"));
    world.publish(peer, message("a/b/c/d", "x", AtLeastOnce));
    world.publish(peer, message("$SYS/x", "x", AtLeastOnce));
    for topic in ["r", "s"] {
        world.publish(peer, Message { retain: true, ..message(topic, "x", AtLeastOnce) });
    }
    let answers = world.acknowledgements(peer);
    let quiet = Reason::NO_MATCHING_SUBSCRIBERS;
    assert_eq!(
        answers,
        [Reason::TOPIC_NAME_INVALID, Reason::NOT_AUTHORIZED, quiet, Reason::QUOTA_EXCEEDED]
    );
    assert_eq!(world.subscribe(peer, "a", AtMostOnce), [Reason::SUCCESS]);
    assert_eq!(world.subscribe(peer, "b", AtMostOnce), [Reason::SUCCESS]);
    assert_eq!(world.subscribe(peer, "c", AtMostOnce), [Reason::QUOTA_EXCEEDED]);
    assert_eq!(world.subscribe(peer, "a", AtLeastOnce), [Reason(1)], "it is no new one");
    assert_eq!(world.subscribe(peer, "+/+/+/#", AtMostOnce), [Reason::TOPIC_FILTER_INVALID]);

    let long = world.join(named(V5, "a long name"));
    assert_eq!(world.ended(long), Some(Reason::CLIENT_IDENTIFIER_NOT_VALID));
    world.join(named(V5, "q"));
    let third = world.join(named(V5, "r"));
    assert_eq!(world.ended(third), Some(Reason::QUOTA_EXCEEDED));

    // The client knows how much is taken, and sends no more.
    let long = Message::new("a", [0; 1_000]);
    assert!(world.peers[peer].client.publish(long, 0, world.now).is_err());
}

/// Section 4.9.
#[test]
fn a_client_gets_no_more_at_once_than_it_takes() {
    let mut world = World::new(Limits::default());
    let publisher = world.join(named(V5, "p"));
    let subscriber = world.join(Settings { receive_maximum: 3, ..lasting(V5, "s") });
    world.subscribe(subscriber, "a", Qos::ExactlyOnce);
    for n in 0..50 {
        let message = message("a", &n.to_string(), Qos::ExactlyOnce);
        world.peers[publisher].client.publish(message, 0, world.now).unwrap();
    }
    // The client would end the connection if there were a fourth.
    world.run();
    let expected: Vec<String> = (0..50).map(|n| format!("a={n}")).collect();
    assert_eq!(world.texts(subscriber), expected);
    assert_eq!(world.ended(subscriber), None);
}

#[test]
fn packets_longer_than_a_client_takes_do_not_reach_it() {
    let mut world = World::new(Limits::default());
    let publisher = world.join(named(V5, "p"));
    let subscriber = world.join(Settings { packet_len: 100, ..named(V5, "s") });
    world.subscribe(subscriber, "a", AtLeastOnce);
    for text in ["x".repeat(200), "y".to_owned()] {
        world.publish(publisher, message("a", &text, AtLeastOnce));
    }
    assert_eq!(world.texts(subscriber), ["a=y"]);
    assert_eq!(world.broker.counters().dropped, 1);
}

/// A client that is away has its queue; one that reads nothing loses messages of QoS 0 and has the
/// others queued.
#[test]
fn slow_and_absent_subscribers_cost_what_they_may() {
    let mut world = World::new(Limits { queue_len: 20, output_bytes: 1_000, ..Limits::default() });
    let publisher = world.join(named(V5, "p"));
    let absent = world.join(lasting(V5, "s"));
    world.subscribe(absent, "a", AtLeastOnce);
    world.cut(absent);
    for n in 0..30 {
        world.publish(publisher, message("a", &n.to_string(), AtLeastOnce));
    }
    assert_eq!(world.broker.counters().dropped, 10);
    world.connect(absent);
    world.run();
    assert_eq!(world.texts(absent).len(), 20);

    let slow = world.join(named(V5, "t"));
    world.subscribe(slow, "b", AtLeastOnce);
    let before = world.broker.counters();
    for n in 0..40 {
        let mut text = n.to_string();
        text.push_str(&"x".repeat(100));
        for qos in [AtMostOnce, AtLeastOnce] {
            world.peers[publisher].client.publish(message("b", &text, qos), 0, world.now).unwrap();
        }
    }
    // The publisher's bytes arrive, the subscriber reads nothing.
    world.step_of(publisher, usize::MAX, usize::MAX);
    let after = world.broker.counters();
    assert!(after.dropped_qos0 > before.dropped_qos0, "{after:?}");
    assert!(after.dropped > before.dropped, "{after:?}");
    world.run();
    let got = world.messages(slow);
    let sure = got.iter().filter(|message| message.qos == AtLeastOnce).count() as u64;
    assert_eq!(sure + after.dropped - before.dropped, 40);
}

/// All sessions together; each may always have 16 KiB, here five messages.
#[test]
fn the_messages_of_all_sessions_share_a_limit() {
    let mut world = World::new(Limits { waiting_bytes: 50_000, ..Limits::default() });
    let publisher = world.join(named(V5, "p"));
    for name in ["s", "t", "u"] {
        let absent = world.join(lasting(V5, name));
        world.subscribe(absent, "a", AtLeastOnce);
        world.cut(absent);
    }
    for _ in 0..30 {
        world.publish(publisher, message("a", &"x".repeat(4_000), AtLeastOnce));
    }
    assert_eq!(world.broker.counters().dropped, 3 * 30 - 3 * 5);
}

#[test]
fn no_more_connections_than_allowed_are_opened() {
    let mut world = World::new(Limits { connections: 3, ..Limits::default() });
    let all: Vec<_> = (0..5).map(|_| world.broker.open(world.now)).collect();
    assert_eq!(all.iter().flatten().count(), 3);
    // None of them ever sends anything.
    world.after(Duration::from_secs(10));
    let closing: Vec<_> = std::iter::from_fn(|| world.broker.next_ready()).collect();
    assert_eq!(closing.len(), 3);
    for id in closing {
        world.broker.close(id, world.now);
    }
    assert!(world.broker.open(world.now).is_some());
}

/// One byte a second: the CONNECT does not arrive in time, nor does a packet after it.
#[test]
fn slow_clients_are_disconnected() {
    let hello = {
        let mut client = Client::new(Settings { keep_alive_secs: 0, ..named(V5, "slow") });
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
