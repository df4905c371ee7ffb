//! Checks that a run with a third-party server was what its cell asks for.

use trackbed_connection::Handshake;
use trackbed_core::event::{Event, Record};
use trackbed_measure::results::Outcome;

use trackbed_scenario::{Cell, Endpoint};

/// Turns an outcome into a failure if the server refused a message, or negotiated something other
/// than the cell asks for.
pub(in super::super) fn judge(cell: &Cell, records: &[Record], outcome: Outcome) -> Outcome {
    match (&cell.endpoint.programs.server, outcome) {
        (Some(server), Outcome::Samples(samples)) => {
            match objection(&cell.endpoint, server.name(), records) {
                None => Outcome::Samples(samples),
                Some(why) => Outcome::Failed(why),
            }
        }
        (_, outcome) => outcome,
    }
}

fn objection(endpoint: &Endpoint, server: &str, records: &[Record]) -> Option<String> {
    let refused = records.iter().find_map(|record| match &record.event {
        // Our own server refuses some requests on purpose; third-party servers must accept all.
        Event::Answered { phone, message, status } if !(200..300).contains(status) => {
            Some(format!("{server} answered message {message} of phone {phone} with {status}"))
        }
        Event::Secured { suite, .. } if !is_wanted(endpoint, suite) => {
            Some(format!("{server} negotiated {suite}, which is not what the cell asks for"))
        }
        _ => None,
    });
    refused.or_else(|| {
        let secured = |record: &Record| match record.event {
            Event::Secured { resumed, early, .. } => Some((resumed, early)),
            _ => None,
        };
        let mut secured = records.iter().filter_map(secured).peekable();
        secured.peek()?;
        // A single ticket may be lost or used up; if none ever works, the server issues none.
        match endpoint.handshake {
            Handshake::New => None,
            Handshake::Resumed => (!secured.any(|(resumed, _)| resumed))
                .then(|| format!("{server} resumed no session")),
            Handshake::Early | Handshake::NewThenEarly => (!secured.any(|(_, early)| early))
                .then(|| format!("{server} never accepted early data")),
        }
    })
}

/// Whether `suite`, in the notation of [`Event::Secured`], has the version and cipher of the cell.
fn is_wanted(endpoint: &Endpoint, suite: &str) -> bool {
    let mut words = suite.split_whitespace().skip(1);
    let (version, cipher) = (words.next(), words.next());
    endpoint.tls.is_none_or(|wanted| version == Some(wanted.name()))
        && endpoint.cipher.is_none_or(|wanted| cipher == Some(wanted.name()))
}

#[cfg(test)]
mod tests {
    use trackbed_core::Time;

    use super::*;
    use crate::testing::plan;

    fn objections(settings: &str, events: &[Event]) -> Option<String> {
        let plan = plan(&format!(
            "protocol = \"http2\"\nserver = \"nginx\"\n{settings}\n[link]\ndelay = \"5 ms\"\n\
             [workload]\nkind = \"messages\"\n"
        ));
        let records: Vec<Record> =
            events.iter().map(|event| Record { at: Time::ZERO, event: event.clone() }).collect();
        objection(&plan.cells[0].endpoint, "nginx", &records)
    }

    fn secured(suite: &str, resumed: bool, early: bool) -> Event {
        Event::Secured { phone: 0, connection: 0, suite: suite.to_owned(), resumed, early }
    }

    #[test]
    fn what_was_negotiated_must_be_what_the_cell_says() {
        let pinned = "tls = \"1.2\"\ncipher = \"aes256gcm\"";
        assert_eq!(objections(pinned, &[secured("TLS 1.2 aes256gcm", false, false)]), None);
        for other in ["TLS 1.3 aes256gcm", "TLS 1.2 aes128gcm"] {
            assert!(objections(pinned, &[secured(other, false, false)]).is_some(), "{other}");
        }
        assert_eq!(objections("", &[secured("TLS 1.3 chacha20poly1305", false, false)]), None);
    }

    #[test]
    fn a_handshake_that_never_happens_and_a_refused_message_are_told() {
        let full = secured("TLS 1.3 aes128gcm", false, false);
        let resumed = secured("TLS 1.3 aes128gcm", true, false);
        let early = secured("TLS 1.3 aes128gcm", true, true);
        let resume = "handshake = \"resumed\"";
        assert!(objections(resume, std::slice::from_ref(&full)).is_some());
        assert_eq!(objections(resume, &[full, resumed.clone()]), None);
        assert!(objections("handshake = \"early\"", &[resumed]).is_some());
        assert_eq!(objections("handshake = \"early\"", &[early]), None);
        let answered = |status| Event::Answered { phone: 0, message: 0, status };
        assert_eq!(objections("", &[answered(200)]), None);
        assert!(objections("", &[answered(404)]).is_some(), "our own server may, nginx may not");
    }
}
