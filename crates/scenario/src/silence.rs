//! Cells without communication: workloads such as `idle`, below which there is no protocol.

use trackbed_connection::Handshake;
use trackbed_protocols::{NONE, TransportParameters};

use crate::ends::Resolved;
use crate::ip::IpVersion;
use crate::plan::{Endpoint, Programs};
use crate::problem::Problems;
use crate::spec::{Choice, Spec};

/// Whether nothing is sent, whatever the keys of the ends say.
pub(crate) fn holds(spec: &Spec) -> bool {
    spec.get("workload.kind").is_some_and(|kind| kind.choices.iter().all(is_silent))
}

/// Ends that have nothing to do with one another. All `keys` of ends mean nothing to them, so that a
/// part without communication may lie over whatever the others set.
pub(crate) fn ends(keys: Vec<&'static str>) -> Resolved {
    let endpoint = Endpoint {
        protocol: NONE,
        ip: IpVersion::default(),
        tls: None,
        handshake: Handshake::New,
        cipher: None,
        transport: TransportParameters::default(),
        programs: Programs::default(),
    };
    Resolved { endpoint, ignored: keys }
}

/// Whether these are such ends.
pub(crate) fn is_between(endpoint: &Endpoint) -> bool {
    endpoint.protocol.name() == NONE.name()
}

/// Refuses a workload that would be sent by no protocol.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    if holds(spec) || spec.get("workload.kind").is_none() {
        return;
    }
    let protocols = spec.get("protocol").into_iter().flat_map(|protocol| &protocol.choices);
    for none in protocols.filter(|protocol| is(protocol, NONE.name())) {
        let message = "the protocol none carries nothing, and the workload sends something";
        let silent = trackbed_workloads::registry().iter().filter(|one| !one.communicates());
        let kinds: Vec<String> = silent.map(|one| format!("\"{}\"", one.name())).collect();
        let kinds = kinds.join(" or ");
        let help = format!("write kind = {kinds} below [workload], or name another protocol");
        problems.add_with_help(&none.place, message, help);
    }
}

fn is_silent(kind: &Choice) -> bool {
    trackbed_workloads::find(&kind.chosen.text()).is_some_and(|kind| !kind.communicates())
}

fn is(choice: &Choice, word: &str) -> bool {
    choice.chosen.text() == word
}
