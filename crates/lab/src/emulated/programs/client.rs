//! A client that is not ours.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record, Role as End};
use trackbed_core::units::format_duration;
use trackbed_emulator::Clock;
use trackbed_emulator::enclosure::Usage;
use trackbed_emulator::namespace::NetNamespace;
use trackbed_programs::{Folder, Launch, Listens, Running, Used, find_executable};
use trackbed_protocols::SERVER_NAME;

use crate::scenario::ClientCommand;
use crate::track::{IpVersion, SERVER_PORT};

/// Where a client runs.
pub(super) struct Place<'a> {
    pub namespace: &'a NetNamespace,
    pub folder: &'a Arc<Folder>,
    pub clock: Clock,
}

/// Runs `command` to its end, and returns its events. `watch` looks now and then after a server
/// that is not ours; its error ends the waiting.
pub(super) fn run(
    command: &ClientCommand,
    port: Option<u16>,
    place: &Place<'_>,
    mut watch: impl FnMut() -> Result<(), String>,
) -> Result<Vec<Record>, String> {
    let &Place { namespace, folder, clock } = place;
    let executable = find_executable(&[command.words.program()], None);
    let executable = executable.map_err(|missing| missing.to_string())?;
    let launch = launch(command, port.unwrap_or(SERVER_PORT), folder);
    let begin = clock.now();
    let started = Running::start(namespace, &executable, &launch, folder, "client");
    let mut running = started.map_err(|why| why.to_string())?;
    let account = loop {
        if let Some(account) = running.try_finish().map_err(|why| why.to_string())? {
            break account;
        }
        watch()?;
        if clock.now() > begin + command.timeout {
            let limit = format_duration(command.timeout);
            return Err(format!("{} has not ended within {limit}", command.words.program()));
        }
        running.wait_for_end(PERIOD);
    };
    let at =
        |monotonic: Time| Time::from_nanos(monotonic.as_nanos().saturating_sub(clock.origin()));
    let (begin, end) = (at(account.begin), at(account.end));
    let Usage { processor, memory_bytes } = account.usage;
    let used = Used { processor, memory_bytes };
    Ok(vec![
        Record { at: begin, event: Event::Started },
        Record { at: end, event: Event::Completed { phone: 0 } },
        Record { at: end, event: Event::Finished },
        Record { at: end, event: super::used(End::Client, used) },
    ])
}

fn launch(command: &ClientCommand, port: u16, folder: &Folder) -> Launch {
    let values = [
        ("address", IpVersion::V4.server().ip().to_string()),
        ("port", port.to_string()),
        ("name", SERVER_NAME.to_owned()),
        ("certificate", folder.setup().certificate.display().to_string()),
        ("directory", folder.path().display().to_string()),
    ];
    Launch {
        arguments: command.words.arguments(&values),
        environment: Vec::new(),
        files: Vec::new(),
        listens: Listens { transport: None, port },
    }
}

/// How often the server is looked after.
const PERIOD: Duration = Duration::from_millis(20);
