//! A third-party client.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record, Role};
use trackbed_core::units::format_duration;
use trackbed_emulator::Clock;
use trackbed_emulator::enclosure::Account;
use trackbed_emulator::namespace::NetNamespace;
use trackbed_programs::{
    Channel, Client, Folder, ProgramError, Running, Session, Visit, Visited, Wanted,
    find_executable,
};
use trackbed_protocols::SERVER_NAME;
use trackbed_workloads::PageObject;

use super::visited;
use crate::run::Onlooker;
use trackbed_scenario::{Cell, ForeignClient, IpVersion, SERVER_PORT};

pub(in super::super) struct Place<'a> {
    pub namespace: &'a NetNamespace,
    pub folder: &'a Arc<Folder>,
    pub clock: Clock,
    /// The server's certificate in DER.
    pub trust: Vec<u8>,
    /// Who wants its TLS secrets.
    pub onlooker: Option<&'a dyn Onlooker>,
}

/// Runs the client of `cell` until it ends, and returns its events. `watch` regularly checks the
/// server; its error ends the wait.
pub(super) fn run(
    client: &ForeignClient,
    cell: &Cell,
    place: &Place<'_>,
    watch: impl FnMut() -> Result<(), String>,
) -> Result<Vec<Record>, String> {
    let program = &client.program;
    let wanted = wanted(cell)?;
    let visit = Visit {
        folder: &place.folder.scratch(),
        certificate: place.folder.setup().certificate,
        trust: &place.trust,
        address: IpVersion::V4.server().ip(),
        port: cell.endpoint.programs.port().unwrap_or(SERVER_PORT),
        name: SERVER_NAME,
        protocol: cell.endpoint.protocol.name(),
        wanted: &wanted,
    };
    let mut running = start(program, &visit, place).map_err(|why| why.to_string())?;
    let mut session = program.session(&visit);
    let account = follow(&mut running, session.as_deref_mut(), (client, place.clock), watch)?;
    let visited = match session {
        Some(mut session) => {
            if running.channel.is_none() {
                session.hear(&running.program.output().map_err(|why| why.to_string())?)?;
            }
            let visited = session.finish()?;
            Some(visit.judge(visited).map_err(|why| format!("{}: {why}", program.name()))?)
        }
        None => None,
    };
    let page = cell.workload.page();
    Ok(records(&account, visited.as_ref(), page.as_deref().unwrap_or_default(), place.clock))
}

/// The workload's files for third-party clients, with their sizes.
fn wanted(cell: &Cell) -> Result<Vec<Wanted>, String> {
    let mut wanted = Vec::new();
    for file in cell.workload.site().unwrap_or_default().objects() {
        let mut size = Size(0);
        let failed = |why| format!("{} cannot be made: {why}", file.path);
        (file.content)(&mut size).map_err(failed)?;
        wanted.push(Wanted { path: file.path.clone(), bytes: size.0 });
    }
    Ok(wanted)
}

/// Counts the bytes written and discards them.
struct Size(u64);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Conversing {
    program: Running,
    channel: Option<Channel>,
}

fn start(
    client: &Client,
    visit: &Visit<'_>,
    place: &Place<'_>,
) -> Result<Conversing, ProgramError> {
    let executable = find_executable(&client.executables(), client.about().package);
    let executable = executable.map_err(ProgramError::Missing)?;
    let mut launch = client.prepare(visit)?;
    let &Place { namespace, folder, .. } = place;
    if place.onlooker.is_some() {
        launch.environment.push(folder.expect_keys()?);
    }
    let channel = client.has_channel().then(|| Channel::new(folder)).transpose()?;
    let program = Running::start(namespace, &executable, &launch, folder, LABEL, channel.as_ref())?;
    Ok(Conversing { program, channel })
}

/// Converses with a client until it ends successfully.
fn follow(
    running: &mut Conversing,
    mut session: Option<&mut (dyn Session + 'static)>,
    (client, clock): (&ForeignClient, Clock),
    mut watch: impl FnMut() -> Result<(), String>,
) -> Result<Account, String> {
    let Conversing { program, channel } = running;
    let name = client.program.name();
    let begin = clock.now();
    loop {
        if let (Some(channel), Some(session)) = (channel.as_mut(), session.as_deref_mut()) {
            converse(channel, session).map_err(|why| format!("{name}: {why}"))?;
        }
        if let Some(account) = program.try_finish().map_err(|why| why.to_string())? {
            return Ok(account);
        }
        watch()?;
        if clock.now() > begin + client.timeout {
            let limit = format_duration(client.timeout);
            return Err(format!("{name} has not ended within {limit}"));
        }
        match channel {
            Some(channel) => program.wait_for_word(channel, PERIOD),
            None => program.wait_for_end(PERIOD),
        }
    }
}

fn converse(channel: &mut Channel, session: &mut dyn Session) -> Result<(), String> {
    let heard = channel.read().map_err(|why| format!("reading from it failed: {why}"))?;
    session.hear(&heard)?;
    while let Some(words) = session.say() {
        channel.write(&words).map_err(|why| format!("writing to it failed: {why}"))?;
    }
    Ok(())
}

fn records(
    account: &Account,
    visited: Option<&Visited>,
    page: &[PageObject],
    clock: Clock,
) -> Vec<Record> {
    let at =
        |monotonic: Time| Time::from_nanos(monotonic.as_nanos().saturating_sub(clock.origin()));
    let used = Record { at: at(account.end), event: super::used(Role::Client, account.usage) };
    let (begin, end) = match visited {
        Some(visited) => {
            let begin = at(visited.begin.unwrap_or(account.begin));
            (begin, begin + visited.took())
        }
        None => (at(account.begin), at(account.end)),
    };
    let mut records = match visited {
        Some(visited) => visited::records(begin, visited, page),
        None => vec![Record { at: begin, event: Event::Started }],
    };
    records.push(Record { at: end, event: Event::Completed { phone: 0 } });
    records.push(Record { at: end, event: Event::Finished });
    records.push(used);
    records
}

const PERIOD: Duration = Duration::from_millis(20);

const LABEL: &str = "client";
