//! What the specifications promise, in both versions.

use std::sync::Arc;

use trackbed_mqtt::Properties;
use trackbed_mqtt::packet::RetainHandling;

use Qos::{AtLeastOnce, AtMostOnce, ExactlyOnce};
use Version::V5;

use crate::world::*;

fn world() -> World {
    World::new(Limits::default())
}

/// Section 3.8.4: the lower of the published and the requested QoS.
#[test]
fn every_quality_is_delivered_up_to_what_was_asked_for() {
    for from in Version::ALL {
        for to in Version::ALL {
            let mut world = world();
            let publisher = world.join(named(*from, "p"));
            let subscriber = world.join(named(*to, "s"));
            for asked in Qos::ALL {
                assert_eq!(world.subscribe(subscriber, "a/+", *asked), [Reason(*asked as u8)]);
                for sent in Qos::ALL {
                    world.publish(publisher, message("a/b", "x", *sent));
                    let got = world.messages(subscriber);
                    assert_eq!(got.len(), 1);
                    assert_eq!((got[0].qos, got[0].retain), ((*sent).min(*asked), false));
                    let acknowledged = world.acknowledgements(publisher);
                    let expected = if *sent == AtMostOnce { 0 } else { 1 };
                    assert_eq!(acknowledged, vec![Reason::SUCCESS; expected]);
                }
            }
            assert_eq!(world.peers[publisher].client.unacknowledged(), 0);
        }
    }
}

#[test]
fn no_subscribers_are_reported_in_version_5() {
    let mut world = world();
    let peer = world.join(named(V5, "p"));
    world.publish(peer, message("a", "x", AtLeastOnce));
    world.publish(peer, message("a", "x", ExactlyOnce));
    assert_eq!(world.acknowledgements(peer), [Reason::NO_MATCHING_SUBSCRIBERS, Reason::SUCCESS]);
}

/// Section 3.3.1.3.
#[test]
fn retained_messages_wait_for_later_subscribers_until_an_empty_one() {
    for version in Version::ALL {
        let mut world = world();
        let publisher = world.join(named(*version, "p"));
        let keep = |text| Message { retain: true, ..message("r/a", text, AtLeastOnce) };
        world.publish(publisher, keep("old"));
        world.publish(publisher, keep("new"));
        world.publish(publisher, Message { retain: true, ..message("r/b", "b", AtMostOnce) });
        assert_eq!(world.broker.retained(), 2);
        let subscriber = world.join(named(*version, "s"));
        world.subscribe(subscriber, "r/#", ExactlyOnce);
        let got = world.messages(subscriber);
        assert!(got.iter().all(|message| message.retain));
        let texts: Vec<_> = got.iter().map(|m| (&*m.topic, m.payload.as_ref(), m.qos)).collect();
        let expected: [(&str, &[u8], Qos); 2] =
            [("r/a", b"new", AtLeastOnce), ("r/b", b"b", AtMostOnce)];
        assert_eq!(texts, expected);
        world.publish(publisher, keep("live"));
        assert!(!world.messages(subscriber)[0].retain, "who has subscribed gets it as any other");
        world.publish(publisher, keep(""));
        assert_eq!(world.broker.retained(), 1);
        world.messages(subscriber);
        world.subscribe(subscriber, "r/a", AtMostOnce);
        assert!(world.messages(subscriber).is_empty());
    }
}

#[test]
fn subscription_options_of_version_5() {
    let mut world = world();
    let peer = world.join(named(V5, "p"));
    let other = world.join(named(V5, "o"));
    let wanted = |filter: &str| Subscription::new(filter, AtLeastOnce);
    world.subscribe_as(peer, Subscription { no_local: true, ..wanted("n") }, None);
    world.publish(peer, message("n", "mine", AtLeastOnce));
    world.publish(other, message("n", "theirs", AtLeastOnce));
    assert_eq!(world.texts(peer), ["n=theirs"]);

    world.publish(other, Message { retain: true, ..message("k", "1", AtLeastOnce) });
    let handling = |retain_handling| Subscription { retain_handling, ..wanted("k") };
    world.subscribe_as(peer, handling(RetainHandling::Never), None);
    assert!(world.texts(peer).is_empty());
    world.subscribe_as(peer, handling(RetainHandling::IfNew), None);
    assert!(world.texts(peer).is_empty(), "it is not new");
    world.subscribe_as(peer, handling(RetainHandling::Always), None);
    assert_eq!(world.texts(peer), ["k=1"]);
    world.subscribe_as(other, handling(RetainHandling::IfNew), None);
    assert_eq!(world.texts(other), ["k=1"]);

    world.subscribe_as(peer, Subscription { retain_as_published: true, ..wanted("q") }, None);
    world.publish(other, Message { retain: true, ..message("q", "1", AtLeastOnce) });
    assert!(world.messages(peer)[0].retain);
}

/// Section 3.3.4: one copy, with the best QoS and the identifiers of all subscriptions that match.
#[test]
fn overlapping_subscriptions_are_one_delivery_with_all_identifiers() {
    let mut world = world();
    let peer = world.join(named(V5, "p"));
    world.subscribe_as(peer, Subscription::new("a/#", AtMostOnce), Some(7));
    world.subscribe_as(peer, Subscription::new("a/+", ExactlyOnce), Some(200));
    world.subscribe_as(peer, Subscription::new("a/b", AtLeastOnce), None);
    world.publish(peer, message("a/b", "x", ExactlyOnce));
    let received = world.peers[peer].events.iter().filter_map(|event| match event {
        Event::Received { message, subscriptions } => Some((message.qos, subscriptions.clone())),
        _ => None,
    });
    let mut received: Vec<_> = received.collect();
    received[0].1.sort_unstable();
    assert_eq!(received, [(ExactlyOnce, vec![7, 200])]);
}

#[test]
fn what_a_message_says_is_handed_on_and_an_alias_stands_for_a_topic() {
    let mut world = world();
    let peer = world.join(named(V5, "p"));
    world.subscribe(peer, "a", AtLeastOnce);
    let properties = Properties {
        is_text: Some(true),
        content_type: Some("text/plain".to_owned()),
        response_topic: Some("answers/p".to_owned()),
        correlation_data: Some(vec![0, 1, 255]),
        user: vec![("k".to_owned(), "v".to_owned()), ("k".to_owned(), "w".to_owned())],
    };
    let sent = Message { properties: Arc::new(properties), ..message("a", "x", AtLeastOnce) };
    world.publish(peer, sent.clone());
    assert_eq!(world.messages(peer), [sent]);
}

/// Section 3.3.2.3.3: what is left of its time goes with it, and when it has passed it does not go.
#[test]
fn messages_expire_where_they_wait() {
    let mut world = world();
    let publisher = world.join(named(V5, "p"));
    let subscriber = world.join(lasting(V5, "s"));
    world.subscribe(subscriber, "a", AtLeastOnce);
    world.cut(subscriber);
    for secs in [5, 20] {
        let text = secs.to_string();
        let message = Message { expiry_secs: Some(secs), ..message("a", &text, AtLeastOnce) };
        world.publish(publisher, message);
    }
    world.publish(
        publisher,
        Message { expiry_secs: Some(5), retain: true, ..message("r", "x", AtLeastOnce) },
    );
    world.after(Duration::from_secs(12));
    world.connect(subscriber);
    world.run();
    let got = world.messages(subscriber);
    assert_eq!(got.len(), 1);
    assert_eq!((got[0].payload.as_ref(), got[0].expiry_secs), (&b"20"[..], Some(8)));
    world.subscribe(subscriber, "r", AtLeastOnce);
    assert!(world.messages(subscriber).is_empty());
    assert_eq!(world.broker.retained(), 0);
}

/// Section 4.4: what was not acknowledged is sent again on the next connection, in its order.
#[test]
fn a_kept_session_gets_what_it_missed() {
    for version in Version::ALL {
        let mut world = world();
        let publisher = world.join(named(V5, "p"));
        let subscriber = world.join(lasting(*version, "s"));
        world.subscribe(subscriber, "a/#", ExactlyOnce);
        world.cut(subscriber);
        for (text, qos) in [("0", AtMostOnce), ("1", AtLeastOnce), ("2", ExactlyOnce)] {
            world.publish(publisher, message("a/b", text, qos));
        }
        world.connect(subscriber);
        world.run();
        let present = Event::Connected { session_present: true };
        assert!(world.peers[subscriber].events.contains(&present));
        assert_eq!(world.texts(subscriber), ["a/b=1", "a/b=2"]);

        // A clean start forgets it.
        world.cut(subscriber);
        world.publish(publisher, message("a/b", "3", AtLeastOnce));
        world.peers[subscriber].events.clear();
        world.peers[subscriber].client.settings_mut().clean_start = true;
        world.connect(subscriber);
        world.run();
        assert!(
            world.peers[subscriber].events.contains(&Event::Connected { session_present: false })
        );
        assert!(world.texts(subscriber).is_empty());
        world.publish(publisher, message("a/b", "4", AtLeastOnce));
        assert!(world.texts(subscriber).is_empty());
    }
}

#[test]
fn sessions_end_when_they_expire() {
    let mut world = world();
    let peer = world.join(Settings { session_expiry_secs: 10, ..lasting(V5, "s") });
    let short = world.join(named(V5, "t"));
    assert_eq!(world.broker.sessions(), 2);
    world.cut(peer);
    world.cut(short);
    assert_eq!(world.broker.sessions(), 1);
    world.after(Duration::from_millis(9_999));
    assert_eq!(world.broker.sessions(), 1);
    world.after(Duration::from_millis(1));
    assert_eq!(world.broker.sessions(), 0);
    assert_eq!(world.broker.next_timeout(), None, "nothing is left to wait for");
}

/// Section 3.1.4.
#[test]
fn a_second_connection_takes_the_session_over() {
    for version in Version::ALL {
        let mut world = world();
        let first = world.join(lasting(*version, "s"));
        world.subscribe(first, "a", AtLeastOnce);
        let second = world.join(lasting(*version, "s"));
        assert_eq!(world.ended(first), (*version == V5).then_some(Reason::SESSION_TAKEN_OVER));
        assert!(world.peers[first].at.is_none(), "it is closed");
        world.publish(second, message("a", "x", AtLeastOnce));
        assert_eq!(world.texts(second), ["a=x"]);
        assert_eq!(world.broker.sessions(), 1);
    }
}

/// Section 3.1.2.10: one and a half times the interval. A client that pings stays.
#[test]
fn who_is_silent_for_too_long_is_gone() {
    for version in Version::ALL {
        let mut world = world();
        let peer = world.join(Settings { keep_alive_secs: 10, ..named(*version, "s") });
        world.after(Duration::from_secs(100));
        assert!(world.peers[peer].at.is_some(), "it pings");
        // From here on the client sends nothing.
        let silent = world.join(Settings { keep_alive_secs: 0, ..named(*version, "t") });
        assert!(world.peers[silent].at.is_some());
        let mut counted = World::new(Limits::default());
        let at = counted.broker.open(counted.now).unwrap();
        let mut client = Client::new(Settings { keep_alive_secs: 10, ..named(*version, "u") });
        client.connect(counted.now).unwrap();
        let hello = std::mem::take(client.output());
        counted.broker.receive(at, &hello, counted.now);
        counted.after(Duration::from_millis(14_999));
        assert_eq!(counted.broker.sessions(), 1);
        counted.after(Duration::from_millis(1));
        assert_eq!(counted.broker.sessions(), 0);
    }
}

/// Section 3.1.2.5: after a connection that broke, and not after a goodbye.
#[test]
fn a_will_is_published_for_who_is_gone_without_a_word() {
    for version in Version::ALL {
        let mut world = world();
        let watcher = world.join(named(*version, "w"));
        world.subscribe(watcher, "wills/#", AtLeastOnce);
        let message = Message { retain: true, ..message("wills/s", "gone", AtLeastOnce) };
        let will = Some(Will { message, delay_secs: 0 });
        let polite = world.join(Settings { will: will.clone(), ..named(*version, "s") });
        world.peers[polite].client.disconnect();
        world.run();
        assert!(world.texts(watcher).is_empty());
        assert!(world.peers[polite].at.is_none());
        let broken = world.join(Settings { will, ..named(*version, "s") });
        world.cut(broken);
        world.run();
        world.after(Duration::ZERO);
        assert_eq!(world.texts(watcher), ["wills/s=gone"]);
        assert_eq!(world.broker.retained(), 1);
    }
}

/// Section 3.1.3.2.2 of version 5: not if the client is back in time, and at the session's end at
/// the latest.
#[test]
fn a_will_may_wait() {
    let mut world = world();
    let watcher = world.join(named(V5, "w"));
    world.subscribe(watcher, "wills", AtLeastOnce);
    let will = Will { message: message("wills", "gone", AtLeastOnce), delay_secs: 30 };
    let peer = world.join(Settings { will: Some(will.clone()), ..lasting(V5, "s") });
    world.cut(peer);
    world.after(Duration::from_secs(29));
    world.connect(peer);
    world.after(Duration::from_secs(10));
    assert!(world.texts(watcher).is_empty());
    world.cut(peer);
    world.after(Duration::from_secs(30));
    assert_eq!(world.texts(watcher), ["wills=gone"]);
    world.connect(peer);
    world.run();
    world.cut(peer);
    world.peers[peer].client.settings_mut().clean_start = true;
    world.connect(peer);
    world.run();
    assert_eq!(world.texts(watcher), ["wills=gone"], "a clean start ends the session");
    let hasty = Settings { will: Some(will), session_expiry_secs: 5, ..lasting(V5, "t") };
    let hasty = world.join(hasty);
    world.cut(hasty);
    world.after(Duration::from_secs(5));
    assert_eq!(world.texts(watcher), ["wills=gone"]);
}

#[test]
fn a_shared_subscription_goes_to_one_of_those_that_are_there() {
    let mut world = world();
    let publisher = world.join(named(V5, "p"));
    let members = ["a", "b", "c"].map(|name| world.join(lasting(V5, name)));
    for member in members {
        world.subscribe(member, "$share/g/t/#", AtLeastOnce);
    }
    world.cut(members[1]);
    for n in 0..10 {
        world.publish(publisher, message("t/x", &n.to_string(), AtLeastOnce));
    }
    let counts = members.map(|member| world.texts(member).len());
    assert_eq!((counts[0] + counts[2], counts[1]), (10, 0));
    assert!(counts[0] >= 3 && counts[2] >= 3, "{counts:?}");
}

#[test]
fn a_client_without_a_name_gets_one_or_is_refused() {
    let mut world = world();
    let first = world.join(named(V5, ""));
    let second = world.join(named(V5, ""));
    let names = [first, second].map(|peer| world.peers[peer].client.client_id().to_owned());
    assert!(!names[0].is_empty() && names[0] != names[1]);
    let refused = world.join(lasting(Version::V311, ""));
    assert_eq!(world.ended(refused), Some(Reason::CLIENT_IDENTIFIER_NOT_VALID));
}

#[test]
fn the_service_gets_what_is_published_below_its_prefix() {
    let mut world = world();
    world.broker = trackbed_mqtt::broker::Broker::new(Limits::default()).with_service("rpc");
    let peer = world.join(named(V5, "p"));
    world.subscribe(peer, "answers/p", AtLeastOnce);
    for topic in ["rpc", "rpc/x", "rpcs/x", "a/rpc"] {
        world.publish(peer, message(topic, "x", ExactlyOnce));
    }
    let arrived = std::iter::from_fn(|| world.broker.next_arrived());
    let topics: Vec<_> = arrived.map(|a| (a.client.to_string(), a.message.topic)).collect();
    assert_eq!(topics, [("p".to_owned(), "rpc".into()), ("p".to_owned(), "rpc/x".into())]);
    assert_eq!(world.broker.publish(message("answers/p", "y", AtLeastOnce), world.now), 1);
    world.run();
    assert_eq!(world.texts(peer), ["answers/p=y"]);
}
