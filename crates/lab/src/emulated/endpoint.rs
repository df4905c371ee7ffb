//! The process of an end, from the inside.

use std::ffi::OsString;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use trackbed_connection::{Error, Transport};
use trackbed_core::event::{Record, Role};
use trackbed_core::{Event, EventLog, Seed, Time};
use trackbed_protocols::{Observer, ServerLimits, Trust};
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::{before, now, sleep, sleep_until, spawn_named};

use super::conversation::{Go, Job, Report, Start};
use super::ground;
use crate::crowd::Member;
use crate::ends::{Clients, Serving};
use crate::environment;
use crate::notes::Notes;
use crate::scene::Scene;
use crate::topology::{SERVER_NAME, phone_name};
use crate::warm_up::warm_up;
use crate::windows::Windows;
use crate::wiring::Phones;
use trackbed_scenario::SERVER_ADDRESSES;

/// If this process was started as an end of a run, executes it and returns its exit code; `None`
/// otherwise. Call this first, with all arguments of the process.
pub fn endpoint(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    arguments.into_iter().nth(1).filter(|first| first == ENDPOINT)?;
    let report = order().and_then(work).unwrap_or_else(Report::Failed);
    tell(&report);
    Some(u8::from(matches!(report, Report::Failed(_))))
}

fn work(job: Job) -> Result<Report, String> {
    let plan = job.about.recipe().plan().map_err(|why| why.to_string())?;
    let cell = &plan.cells[job.cell as usize];
    let seed = Seed::of_run(plan.seed, u64::from(job.run));
    cell.groups().iter().for_each(|group| warm_up(&group.endpoint));
    Scene::prepare(cell);
    tell(&Report::Prepared);
    let Start { origin, trusts } = order()?;
    let execution =
        Execution::new(Origin::from_nanos(origin)).with_time_limit(Time::from_millis(RUN_MAX_MS));
    let windows = job.notes_windows.then(Windows::default);
    let notes = job.is_watched.then(|| Notes { windows, ..Notes::default() });
    let observer = notes.clone().map(|notes| Arc::new(notes) as Arc<dyn Observer>);
    let members = Member::all(cell, &seed);
    let finished = match job.role {
        Role::Server => {
            execution.run(|machine| serve(members, (machine.with_seed(seed), observer)))
        }
        Role::Client => execution.run(|machine| {
            let place = (machine.with_seed(seed), observer);
            drive(members, job.phones.clone(), place, trusts)
        }),
    };
    let records = finished.map_err(|why| why.to_string())?.map_err(|why: Error| why.to_string())?;
    let keys = notes.as_ref().map(|notes| notes.keys.cursor().take_new()).unwrap_or_default();
    let windows = notes.and_then(|notes| notes.windows.as_ref()?.take().into_values().next());
    Ok(Report::Done { records, keys, windows })
}

/// The machine of an end, and who sees inside.
type Place = (Machine, Option<Arc<dyn Observer>>);

fn order<T: DeserializeOwned>() -> Result<T, String> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).map_err(|why| why.to_string());
    // As bytes, like all other messages: the code that reads JSON is compiled once for each kind of text.
    let meant =
        read.and_then(|_| serde_json::from_slice(line.as_bytes()).map_err(|why| why.to_string()));
    meant.map_err(|why| format!("an end received an invalid message: {why}"))
}

/// Reports every second that this end is working. It is a task among those that do the work: if
/// they hang, it is silent too.
async fn stay_in_touch() {
    loop {
        sleep(SIGN_OF_LIFE).await;
        tell(&Report::Alive);
    }
}

/// Serves all members; returns the events of each.
async fn serve(
    members: Vec<Member>,
    (machine, observer): Place,
) -> Result<Vec<Vec<Record>>, Error> {
    let _in_touch = spawn_named("signs of life", stay_in_touch());
    let serving = |member: &Member| {
        let (cell, log) = (&member.cell, EventLog::default());
        let host = machine.host(SERVER_NAME, SERVER_ADDRESSES);
        let service = cell.workload.service(log.clone());
        let mut listen = cell.endpoint.ip.server();
        listen.set_port(listen.port() + member.port);
        let (place, listen) =
            ((&machine, host, observer.clone()), (listen, ServerLimits::default()));
        Ok((Serving::begin(cell, &member.seed, place, listen, service)?, log))
    };
    let serving = members.iter().map(serving).collect::<Result<Vec<_>, Error>>()?;
    tell(&Report::Ready { trusts: serving.iter().map(|(serving, _)| serving.trust()).collect() });
    if let Ok(input) = io::stdin().as_fd().try_clone_to_owned() {
        // Whatever the error is: there will be no further input.
        let _ = machine.closed(input).await;
    }
    let mut records = Vec::new();
    for (serving, log) in serving {
        serving.end(&log).await;
        records.push(log.take());
    }
    Ok(records)
}

/// Runs the clients of all members; returns the events of each.
async fn drive(
    members: Vec<Member>,
    numbers: Range<u32>,
    (machine, observer): Place,
    trusts: Vec<Option<Vec<u8>>>,
) -> Result<Vec<Vec<Record>>, Error> {
    let is_part = |member: &Member| numbers.len() < member.cell.workload.phones() as usize;
    let gate = if members.iter().any(is_part) {
        Some(wait_for_others as Gate)
    } else {
        exit_with_parent();
        None
    };
    let _in_touch = spawn_named("signs of life", stay_in_touch());
    let is_one = members.len() == 1;
    let mut acting = Vec::new();
    for (member, trust) in members.into_iter().zip(trusts) {
        let (machine, observer) = (machine.clone(), observer.clone());
        let own = member.first..member.first + member.cell.workload.phones();
        let numbers = if is_one { numbers.clone() } else { own };
        let log = EventLog::default();
        let ended = log.clone();
        let act = act(member, (numbers, gate), (machine, observer), trust, log);
        acting.push((ended, spawn_named("member", act)));
    }
    let mut records = Vec::new();
    for (log, task) in acting {
        task.await?;
        records.push(log.take());
    }
    Ok(records)
}

/// Waits for the clients in other processes.
type Gate = fn() -> Time;

/// Runs the clients of one member.
async fn act(
    member: Member,
    (numbers, gate): (Range<u32>, Option<Gate>),
    (machine, observer): Place,
    trust: Option<Vec<u8>>,
    log: EventLog,
) -> Result<(), Error> {
    let Member { cell, seed, begin, stop, port, .. } = member;
    let scene = Scene::of(&cell, &seed, environment::REAL_LEAD);
    let host =
        |number: u32| machine.roaming(&phone_name(number), scene.addresses(&cell, number), move_on);
    let first = numbers.start;
    let hosts = numbers.map(host).collect();
    let trust = trust.map(Trust::from_der);
    let mut server = cell.endpoint.ip.server();
    server.set_port(cell.endpoint.programs.port().unwrap_or(server.port()) + port);
    // Only the kernel's own TCP waits for ticks.
    let aligned = cell.endpoint.protocol.capabilities().transport == Transport::Tcp;
    let phones = Phones { first, hosts, server, trust };
    let clients = Clients { phones, observer, aligned, gate };
    let base = now();
    if !begin.is_zero() {
        sleep_until(base + begin).await;
    }
    let drive = clients.drive(&cell, &seed, &machine, &log);
    let Some(stop) = stop else { return drive.await };
    before(base + stop, drive).await.unwrap_or_else(|| {
        log.record(now(), Event::Finished);
        Ok(())
    })
}

/// Waits for the clients in other processes; returns when all begin.
fn wait_for_others() -> Time {
    tell(&Report::Ready { trusts: Vec::new() });
    let Ok(Go { at }) = order() else { std::process::exit(1) };
    exit_with_parent();
    at
}

/// If the parent process is gone, no process will read the output.
fn exit_with_parent() {
    thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
}

/// A phone moves on. What the links still hold for it must not delay what comes over its next network.
fn move_on(left: &[IpAddr], next: &[IpAddr]) -> io::Result<()> {
    let gone = left.iter().filter(|address| !next.contains(address));
    tell(&Report::Left(gone.copied().collect()));
    ground::rewire(left, next)
}

/// If no process reads the output, the input ends as well.
fn tell(report: &Report) {
    let mut line = serde_json::to_vec(report).expect("a report is plain data");
    line.push(b'\n');
    let mut output = io::stdout().lock();
    let _ = output.write_all(&line).and_then(|()| output.flush());
}

/// The first argument of an end: neither a command of this program, nor something a user would
/// type.
pub(super) const ENDPOINT: &str = "@endpoint";

/// Interval of [`Report::Alive`].
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// A day, as in virtual time: longer than any sensible transfer.
const RUN_MAX_MS: u64 = 86_400_000;
