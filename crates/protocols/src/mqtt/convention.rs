//! The encoding of exchanges in messages.
//!
//! A request is published below [`SERVICE`] and answered below [`ANSWERS`] and the client's name.
//! Both may have several parts, in order. In version 5 the response topic and the correlation data
//! name the exchange (section 4.10), and user properties carry the rest; a one-part request of any
//! client needs none of them. In version 3.1.1 the topic carries everything:
//!
//! ```text
//!            request                                          answer
//! version 5: service/request/PATH                             answers/CLIENT
//!   3.1.1:   service/plain/NUMBER/PART/PRIORITY/PATH          answers/CLIENT/NUMBER/PART/STATUS
//! an echo:   echoes/CLIENT/NUMBER/INDEX/PART                  the same
//! ```
//!
//! A topic may not contain a plus, so in `PATH` a bar replaces it.

use std::sync::Arc;

use trackbed_connection::{Priority, TlsVersion};
use trackbed_core::named;
use trackbed_mqtt::{Message, Properties, Qos, Version};

use crate::tls::Profile;

pub(super) const SERVICE: &str = "service";
pub(super) const ANSWERS: &str = "answers";
const ECHOES: &str = "echoes";

named! {
    /// The position of a message in its body.
    pub(super) enum Part {
        More = "more",
        Last = "last",
        /// The rest was cancelled by either side.
        Broken = "broken",
    }
}

impl Part {
    fn of(properties: &Properties) -> Option<Part> {
        properties.user_value(PART).map_or(Some(Part::Last), Part::from_name)
    }
}

/// What names an exchange to the service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caller {
    /// In version 5: the response topic, if an answer is wanted, and the correlation data.
    Properties(Option<String>, Option<Vec<u8>>),
    /// In version 3.1.1: the client and the number it gave.
    Plain(Arc<str>, u32),
}

/// A part of a request, as the service reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub caller: Caller,
    pub part: Part,
    pub path: String,
    pub priority: Option<Priority>,
    pub qos: Qos,
}

/// A part of an answer, as the client reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub number: u32,
    pub part: Part,
    pub status: u16,
}

pub(super) fn answers_filter(version: Version, client: &str) -> String {
    match version {
        Version::V5 => format!("{ANSWERS}/{client}"),
        Version::V311 => format!("{ANSWERS}/{client}/#"),
    }
}

pub(super) fn echoes_filter(client: &str) -> String {
    format!("{ECHOES}/{client}/#")
}

/// A message with a part of a request.
pub(super) fn request(
    (version, client, qos): (Version, &str, Qos),
    number: u32,
    part: Part,
    (path, priority): (&str, Option<Priority>),
    payload: &[u8],
) -> Message {
    let path = path.replace('+', "|");
    let message = match version {
        Version::V311 => {
            let priority = priority.map_or_else(|| NONE.to_owned(), |p| p.to_byte().to_string());
            let part = part.name();
            Message::new(format!("{SERVICE}/plain/{number}/{part}/{priority}{path}"), payload)
        }
        Version::V5 => {
            let mut user = said(part);
            user.extend(priority.map(|p| (PRIORITY.to_owned(), p.to_byte().to_string())));
            let properties = Properties {
                response_topic: Some(answers_filter(version, client)),
                correlation_data: Some(number.to_be_bytes().to_vec()),
                user,
                ..Properties::default()
            };
            let message = Message::new(format!("{SERVICE}/request{path}"), payload);
            Message { properties: Arc::new(properties), ..message }
        }
    };
    Message { qos, ..message }
}

/// The request in a message below [`SERVICE`]; `None` if it is not a request.
pub(super) fn read_request(client: &Arc<str>, message: &Message) -> Option<Call> {
    let rest = message.topic.strip_prefix(SERVICE)?;
    let (caller, part, path, priority) = if let Some(path) = rest.strip_prefix("/request") {
        let properties = &message.properties;
        let caller = Caller::Properties(
            properties.response_topic.clone(),
            properties.correlation_data.clone(),
        );
        (caller, Part::of(properties)?, path, properties.user_value(PRIORITY))
    } else {
        let mut levels = rest.strip_prefix("/plain/")?.splitn(4, '/');
        let number = levels.next()?.parse().ok()?;
        let part = Part::from_name(levels.next()?)?;
        let priority = Some(levels.next()?).filter(|byte| *byte != NONE);
        let path_len = levels.next()?.len() + 1;
        (Caller::Plain(Arc::clone(client), number), part, &rest[rest.len() - path_len..], priority)
    };
    let priority = match priority {
        Some(byte) => Some(Priority::from_byte(byte.parse().ok()?)?),
        None => None,
    };
    let path = path.replace('|', "+");
    Some(Call { caller, part, path, priority, qos: message.qos })
}

/// A message with a part of the response to `caller`; `None` if the caller is gone.
pub(super) fn answer(
    caller: &Caller,
    qos: Qos,
    part: Part,
    status: u16,
    payload: &[u8],
) -> Option<Message> {
    let message = match caller {
        Caller::Plain(client, number) => {
            let part = part.name();
            Message::new(format!("{ANSWERS}/{client}/{number}/{part}/{status}"), payload)
        }
        Caller::Properties(topic, correlation_data) => {
            let mut user = said(part);
            user.push((STATUS.to_owned(), status.to_string()));
            let correlation_data = correlation_data.clone();
            let properties = Properties { correlation_data, user, ..Properties::default() };
            let message = Message::new(topic.as_deref()?, payload);
            Message { properties: Arc::new(properties), ..message }
        }
    };
    // The client chose the topic.
    trackbed_mqtt::topic::check_name(&message.topic).ok()?;
    Some(Message { qos, ..message })
}

/// The response in a message to a client; `None` if it is not a response.
pub(super) fn read_answer(version: Version, message: &Message) -> Option<Answer> {
    match version {
        Version::V5 => {
            let properties = &message.properties;
            let number = properties.correlation_data.as_deref()?.try_into().ok()?;
            Some(Answer {
                number: u32::from_be_bytes(number),
                part: Part::of(properties)?,
                status: properties.user_value(STATUS)?.parse().ok()?,
            })
        }
        Version::V311 => {
            let mut levels = message.topic.rsplitn(4, '/');
            let status = levels.next()?.parse().ok()?;
            let part = Part::from_name(levels.next()?)?;
            Some(Answer { number: levels.next()?.parse().ok()?, part, status })
        }
    }
}

/// A message with a part that its sender takes back. A broker may drop one of QoS 0, so they are
/// counted.
pub(super) fn echo(
    (client, qos): (&str, Qos),
    number: u32,
    (index, part): (u32, Part),
    payload: &[u8],
) -> Message {
    let part = part.name();
    Message { qos, ..Message::new(format!("{ECHOES}/{client}/{number}/{index}/{part}"), payload) }
}

/// The echo, and the index of its part; `None` if it is not an echo.
pub(super) fn read_echo(message: &Message) -> Option<(u32, Answer)> {
    let mut levels = message.topic.rsplitn(4, '/');
    let part = Part::from_name(levels.next()?)?;
    let index = levels.next()?.parse().ok()?;
    Some((index, Answer { number: levels.next()?.parse().ok()?, part, status: 200 }))
}

/// The usual case needs no words.
fn said(part: Part) -> Vec<(String, String)> {
    match part {
        Part::Last => Vec::new(),
        part => vec![(PART.to_owned(), part.name().to_owned())],
    }
}

const PART: &str = "part";
const STATUS: &str = "status";
const PRIORITY: &str = "priority";
/// In place of a priority.
const NONE: &str = "-";

/// The name is the one registered for it (IANA, TLS ALPN protocol IDs).
pub(super) const MQTT: Profile =
    Profile { protocol: "mqtt", alpn: b"mqtt", versions: TlsVersion::ALL, early_data_max: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_and_answered_is_understood_in_both_versions() {
        let client: Arc<str> = "c1".into();
        for version in Version::ALL {
            for part in [Part::More, Part::Last, Part::Broken] {
                for priority in [None, Priority::from_byte(3)] {
                    for path in ["/", "/a/b?c=d+e/+/", "//x"] {
                        let end = (*version, &*client, Qos::ExactlyOnce);
                        let message = request(end, 7, part, (path, priority), b"x");
                        trackbed_mqtt::topic::check_name(&message.topic).unwrap();
                        let call = read_request(&client, &message).unwrap();
                        assert_eq!((call.part, call.path.as_str()), (part, path));
                        assert_eq!((call.priority, call.qos), (priority, Qos::ExactlyOnce));
                        let said = answer(&call.caller, call.qos, part, 404, b"y").unwrap();
                        let filter = answers_filter(*version, &client);
                        assert!(trackbed_mqtt::topic::matches(&filter, &said.topic));
                        let expected = Answer { number: 7, part, status: 404 };
                        assert_eq!(read_answer(*version, &said), Some(expected));
                    }
                }
                let said = echo((&client, Qos::AtMostOnce), 9, (3, part), b"");
                assert!(trackbed_mqtt::topic::matches(&echoes_filter(&client), &said.topic));
                assert_eq!(read_echo(&said), Some((3, Answer { number: 9, part, status: 200 })));
            }
        }
    }

    #[test]
    fn what_is_none_is_not_taken_for_one() {
        let client: Arc<str> = "c".into();
        const OTHERS: &str = "service service/x service/plain service/plain/1/last/- service/plain/x/last/-/p \
                            service/plain/1/last/16/p";
        for topic in OTHERS.split(' ') {
            assert_eq!(read_request(&client, &Message::new(topic, b"")), None, "{topic}");
        }
        for topic in ["answers/c", "answers/c/1/last", "answers/c/1/last/x"] {
            for version in Version::ALL {
                assert_eq!(read_answer(*version, &Message::new(topic, b"")), None, "{topic}");
            }
            assert_eq!(read_echo(&Message::new("answers/c/1/x", b"")), None);
        }
        let nowhere = Caller::Properties(Some("a/#".to_owned()), None);
        assert_eq!(answer(&nowhere, Qos::AtMostOnce, Part::Last, 200, b""), None);
        assert_eq!(
            answer(&Caller::Properties(None, None), Qos::AtMostOnce, Part::Last, 200, b""),
            None
        );
    }
}
