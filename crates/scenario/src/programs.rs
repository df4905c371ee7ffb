//! The third-party endpoints: the programs, and which settings they support.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use trackbed_connection::{Handshake, Transport};
use trackbed_core::parameter::{Arguments, Kind, Parameter};
use trackbed_programs::{Client, CustomClient, CustomCommand, Server, clients};
use trackbed_protocols::parameters::{idle_timeout, tcp, tls_of_server, window};
use trackbed_protocols::{MqttAnswer, Protocol};

use crate::ends::Refusal;
use crate::foreign;
use crate::plan::{Endpoint, ForeignClient, Programs};
use crate::spec::{Selected, Spec};

pub(crate) fn resolve(
    at: Selected<'_>,
    protocol: &'static dyn Protocol,
) -> Result<Programs, Refusal> {
    let server = match choice(at, "server") {
        OURS => None,
        CUSTOM => {
            let text = text(at, "server", "server-command")?;
            let transport = transport(protocol);
            let command = CustomCommand::new(&text, transport).map_err(|why| Refusal {
                path: "server-command",
                why: format!("the server's command: {why}"),
            })?;
            Some(Server::Custom(Arc::new(command)))
        }
        name => trackbed_programs::find(name).map(Server::Registered),
    };
    let client = match choice(at, "client") {
        CUSTOM => {
            let text = text(at, "client", "client-command")?;
            let command = CustomClient::new(&text).map_err(|why| Refusal {
                path: "client-command",
                why: format!("the client's command: {why}"),
            })?;
            Some(Client::Custom(Arc::new(command)))
        }
        name => clients::find(name).map(Client::Registered),
    };
    let timeout = at.get("client-timeout").unwrap_or(CLIENT_TIMEOUT);
    let client = client.map(|program| ForeignClient { program, timeout });
    Ok(Programs { server, client })
}

/// Whether the cell's programs support its settings.
pub(crate) fn check(endpoint: &Endpoint) -> Result<(), Refusal> {
    let Programs { server, client } = &endpoint.programs;
    let refuse = |path, why| Err(Refusal { path, why });
    let protocol = endpoint.protocol.name();
    let unspoken = protocol == foreign::PROTOCOL.name();
    if unspoken && (server.is_none() || client.is_none()) {
        let end = if server.is_none() { "server" } else { "client" };
        let why = format!("the built-in {end} needs a protocol: write protocol = \"http2\"");
        return refuse(end, why);
    }
    if let Some(client) = client {
        let (name, speaks) = (client.program.name(), client.program.about().speaks);
        if !speaks.is_empty() && !speaks.contains(&protocol) {
            let path = if unspoken { "protocol" } else { "client" };
            let why = match unspoken {
                true => format!("{name} needs a protocol: write protocol = \"http2\""),
                false => format!("{name} supports {}, not {protocol}", speaks.join(", ")),
            };
            return refuse(path, why);
        }
    }
    let Some(server) = server else { return Ok(()) };
    let (name, speaks) = (server.name(), server.about().speaks);
    if !unspoken && !speaks.is_empty() && !speaks.contains(&protocol) {
        return refuse("server", format!("{name} supports {}, not {protocol}", speaks.join(", ")));
    }
    let abilities = server.abilities();
    if client.is_some() {
        pins(endpoint, server)?;
    }
    if let Some(tls) = endpoint.tls.filter(|tls| !abilities.tls.contains(tls)) {
        return refuse("tls", format!("{name} does not support TLS {}", tls.name()));
    }
    match endpoint.handshake.later() {
        Handshake::Resumed if !abilities.resumes => {
            refuse("handshake", format!("{name} does not support session resumption"))
        }
        Handshake::Early if !abilities.early_data.contains(&protocol) => {
            refuse("handshake", format!("{name} does not support early data over {protocol}"))
        }
        _ => Ok(()),
    }
}

/// Whether a third-party server can restrict a third-party client to a version and a cipher. The
/// built-in client offers nothing else, so it needs no restriction.
fn pins(endpoint: &Endpoint, server: &Server) -> Result<(), Refusal> {
    let (name, abilities) = (server.name(), server.abilities());
    let refuse = |path, why| Err(Refusal { path, why });
    match (endpoint.tls, endpoint.cipher) {
        (None, None) => Ok(()),
        (None, Some(_)) => refuse("cipher", "a cipher needs a TLS version: set tls too".to_owned()),
        (Some(tls), _) if !abilities.pins_tls => {
            refuse("tls", format!("{name} cannot restrict its clients to TLS {}", tls.name()))
        }
        (Some(tls), Some(_)) if !abilities.ciphers.contains(&tls) => {
            let version = tls.name();
            let why = format!("{name} cannot restrict its clients to one cipher of TLS {version}");
            refuse("cipher", why)
        }
        (Some(_), _) => Ok(()),
    }
}

pub(crate) fn ignored(at: Selected<'_>, programs: &Programs) -> Vec<&'static str> {
    let mut ignored = Vec::new();
    if choice(at, "server") != CUSTOM {
        ignored.push("server-command");
    }
    if programs.server.is_some() {
        ignored.extend(tls_of_server().iter().map(|parameter| parameter.name));
    }
    match programs.client {
        Some(_) => ignored.extend(["handshake", "key-exchange", "client-auth"]),
        None => ignored.push("client-timeout"),
    }
    if choice(at, "client") != CUSTOM {
        ignored.push("client-command");
    }
    if programs.server.is_some() && programs.client.is_some() {
        let ours = [tcp(), window(), idle_timeout()].concat();
        ignored.extend(ours.iter().map(|parameter| parameter.name));
    }
    ignored
}

/// The MQTT answer if the broker is a third-party program: it has no service behind it.
pub(crate) fn mqtt_answer(server: &Server, arguments: &Arguments) -> Result<MqttAnswer, Refusal> {
    if arguments.get("mqtt-answer") == Some(MqttAnswer::Service.name()) {
        let name = server.name();
        let why = format!("{name} is a broker without a service: write mqtt-answer = \"echo\"");
        return Err(Refusal { path: "mqtt-answer", why });
    }
    Ok(MqttAnswer::Echo)
}

/// Whether the scenario may leave its protocol and workload to the programs at both endpoints.
pub(crate) fn need_no_protocol(spec: &Spec) -> bool {
    let is_written = |key: &str| spec.get(key).is_some();
    let server = is_written("server") || is_written("server-command");
    server && (is_written("client") || is_written("client-command"))
}

/// The program at an endpoint: by name, or implied by a command.
fn choice(at: Selected<'_>, end: &str) -> &'static str {
    let implied = if at.spec.get(&format!("{end}-command")).is_some() { CUSTOM } else { OURS };
    at.word(end).unwrap_or(implied)
}

fn text(at: Selected<'_>, end: &'static str, key: &'static str) -> Result<String, Refusal> {
    let missing =
        || Refusal { path: end, why: format!("the command is missing: write {key} = ..") };
    at.get::<String>(key).ok_or_else(missing)
}

fn transport(protocol: &dyn Protocol) -> Option<trackbed_programs::Transport> {
    if protocol.name() == foreign::PROTOCOL.name() {
        return None;
    }
    Some(match protocol.capabilities().transport {
        Transport::Tcp => trackbed_programs::Transport::Tcp,
        // On the kernel's sockets SCTP runs in UDP datagrams.
        Transport::Udp | Transport::Coap | Transport::Sctp => trackbed_programs::Transport::Udp,
    })
}

pub(crate) fn parameters() -> [Parameter; 5] {
    static SERVERS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let programs = trackbed_programs::registry().iter().map(|program| program.name());
        [OURS].into_iter().chain(programs).chain([CUSTOM]).collect()
    });
    static CLIENTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let programs = clients::registry().iter().map(|program| program.name());
        [OURS].into_iter().chain(programs).chain([CUSTOM]).collect()
    });
    [
        Parameter::optional("server", Kind::Choice(&SERVERS), SERVER),
        Parameter::optional("server-command", Kind::Text, SERVER_COMMAND),
        Parameter::optional("client", Kind::Choice(&CLIENTS), CLIENT),
        Parameter::optional("client-command", Kind::Text, CLIENT_COMMAND),
        Parameter::optional("client-timeout", Kind::Time, CLIENT_TIMEOUT_HELP),
    ]
}

const SERVER: &str = "server (emulated substrate): `trackbed`, a program (see `trackbed list \
                      programs`) or `command`; default: `command` if server-command is set, else \
                      `trackbed`";
const SERVER_COMMAND: &str = "command line of a custom server, run without a shell; it may contain \
                              {address} {port} {name} {certificate} {key} {directory} {site}";
const CLIENT: &str = "client (emulated substrate): `trackbed`, a program (`curl`, `chromium`) or \
                      `command`; default: `command` if client-command is set, else `trackbed`";
const CLIENT_COMMAND: &str = "command line of a custom client, run without a shell; it may contain \
                              {address} {port} {name} {certificate} {directory}; exit status 0 is \
                              success, its duration is the completion time";
const CLIENT_TIMEOUT_HELP: &str = "timeout of a third-party client; default: 10 min";

const CLIENT_TIMEOUT: Duration = Duration::from_secs(600);

const OURS: &str = "trackbed";
const CUSTOM: &str = "command";
