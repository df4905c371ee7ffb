//! The list of protocols. Lower modules do not import it.

use std::sync::LazyLock;

use trackbed_core::parameter::{Kind, Parameter};

use crate::parameters::shared;
use crate::protocol::Protocol;
use crate::{coap, http1, http2, http3, mqtt, quic, sctp, tcp};

/// Every protocol, in the order of lists. A new one is a separate file or folder and a line here.
pub fn registry() -> &'static [&'static dyn Protocol] {
    &[
        &coap::Coap { is_encrypted: false },
        &coap::Coap { is_encrypted: true },
        &http1::Http1,
        &http2::Http2,
        &http3::Http3,
        &quic::Quic { is_multipath: true },
        &tcp::Tcp::Multipath,
        &mqtt::Mqtt,
        &quic::Quic { is_multipath: false },
        &sctp::Sctp { is_encrypted: false },
        &sctp::Sctp { is_encrypted: true },
        &tcp::Tcp::Bare,
        &tcp::Tcp::Tls,
    ]
}

/// The protocol called `name`.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    registry().iter().copied().find(|protocol| protocol.name() == name)
}

/// All keys of a scenario's ends that some protocol supports, with all their values: first shared
/// keys, then keys of single protocols.
pub fn parameters() -> &'static [Parameter] {
    static ALL: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
        let mut all = shared();
        for parameter in registry().iter().flat_map(|protocol| protocol.parameters()) {
            match all.iter_mut().find(|known| known.name == parameter.name) {
                Some(known) => known.kind = union(known.kind, parameter.kind),
                None => all.push(parameter),
            }
        }
        all
    });
    &ALL
}

/// The kind that takes the words of both.
fn union(one: Kind, other: Kind) -> Kind {
    let (Kind::Choice(words), Kind::Choice(others)) = (one, other) else { return one };
    let more = others.iter().copied().filter(|word| !words.contains(word));
    let all: Vec<&str> = words.iter().copied().chain(more).collect();
    // Once in a process, for a kind that has more words than any protocol.
    if all.len() > words.len() { Kind::Choice(all.leak()) } else { one }
}
