//! Our client against Mosquitto's broker, over TCP on the loopback interface.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::broker;
use crate::programs::Kept;
use crate::world::*;

/// A broker that ends with the test.
struct Mosquitto {
    _process: Kept,
    address: SocketAddr,
}

impl Mosquitto {
    /// `None` where it is not installed.
    fn start() -> Option<Mosquitto> {
        broker::start("").map(|(_process, address)| Mosquitto { _process, address })
    }

    fn join(&self, settings: Settings) -> Peer {
        // The client's clock stands still: it sends no PINGREQ.
        let client = Client::new(Settings { keep_alive_secs: 0, ..settings });
        let mut peer = Peer { client, stream: None, events: Vec::new() };
        peer.connect(self);
        peer
    }
}

/// Our client on a socket.
struct Peer {
    client: Client,
    stream: Option<TcpStream>,
    events: Vec<Event>,
}

impl Peer {
    fn connect(&mut self, broker: &Mosquitto) {
        let stream = TcpStream::connect(broker.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        self.stream = Some(stream);
        self.client.connect(Time::ZERO).unwrap();
        self.wait(|event| matches!(event, Event::Connected { .. }).then_some(()));
    }

    /// What is wanted of an event, from the first that has it of those that have happened or will.
    fn wait<T>(&mut self, wanted: impl Fn(&Event) -> Option<T>) -> T {
        loop {
            while let Some(event) = self.client.next_event() {
                self.events.push(event);
            }
            let mut events = self.events.iter().map(&wanted).enumerate();
            if let Some((index, Some(found))) = events.find(|(_, found)| found.is_some()) {
                self.events.remove(index);
                return found;
            }
            let stream = self.stream.as_mut().expect("a connection");
            stream.write_all(self.client.output()).unwrap();
            self.client.output().clear();
            let mut bytes = [0; 4_096];
            let len = stream.read(&mut bytes).expect("an answer within a minute");
            assert!(len > 0, "the broker hangs up");
            self.client.receive(&bytes[..len], Time::ZERO);
        }
    }

    fn flush(&mut self) {
        self.stream.as_mut().unwrap().write_all(self.client.output()).unwrap();
        self.client.output().clear();
    }

    fn subscribe(&mut self, filter: &str, qos: Qos) -> Vec<Reason> {
        let wanted = vec![Subscription::new(filter, qos)];
        let asked = self.client.subscribe(wanted, None, Time::ZERO).unwrap();
        self.wait(|event| match event {
            Event::Subscribed { packet_id, reasons } if *packet_id == asked => {
                Some(reasons.clone())
            }
            _ => None,
        })
    }

    fn publish(&mut self, message: Message) {
        let qos = message.qos;
        self.client.publish(message, 5, Time::ZERO).unwrap();
        match qos {
            Qos::AtMostOnce => self.flush(),
            _ => self
                .wait(|event| matches!(event, Event::Acknowledged { token: 5, .. }).then_some(())),
        }
    }

    fn message(&mut self) -> Message {
        self.wait(|event| match event {
            Event::Received { message, .. } => Some(message.clone()),
            _ => None,
        })
    }
}

#[test]
fn every_quality_wildcards_and_retained_messages() {
    let Some(broker) = Mosquitto::start() else { return };
    for version in Version::ALL {
        let mut peer = broker.join(named(*version, "both"));
        for qos in Qos::ALL {
            assert_eq!(peer.subscribe("room/+/#", *qos), [Reason(*qos as u8)]);
            for sent in Qos::ALL {
                peer.publish(message("room/1/light", "on", *sent));
                let got = peer.message();
                assert_eq!((&*got.topic, got.payload.as_ref()), ("room/1/light", &b"on"[..]));
                assert_eq!(got.qos, (*sent).min(*qos), "{version:?}");
            }
        }
        for text in ["kept", ""] {
            peer.publish(Message { retain: true, ..message("kept/x", text, Qos::AtLeastOnce) });
            let mut late = broker.join(named(*version, "late"));
            late.subscribe("#", Qos::ExactlyOnce);
            peer.publish(message("kept/y", "live", Qos::AtLeastOnce));
            let got = late.message();
            let expected = if text.is_empty() { ("kept/y", false) } else { ("kept/x", true) };
            assert_eq!((&*got.topic, got.retain), expected, "{version:?}");
        }
    }
}

#[test]
fn wills_and_kept_sessions() {
    let Some(broker) = Mosquitto::start() else { return };
    for version in Version::ALL {
        // A separate session: the earlier one may have an unreleased message.
        let mut watcher = broker.join(lasting(*version, &format!("watcher-{}", version.name())));
        watcher.subscribe("wills/#", Qos::ExactlyOnce);
        let will = Will { message: message("wills/x", "gone", Qos::ExactlyOnce), delay_secs: 0 };
        let mut polite = broker.join(Settings { will: Some(will.clone()), ..named(*version, "p") });
        polite.client.disconnect();
        polite.flush();
        drop(broker.join(Settings { will: Some(will), ..named(*version, "b") }).stream);
        assert_eq!(watcher.message().payload.as_ref(), b"gone");

        // It goes away without a word, misses three messages, and gets them.
        watcher.stream = None;
        watcher.client.close();
        let mut publisher = broker.join(named(*version, "q"));
        for (text, qos) in
            [("1", Qos::AtLeastOnce), ("2", Qos::ExactlyOnce), ("3", Qos::AtLeastOnce)]
        {
            publisher.publish(message("wills/y", text, qos));
        }
        watcher.events.clear();
        watcher.connect(&broker);
        let texts = [(); 3].map(|()| watcher.message().payload.as_ref().to_vec());
        assert_eq!(texts, [b"1", b"2", b"3"]);
    }
}
