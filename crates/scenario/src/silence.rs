//! Cells without communication: workloads such as `idle`, which use no protocol.

use trackbed_connection::Handshake;
use trackbed_protocols::{NONE, TlsSettings, TransportParameters};

use crate::ends::Resolved;
use crate::ip::IpVersion;
use crate::plan::{Endpoint, Programs};
use crate::problem::Problems;
use crate::spec::{Choice, Spec};

/// Whether nothing is sent, whatever the endpoint keys.
pub(crate) fn holds(spec: &Spec) -> bool {
    spec.get("workload.kind").is_some_and(|kind| kind.choices.iter().all(is_silent))
}

/// Endpoints that do not communicate. They ignore all endpoint `keys`, so that a part without
/// communication may follow parts that set them.
pub(crate) fn ends(keys: Vec<&'static str>) -> Resolved {
    let endpoint = Endpoint {
        protocol: NONE,
        ip: IpVersion::default(),
        tls: None,
        handshake: Handshake::New,
        cipher: None,
        tls_settings: TlsSettings::default(),
        transport: TransportParameters::default(),
        programs: Programs::default(),
    };
    Resolved { endpoint, ignored: keys }
}

/// Whether the endpoints do not communicate.
pub(crate) fn is_between(endpoint: &Endpoint) -> bool {
    endpoint.protocol.name() == NONE.name()
}

/// Refuses a workload that needs a protocol but has none.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    if holds(spec) || spec.get("workload.kind").is_none() {
        return;
    }
    let protocols = spec.get("protocol").into_iter().flat_map(|protocol| &protocol.choices);
    for none in protocols.filter(|protocol| protocol.chosen.text() == NONE.name()) {
        let message = "the protocol none sends nothing, but the workload sends data";
        let silent = trackbed_workloads::registry().iter().filter(|one| !one.communicates);
        let kinds: Vec<String> = silent.map(|one| format!("\"{}\"", one.name)).collect();
        let kinds = kinds.join(" or ");
        let help = format!("write kind = {kinds} below [workload], or name another protocol");
        problems.add_with_help(&none.place, message, help);
    }
}

fn is_silent(kind: &Choice) -> bool {
    trackbed_workloads::find(&kind.chosen.text()).is_some_and(|kind| !kind.communicates)
}
