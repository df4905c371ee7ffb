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
use trackbed_core::event::Role;
use trackbed_core::{EventLog, Seed, Time};
use trackbed_protocols::{Observer, ServerLimits, Trust};
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::{sleep, spawn_named};

use super::conversation::{Go, Job, Report, Start};
use super::ground;
use crate::ends::{Clients, Serving};
use crate::environment;
use crate::notes::Notes;
use crate::scene::Scene;
use crate::topology::{SERVER_NAME, phone_name};
use crate::warm_up::warm_up;
use crate::windows::Windows;
use crate::wiring::Phones;
use trackbed_scenario::{Cell as PlanCell, SERVER_ADDRESSES};

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
    warm_up(&cell.endpoint);
    Scene::prepare(cell);
    tell(&Report::Prepared);
    let Start { origin, trust } = order()?;
    let execution =
        Execution::new(Origin::from_nanos(origin)).with_time_limit(Time::from_millis(RUN_MAX_MS));
    let log = EventLog::default();
    let windows = job.notes_windows.then(Windows::default);
    let notes = job.is_watched.then(|| Notes { windows, ..Notes::default() });
    let observer = notes.clone().map(|notes| Arc::new(notes) as Arc<dyn Observer>);
    let finished = match job.role {
        Role::Server => execution
            .run(|machine| serve(cell, seed, (machine.with_seed(seed), observer), log.clone())),
        Role::Client => execution.run(|machine| {
            let place = (machine.with_seed(seed), observer);
            drive((cell, job.phones.clone()), seed, place, log.clone(), trust)
        }),
    };
    finished.map_err(|why| why.to_string())?.map_err(|why: Error| why.to_string())?;
    let keys = notes.as_ref().map(|notes| notes.keys.cursor().take_new()).unwrap_or_default();
    let windows = notes.and_then(|notes| notes.windows.as_ref()?.take().into_values().next());
    Ok(Report::Done { records: log.take(), keys, windows })
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

async fn serve(
    cell: &PlanCell,
    seed: Seed,
    (machine, observer): Place,
    log: EventLog,
) -> Result<(), Error> {
    let _in_touch = spawn_named("signs of life", stay_in_touch());
    let host = machine.host(SERVER_NAME, SERVER_ADDRESSES);
    let service = cell.workload.service(log.clone());
    let listen = (cell.endpoint.ip.server(), ServerLimits::default());
    let serving = Serving::begin(cell, &seed, (&machine, host, observer), listen, service)?;
    tell(&Report::Ready { trust: serving.trust() });
    if let Ok(input) = io::stdin().as_fd().try_clone_to_owned() {
        // Whatever the error is: there will be no further input.
        let _ = machine.closed(input).await;
    }
    serving.end(&log).await;
    Ok(())
}

async fn drive(
    (cell, numbers): (&PlanCell, Range<u32>),
    seed: Seed,
    (machine, observer): Place,
    log: EventLog,
    trust: Option<Vec<u8>>,
) -> Result<(), Error> {
    let scene = Scene::of(cell, &seed, environment::REAL_LEAD);
    let host = |number: u32| {
        let addresses = scene.addresses(cell, number);
        machine.roaming(&phone_name(number), addresses, move_on)
    };
    let gate = if numbers.len() < cell.workload.phones() as usize {
        Some(wait_for_others as fn() -> Time)
    } else {
        exit_with_parent();
        None
    };
    let first = numbers.start;
    let hosts = numbers.map(host).collect();
    let trust = trust.map(Trust::from_der);
    let mut server = cell.endpoint.ip.server();
    if let Some(port) = cell.endpoint.programs.port() {
        server.set_port(port);
    }
    // Only the kernel's own TCP waits for ticks.
    let aligned = cell.endpoint.protocol.capabilities().transport == Transport::Tcp;
    let phones = Phones { first, hosts, server, trust };
    let clients = Clients { phones, observer, aligned, gate };
    let _in_touch = spawn_named("signs of life", stay_in_touch());
    clients.drive(cell, &seed, &machine, &log).await
}

/// Waits for the clients in other processes; returns when all begin.
fn wait_for_others() -> Time {
    tell(&Report::Ready { trust: None });
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
