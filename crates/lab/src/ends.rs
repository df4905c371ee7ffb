//! The two ends of a run in real time, on the kernel's sockets.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{Error, Service};
use trackbed_core::event::Role;
use trackbed_core::{Event, EventLog, Seed, Time};
use trackbed_emulator::enclosure::Usage;
use trackbed_protocols::{
    Ledger, Observer, PathControl, ServerConfig, ServerHandle, ServerLimits, TransportParameters,
};
use trackbed_substrate::kernel::{Machine, Waiting};
use trackbed_substrate::{Host, Task, now, sleep, sleep_until, yield_now};
use trackbed_workloads::Patience;

use crate::environment;
use crate::foresight::WhoActs;
use crate::logs::sent;
use crate::machine::usage;
use crate::scene::{Scene, transport};
use crate::tick;
use crate::wiring::{self, Connecting, Phones};
use trackbed_scenario::Cell;

pub(crate) struct Serving {
    handle: ServerHandle,
    account: Account,
    _following: Option<Task<()>>,
}

impl Serving {
    /// Starts the server of `cell` on an address of `host`, within `limits`.
    pub fn begin(
        cell: &Cell,
        seed: &Seed,
        (machine, host, observer): (&Machine, Arc<dyn Host>, Option<Arc<dyn Observer>>),
        (listen, limits): (SocketAddr, ServerLimits),
        service: Rc<dyn Service>,
    ) -> Result<Serving, Error> {
        let account = Account::open(Role::Server, machine);
        let transport = TransportParameters { observer, ..account.transport(cell) };
        let wired = wiring::server(cell, transport, PathControl::default());
        let config = ServerConfig { limits, ..wired };
        let handle = cell.endpoint.protocol.serve((host, listen), &config, service)?;
        let scene = Scene::of(cell, seed, environment::REAL_LEAD);
        let controls = (PathControl::default(), config.paths);
        let following = scene.follow(cell, &[WhoActs::Server], controls);
        Ok(Serving { handle, account, _following: following })
    }

    /// The address it listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.handle.local_addr()
    }

    /// Its certificate in DER, if it has one.
    pub fn trust(&self) -> Option<Vec<u8>> {
        self.handle.trust().map(|trust| trust.as_der().to_vec())
    }

    /// Stops it, and records its account.
    pub async fn end(self, log: &EventLog) {
        drop(self.handle);
        self.account.close(log).await;
    }
}

pub(crate) struct Clients {
    pub phones: Phones,
    /// Learns the TLS secrets.
    pub observer: Option<Arc<dyn Observer>>,
    /// Whether to begin at a moment between two ticks of the kernel that is drawn from the seed.
    pub aligned: bool,
    /// Waits until the clients in other processes are ready too, if there are any, and returns when all begin.
    pub gate: Option<fn() -> Time>,
}

impl Clients {
    /// Executes the workload of `cell` to its end.
    pub async fn drive(
        self,
        cell: &Cell,
        seed: &Seed,
        machine: &Machine,
        log: &EventLog,
    ) -> Result<(), Error> {
        let account = Account::open(Role::Client, machine);
        let Clients { phones, observer, aligned, gate } = self;
        let scene = Scene::of(cell, seed, environment::REAL_LEAD);
        scene.record_handovers(cell, log);
        let transport = TransportParameters { observer, ..account.transport(cell) };
        let paths = PathControl::default();
        let patience = Patience::REAL;
        let connecting = Connecting { transport, paths: paths.clone(), binds: true, patience };
        let stage = phones.stage(cell, &scene, connecting, (seed, log), |dialer| dialer)?;
        let controls = (paths, PathControl::default());
        let _following = scene.follow(cell, &[WhoActs::Client], controls);
        let begin = gate.map(|wait| wait());
        // Preparing hundreds of phones takes longer than they may start apart, and the clock stands
        // still until a task waits.
        yield_now().await;
        if let Some(begin) = begin {
            sleep_until(begin).await;
        }
        if aligned {
            tick::align(seed).await;
        }
        cell.workload.drive(stage).await;
        account.close(log).await;
        Ok(())
    }
}

/// An end's resource usage and traffic, from start to close.
struct Account {
    role: Role,
    machine: Machine,
    begun: Usage,
    waited: Waiting,
    ledger: Ledger,
}

impl Account {
    fn open(role: Role, machine: &Machine) -> Account {
        let (machine, waited) = (machine.clone(), machine.waiting());
        Account { role, machine, begun: usage(), waited, ledger: Ledger::default() }
    }

    /// Connection parameters that record connections in this account.
    fn transport(&self, cell: &Cell) -> TransportParameters {
        TransportParameters { ledger: Some(self.ledger.clone()), ..transport(cell) }
    }

    /// Lets connections end, and records the sums.
    async fn close(self, log: &EventLog) {
        sleep(SETTLING).await;
        let Account { role, machine, begun, waited, ledger } = self;
        log.record(now(), sent(role, ledger.totals()));
        let Usage { processor, memory_bytes } = usage();
        let processor = processor.saturating_sub(begun.processor);
        let waiting = machine.waiting();
        let used = Event::Used {
            role,
            processor,
            memory_bytes,
            dropped_datagrams: machine.datagrams_dropped(),
            served: waiting.served - waited.served,
            tasks_waited: waiting.tasks.saturating_sub(waited.tasks),
            without_processor: waiting.thread.saturating_sub(waited.thread),
        };
        log.record(now(), used);
    }
}

/// Time for closing connections to send their last packets.
const SETTLING: Duration = Duration::from_millis(5);
