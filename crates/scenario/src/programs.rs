//! The ends that are not ours: which program, and what it can be held to.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use trackbed_connection::{Handshake, TlsVersion, Transport};
use trackbed_core::parameter::{Arguments, Kind, Parameter};
use trackbed_programs::clients;
use trackbed_programs::{Client, CustomClient, CustomCommand, Server};
use trackbed_protocols::parameters::{idle_timeout, tcp, window};
use trackbed_protocols::{MqttAnswer, Protocol};

use crate::ends::{Refusal, Settings};
use crate::foreign;
use crate::plan::{Endpoint, ForeignClient, Programs};
use crate::spec::Spec;

/// The programs of one combination.
pub(crate) fn resolve(
    settings: &Settings<'_>,
    protocol: &'static dyn Protocol,
) -> Result<Programs, Refusal> {
    let server = match choice(settings, "server") {
        OURS => None,
        CUSTOM => {
            let text = text(settings, "server", "server-command")?;
            let transport = transport(protocol);
            let command = CustomCommand::new(&text, transport).map_err(|why| Refusal {
                path: "server-command",
                why: format!("the server's command: {why}"),
            })?;
            Some(Server::Custom(Arc::new(command)))
        }
        name => trackbed_programs::find(name).map(Server::Registered),
    };
    let client = match choice(settings, "client") {
        CUSTOM => {
            let text = text(settings, "client", "client-command")?;
            let command = CustomClient::new(&text).map_err(|why| Refusal {
                path: "client-command",
                why: format!("the client's command: {why}"),
            })?;
            Some(Client::Custom(Arc::new(command)))
        }
        name => clients::find(name).map(Client::Registered),
    };
    let timeout = settings.get("client-timeout").unwrap_or(CLIENT_TIMEOUT);
    let client = client.map(|program| ForeignClient { program, timeout });
    Ok(Programs { server, client })
}

/// Whether what the cell asks for can be had from its programs.
pub(crate) fn check(endpoint: &Endpoint) -> Result<(), Refusal> {
    let Programs { server, client } = &endpoint.programs;
    let refuse = |path, why| Err(Refusal { path, why });
    let protocol = endpoint.protocol.name();
    let unspoken = protocol == foreign::PROTOCOL.name();
    if unspoken && (server.is_none() || client.is_none()) {
        let end = if server.is_none() { "server" } else { "client" };
        return refuse(end, format!("our own {end} needs a protocol: write protocol = \"http2\""));
    }
    if let Some(client) = client {
        let (name, speaks) = (client.program.name(), client.program.about().speaks);
        if !speaks.is_empty() && !speaks.contains(&protocol) {
            let path = if unspoken { "protocol" } else { "client" };
            return refuse(
                path,
                match unspoken {
                    true => {
                        format!("{name} has to be told what to speak: write protocol = \"http2\"")
                    }
                    false => format!("{name} speaks {}, not {protocol}", speaks.join(", ")),
                },
            );
        }
    }
    let Some(server) = server else { return Ok(()) };
    let (name, speaks) = (server.name(), server.about().speaks);
    if !unspoken && !speaks.is_empty() && !speaks.contains(&protocol) {
        return refuse("server", format!("{name} speaks {}, not {protocol}", speaks.join(", ")));
    }
    let abilities = server.abilities();
    if client.is_some() {
        pins(endpoint, server)?;
    }
    if let Some(tls) = endpoint.tls.filter(|tls| !abilities.tls.contains(&program_version(*tls))) {
        return refuse("tls", format!("{name} has no TLS {}", tls.name()));
    }
    match endpoint.handshake.later() {
        Handshake::Resumed if !abilities.resumes => {
            refuse("handshake", format!("{name} resumes no sessions"))
        }
        Handshake::Early if !abilities.early_data.contains(&protocol) => {
            refuse("handshake", format!("{name} takes no early data over {protocol}"))
        }
        _ => Ok(()),
    }
}

/// Whether a server that is not ours can hold a client that is not ours to a version and a cipher.
/// Our own client offers nothing else, so that the server need not be told.
fn pins(endpoint: &Endpoint, server: &Server) -> Result<(), Refusal> {
    let (name, abilities) = (server.name(), server.abilities());
    let refuse = |path, why| Err(Refusal { path, why });
    match (endpoint.tls, endpoint.cipher) {
        (None, None) => Ok(()),
        (None, Some(_)) => refuse("cipher", "it goes with a version: write tls too".to_owned()),
        (Some(tls), _) if !abilities.pins_tls => {
            refuse("tls", format!("{name} cannot be told to take TLS {} alone", tls.name()))
        }
        (Some(tls), Some(_)) if !abilities.ciphers.contains(&program_version(tls)) => {
            let version = tls.name();
            let why = format!("{name} cannot be told to take one cipher of TLS {version} alone");
            refuse("cipher", why)
        }
        (Some(_), _) => Ok(()),
    }
}

/// Keys that mean nothing to these programs.
pub(crate) fn ignored(settings: &Settings<'_>, programs: &Programs) -> Vec<&'static str> {
    let mut ignored = Vec::new();
    if choice(settings, "server") != CUSTOM {
        ignored.push("server-command");
    }
    match programs.client {
        Some(_) => ignored.push("handshake"),
        None => ignored.push("client-timeout"),
    }
    if choice(settings, "client") != CUSTOM {
        ignored.push("client-command");
    }
    if programs.server.is_some() && programs.client.is_some() {
        let ours = [tcp(), window(), idle_timeout()].concat();
        ignored.extend(ours.iter().map(|parameter| parameter.name));
    }
    ignored
}

/// Who answers over MQTT if a third-party program is the broker: it has no service behind it.
pub(crate) fn mqtt_answer(server: &Server, arguments: &Arguments) -> Result<MqttAnswer, Refusal> {
    if arguments.get("mqtt-answer") == Some(MqttAnswer::Service.name()) {
        let name = server.name();
        let why = format!("{name} has no service behind it: write mqtt-answer = \"echo\"");
        return Err(Refusal { path: "mqtt-answer", why });
    }
    Ok(MqttAnswer::Echo)
}

/// Whether the scenario may leave its protocol and workload to the programs at both ends.
pub(crate) fn need_no_protocol(spec: &Spec) -> bool {
    let is_written = |key: &str| spec.get(key).is_some();
    let server = is_written("server") || is_written("server-command");
    server && (is_written("client") || is_written("client-command"))
}

/// The version as programs know it.
pub fn program_version(version: TlsVersion) -> trackbed_programs::TlsVersion {
    match version {
        TlsVersion::Tls12 => trackbed_programs::TlsVersion::Tls12,
        TlsVersion::Tls13 => trackbed_programs::TlsVersion::Tls13,
    }
}

/// Who stands at an end: by name, or by a command that makes a name needless.
fn choice(settings: &Settings<'_>, end: &str) -> &'static str {
    let implied =
        if settings.spec.get(&format!("{end}-command")).is_some() { CUSTOM } else { OURS };
    settings.word(end).unwrap_or(implied)
}

fn text(settings: &Settings<'_>, end: &'static str, key: &'static str) -> Result<String, Refusal> {
    let missing =
        || Refusal { path: end, why: format!("the command is missing: write {key} = ..") };
    settings.get::<String>(key).ok_or_else(missing)
}

fn transport(protocol: &dyn Protocol) -> Option<trackbed_programs::Transport> {
    if protocol.name() == foreign::PROTOCOL.name() {
        return None;
    }
    Some(match protocol.capabilities().transport {
        Transport::Tcp => trackbed_programs::Transport::Tcp,
        // SCTP comes in UDP datagrams where the kernel's sockets are used.
        Transport::Udp | Transport::Coap | Transport::Sctp => trackbed_programs::Transport::Udp,
    })
}

/// The keys of programs at the ends.
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

const SERVER: &str = "who answers (emulated substrate): `trackbed`, a program \
                      (`trackbed list programs`), or `command` for the server-command; without it that, or ours";
const SERVER_COMMAND: &str = "a server of your own, as words without a shell; {address} {port} \
                              {name} {certificate} {key} {directory} {site} stand for its own";
const CLIENT: &str = "who asks (emulated substrate): `trackbed`, a program (`curl`, `chromium`), \
                      or `command` for the client-command; without it that, or ours";
const CLIENT_COMMAND: &str = "a client of your own, likewise, with {address} {port} {name} \
                              {certificate} {directory}; its exit status says whether it went \
                              well, its duration is the completion";
const CLIENT_TIMEOUT_HELP: &str = "how long a client that is not ours may take; else 10 min";

const CLIENT_TIMEOUT: Duration = Duration::from_secs(600);

/// The name of our own ends.
const OURS: &str = "trackbed";
/// The name of an end that is a command.
const CUSTOM: &str = "command";
