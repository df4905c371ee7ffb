//! The process of an end, seen from the inside.

use std::ffi::OsString;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use trackbed_core::event::{Record, Role as End};
use trackbed_core::{Event, EventLog, Seed, Time};
use trackbed_protocols::{
    ClientConfig, Dialer, Error, Ledger, LedgerTotals, PathControl, ServerConfig,
    TransportParameters, Trust,
};
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::{Host, now, sleep, spawn_named};
use trackbed_workloads::{Patience, Stage};

use super::conversation::{Job, Report, Role, Start};
use super::ground;
use super::machine::{self, Usage};
use super::warm_up::warm_up;
use crate::environment;
use crate::foresight::WhoActs;
use crate::scenario::{self, Cell as PlanCell, Override, Source};
use crate::scene::{Scene, transport};
use crate::track::{SERVER_ADDRESSES, SERVER_NAME, phone_name};

/// If this process was started as an end of a run, does that work and returns its exit code;
/// `None` otherwise. Call it first of all, with all arguments of the process.
pub fn endpoint(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    arguments.into_iter().nth(1).filter(|first| first == ENDPOINT)?;
    let done = order().and_then(work);
    let report = done.map_or_else(Report::Failed, Report::Done);
    tell(&report);
    Some(u8::from(matches!(report, Report::Failed(_))))
}

fn work(job: Job) -> Result<Vec<Record>, String> {
    let overrides: Result<Vec<Override>, _> =
        job.about.overrides.iter().map(|text| text.parse()).collect();
    let overrides = overrides.map_err(|why| why.to_string())?;
    let source = Source::recorded(&job.about.scenario, &job.about.text);
    let plan = scenario::load_from(&source, &overrides, &job.about.folder);
    let plan = plan.map_err(|why| why.to_string())?;
    if plan.hash != job.about.plan {
        return Err("a file that the scenario names has changed since the start".to_owned());
    }
    let cell = &plan.cells[job.cell as usize];
    let seed = Seed::of_run(plan.seed, u64::from(job.run));
    warm_up(&cell.endpoint);
    Scene::prepare(cell);
    tell(&Report::Prepared);
    let Start { origin, trust } = order()?;
    let execution =
        Execution::new(Origin::from_nanos(origin)).with_time_limit(Time::from_millis(RUN_MAX_MS));
    let log = EventLog::default();
    let finished = match job.role {
        Role::Server => execution.run(|machine| serve(cell, seed, machine, log.clone())),
        Role::Clients => {
            // Whoever started us is gone, and nobody will hear what comes out.
            thread::spawn(|| {
                let _ = io::stdin().lock().read_to_end(&mut Vec::new());
                std::process::exit(1);
            });
            execution.run(|machine| drive(cell, seed, machine, log.clone(), trust))
        }
    };
    finished.map_err(|why| why.to_string())?.map_err(|why: Error| why.to_string())?;
    Ok(log.take())
}

/// The next line that we are told.
fn order<T: DeserializeOwned>() -> Result<T, String> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).map_err(|why| why.to_string());
    let meant = read.and_then(|_| serde_json::from_str(&line).map_err(|why| why.to_string()));
    meant.map_err(|why| format!("an end was told something that it does not understand: {why}"))
}

/// Says every second that we are at work. It is a task among those that do the work: if they
/// hang, it is silent.
async fn stay_in_touch() {
    loop {
        sleep(SIGN_OF_LIFE).await;
        tell(&Report::Alive);
    }
}

/// Serves until our input ends.
async fn serve(cell: &PlanCell, seed: Seed, machine: Machine, log: EventLog) -> Result<(), Error> {
    let endpoint = &cell.endpoint;
    let (begun, ledger) = (machine::usage(), Ledger::default());
    let transport = TransportParameters { ledger: Some(ledger.clone()), ..transport(cell) };
    let config =
        ServerConfig { tls: endpoint.tls_parameters(), transport, ..ServerConfig::default() };
    let _in_touch = spawn_named("signs of life", stay_in_touch());
    let host = machine.host(SERVER_NAME, SERVER_ADDRESSES);
    let service = cell.workload.service(log.clone());
    let server = endpoint.protocol.serve(host, endpoint.ip.server(), &config, service)?;
    let scene = Scene::of(cell, &seed, environment::REAL_LEAD);
    let controls = (PathControl::default(), config.paths.clone());
    let _following = scene.follow(cell, &[WhoActs::Server], controls);
    tell(&Report::Ready { trust: server.trust().map(|trust| trust.as_der().to_vec()) });
    if let Ok(input) = io::stdin().as_fd().try_clone_to_owned() {
        // Whatever may be wrong with it: nobody tells us anything any more.
        let _ = machine.closed(input).await;
    }
    drop(server);
    settle(End::Server, begun, &ledger, &machine, &log).await;
    Ok(())
}

/// Does the workload.
async fn drive(
    cell: &PlanCell,
    seed: Seed,
    machine: Machine,
    log: EventLog,
    trust: Option<Vec<u8>>,
) -> Result<(), Error> {
    let endpoint = &cell.endpoint;
    let (begun, ledger) = (machine::usage(), Ledger::default());
    let server = endpoint.ip.server();
    let networks = cell.workload.networks();
    let scene = Scene::of(cell, &seed, environment::REAL_LEAD);
    scene.handovers().into_iter().for_each(|Record { at, event }| log.record(at, event));
    let host = |number: u32| {
        let addresses = scene.addresses(cell, number);
        machine.roaming(&phone_name(number), addresses, ground::rewire)
    };
    let hosts: Vec<Arc<dyn Host>> = (0..cell.workload.phones()).map(host).collect();
    let paths = PathControl::default();
    let dialer = |(number, host): (u32, &Arc<dyn Host>)| -> Result<Rc<dyn Dialer>, Error> {
        // Who stays where it is can have its sockets before anything is measured.
        let own = host.addresses().into_iter().find(|own| own.is_ipv4() == server.is_ipv4());
        let mut config = ClientConfig {
            trust: trust.clone().map(Trust::from_der),
            tls: endpoint.tls_parameters(),
            handshake: endpoint.handshake,
            local: own.filter(|_| networks == 1),
            transport: TransportParameters { ledger: Some(ledger.clone()), ..transport(cell) },
            paths: paths.clone(),
        };
        scene.tell_paths(cell, number, &mut config);
        endpoint.protocol.dialer(Arc::clone(host), &config)
    };
    let phones = (0..).zip(&hosts).map(dialer).collect::<Result<Vec<_>, _>>()?;
    let course = scene.course.clone();
    let _following = scene.follow(cell, &[WhoActs::Client], (paths, PathControl::default()));
    let stage = Stage {
        phones,
        capabilities: endpoint.protocol.capabilities(),
        hosts,
        server,
        handshake: endpoint.handshake,
        patience: Patience::REAL,
        course,
        seed: seed.child("workload"),
        log: log.clone(),
    };
    let _in_touch = spawn_named("signs of life", stay_in_touch());
    cell.workload.drive(stage).await;
    settle(End::Client, begun, &ledger, &machine, &log).await;
    Ok(())
}

/// Lets connections end and enters the accounts. Processor time counts from `begun` on.
async fn settle(role: End, begun: Usage, ledger: &Ledger, machine: &Machine, log: &EventLog) {
    sleep(SETTLING).await;
    let LedgerTotals { packets_sent, packets_lost, .. } = ledger.totals();
    log.record(now(), Event::Transport { role, packets_sent, packets_lost });
    let Usage { processor, memory_bytes } = machine::usage();
    let processor = processor.saturating_sub(begun.processor);
    let dropped_datagrams = machine.datagrams_dropped();
    log.record(now(), Event::Used { role, processor, memory_bytes, dropped_datagrams });
}

/// If nobody listens any more, our input ends as well.
fn tell(report: &Report) {
    let mut line = serde_json::to_vec(report).expect("a report is plain data");
    line.push(b'\n');
    let mut output = io::stdout().lock();
    let _ = output.write_all(&line).and_then(|()| output.flush());
}

/// The first argument of an end: no command of ours, and nothing that a shell would write.
pub(super) const ENDPOINT: &str = "@endpoint";

/// How often an end says that it is at work.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// A day, as in virtual time: longer than any transfer that makes sense.
const RUN_MAX_MS: u64 = 86_400_000;
/// What closing connections take to say so.
const SETTLING: Duration = Duration::from_millis(5);
