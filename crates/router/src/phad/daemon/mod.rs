//! The daemon: passes positions and signals to the state machine, and its orders to the kernel.

mod telling;

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::Duration;

use serde_json::Value;
use trackbed_core::Time;
use trackbed_linux::mptcp_pm::PathManagerError;
use trackbed_outward::{Log, Metrics, Signal};
use trackbed_railway::phad::{Controller, Flag, Lost, Order, Reason, Settings, Sighting};
use trackbed_substrate::kernel::Origin;

use crate::phad::figures::Figures;
use crate::phad::flags::{FlagError, Flags};
use crate::phad::gpsd::Fix;
use crate::phad::interfaces::Interfaces;
use crate::phad::paths::{self, Operator, State};
use crate::phad::route::{Route, RouteFile};
use crate::phad::source::{News, Source};

/// The configuration of a daemon.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The operators, two at least.
    pub operators: Vec<Operator>,
    /// The file of the handover table.
    pub table: PathBuf,
    /// The maximum age of its file; `None` for any age.
    pub table_age_max: Option<Duration>,
    /// The source of positions.
    pub source: Source,
    /// The age of positions on arrival.
    pub position_age: Duration,
    /// The settings of the state machine.
    pub settings: Settings,
    /// The file that records flags.
    pub state: PathBuf,
    /// Whether to change nothing in the kernel.
    pub dry_run: bool,
}

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    plan: Plan,
    log: Log,
    figures: Figures,
    origin: Origin,
    controller: Controller,
    flags: Flags,
    interfaces: Interfaces,
    file: RouteFile,
    route: Route,
    /// The table is too old to be used.
    stale: bool,
    states: Vec<State>,
    inbox: Receiver<Message>,
    outbox: SyncSender<Message>,
    looked: Option<Time>,
    /// The last error of the kernel.
    complaint: Option<String>,
    checked: Time,
    /// Whether the position of the train was last known.
    known: Option<Result<(), Lost>>,
}

/// Messages to the daemon.
#[derive(Debug)]
pub enum Message {
    /// From the source of positions.
    News(News),
    /// From the user or the service manager.
    Signal(Signal),
}

impl Daemon {
    /// Prepares a daemon: reads the table, finds the endpoints, and clears flags left by a crash. Uses the
    /// calling thread's network namespace.
    ///
    /// # Errors
    /// If the table is damaged or lacks an operator, the kernel has no MPTCP, permissions are missing, or an
    /// operator has no endpoint. The message names a remedy.
    pub fn prepare(plan: Plan, log: Log, metrics: &Metrics) -> Result<Daemon, String> {
        if plan.operators.len() < 2 {
            let message = "PHA-D needs at least two operators, because a single path cannot be a backup; \
                           name them with --operator";
            return Err(message.to_owned());
        }
        let names: Vec<&str> = plan.operators.iter().map(|one| one.name.as_str()).collect();
        let mut file = RouteFile::new(plan.table.clone());
        let route = file.read(&names).map_err(|why| format!("the handover table {why}"))?;
        if !trackbed_linux::mptcp_pm::is_enabled().unwrap_or(false) {
            return Err(match std::fs::exists("/proc/sys/net/mptcp/enabled") {
                Ok(true) => "MPTCP is disabled\n  help: sysctl -w net.mptcp.enabled=1".to_owned(),
                _ => PathManagerError::NoMptcp.to_string(),
            });
        }
        let (flags, restored) =
            Flags::open(&plan.state, plan.dry_run).map_err(|why| why.to_string())?;
        if restored > 0 {
            let message = format!("backup flags left by a crash and cleared: {restored}");
            log.warn("restored", &message, &[("flags", restored.into())]);
        }
        let interfaces = Interfaces::open().map_err(|why| why.to_string())?;
        let (outbox, inbox) = mpsc::sync_channel(QUEUE_MAX);
        let mut daemon = Daemon {
            log,
            figures: Figures::new(metrics, &names),
            origin: Origin::now(),
            controller: Controller::new(plan.settings, plan.operators.len()),
            flags,
            interfaces,
            file,
            route,
            stale: false,
            states: vec![State::default(); plan.operators.len()],
            inbox,
            outbox,
            looked: None,
            complaint: None,
            checked: Time::ZERO,
            known: None,
            plan,
        };
        daemon.look(Time::ZERO)?;
        daemon.check_rights()?;
        daemon.tell_table();
        Ok(daemon)
    }

    /// The sender for messages to the daemon.
    pub fn outbox(&self) -> SyncSender<Message> {
        self.outbox.clone()
    }

    fn follow(&self) -> Result<(), String> {
        let outbox = self.outbox.clone();
        self.plan
            .source
            .clone()
            .follow(move |news| tell(&outbox, news))
            .map_err(|why| why.to_string())
    }

    /// Runs until it receives a signal to stop, and then clears every flag.
    ///
    /// # Errors
    /// If the source of positions cannot be followed, or a flag cannot be cleared.
    pub fn run(mut self) -> Result<(), String> {
        self.follow()?;
        loop {
            let now = self.origin.elapsed();
            let wait = self.controller.next_wake(now).since(self.origin.elapsed());
            match self.inbox.recv_timeout(wait) {
                Ok(Message::Signal(Signal::Stop)) => return self.stop(),
                Ok(Message::Signal(Signal::Reload)) => self.reload(),
                Ok(Message::News(news)) => self.hear(news),
                Err(RecvTimeoutError::Timeout) => {}
                // Never happens: the daemon holds a sender itself.
                Err(RecvTimeoutError::Disconnected) => return self.stop(),
            }
            self.work(self.origin.elapsed());
        }
    }

    /// Waits for a position, and describes where the train is and which ranges are ahead.
    ///
    /// # Errors
    /// If no position arrives within `patience`.
    pub fn look_once(mut self, patience: Duration) -> Result<String, String> {
        self.follow()?;
        let mut why = "no position received".to_owned();
        loop {
            let left = patience.saturating_sub(self.origin.elapsed().since(Time::ZERO));
            match self.inbox.recv_timeout(left) {
                Ok(Message::News(News::Gone(reason))) => why = reason,
                Ok(Message::News(news)) => self.hear(news),
                Ok(Message::Signal(_)) => return Err("interrupted".to_owned()),
                Err(_) => return Err(format!("{why} within {} s", patience.as_secs())),
            }
            match self.controller.place(self.origin.elapsed()) {
                Ok(place) => return Ok(self.tell_place(place)),
                Err(Lost::NoFix) => {}
                Err(lost) => why = telling::explain_lost(lost).to_owned(),
            }
        }
    }

    fn work(&mut self, now: Time) {
        if self.looked.is_none_or(|last| now.since(last) >= LOOK_EVERY) {
            let complaint = self.look(now).err();
            // Logged once, not twenty times per second.
            if let Some(why) = complaint.as_ref().filter(|_| complaint != self.complaint) {
                self.figures.errors.increment();
                self.log.error("kernel", why, &[]);
            }
            self.complaint = complaint;
        }
        if now.since(self.checked) >= CHECK_EVERY {
            self.checked = now;
            if self.file.has_changed() {
                self.reload();
            }
            self.check_age();
        }
        self.controller.advance(now, (!self.stale).then_some(self.route.ranges()));
        self.carry_out(now);
        self.tell_position(now);
    }

    /// Queries the kernel's endpoints and interfaces.
    fn look(&mut self, now: Time) -> Result<(), String> {
        self.looked = Some(now);
        let endpoints = self.flags.manager().endpoints().map_err(|why| why.to_string())?;
        let interfaces = self.interfaces.list().map_err(|why| why.to_string())?;
        for (number, operator) in self.plan.operators.iter().enumerate() {
            let state = paths::state(operator, &endpoints, &interfaces);
            // A path that another program made a backup is no alternative.
            let free = state.targets.len() > state.backups.len()
                || state.backups.iter().all(|target| self.flags.is_set(*target));
            let usable = state.works && free && !state.targets.is_empty();
            self.controller.set_usable(number, usable);
            self.controller.received(number, state.received);
            self.figures.operators[number].usable.set(usable.into());
            let news = (state.works, &state.targets)
                != (self.states[number].works, &self.states[number].targets);
            self.states[number] = state;
            if news {
                self.tell_operator(number);
            }
        }
        Ok(())
    }

    /// Checks the permissions by setting a flag to its current value.
    fn check_rights(&mut self) -> Result<(), String> {
        if self.plan.dry_run {
            return Ok(());
        }
        let state = self.states.iter().find(|state| !state.targets.is_empty());
        let Some(target) = state.and_then(|state| state.targets.first()) else { return Ok(()) };
        let backup = self.states.iter().any(|state| state.backups.contains(target));
        self.flags.manager().set_backup(target.id, backup).map_err(|why| why.to_string())
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Fix(fix) => self.locate(fix),
            News::NoFix => {}
            News::Connected => {
                self.log.info("source", &format!("connected to {}", self.plan.source), &[]);
            }
            News::Gone(why) => {
                self.figures.source_losses.increment();
                self.log.warn("source", &format!("no positions from {why}; retrying"), &[]);
            }
        }
    }

    fn locate(&mut self, fix: Fix) {
        let nearest = self.route.project(fix.coordinates);
        let sighting = Sighting {
            chainage_m: nearest.chainage_m,
            distance_m: nearest.distance_m,
            speed_m_s: fix.speed_m_s,
            age: self.plan.position_age,
        };
        let believed = self.controller.see(self.origin.elapsed(), sighting);
        self.figures.fixes.increment();
        self.figures.fixes_refused.add((!believed).into());
    }

    /// Carries out the orders of the state machine.
    fn carry_out(&mut self, now: Time) {
        while let Some(order) = self.controller.poll_order() {
            let targets = &self.states[order.path].targets;
            let done = match order.flag {
                Flag::Set => self.flags.set(targets, true),
                Flag::Clear => self.flags.set(targets, false),
                Flag::ClearAgain => self.flags.clear_again(targets),
            };
            match done {
                Ok(()) => self.tell_order(now, order),
                Err(why) => self.complain(now, order, &why),
            }
            let flagged = self.controller.is_flagged(order.path);
            self.figures.operators[order.path].flagged.set(flagged.into());
        }
    }

    fn complain(&mut self, now: Time, order: Order, why: &FlagError) {
        if order.flag == Flag::Set {
            // Some of several endpoints may have been changed.
            let _ = self.flags.set(&self.states[order.path].targets, false);
        }
        self.controller.refused(now, order);
        self.figures.errors.increment();
        let operator = &self.plan.operators[order.path].name;
        let fields = [("operator", Value::from(operator.as_str()))];
        self.log.error("kernel", &format!("operator {operator}: {why}"), &fields);
    }

    /// Reads the table again; a damaged one does not replace the old one.
    fn reload(&mut self) {
        let names: Vec<&str> = self.plan.operators.iter().map(|one| one.name.as_str()).collect();
        match self.file.read(&names) {
            Ok(route) => {
                // Chainages count from the beginning of the track.
                if route.track() != self.route.track() {
                    self.controller.forget_position();
                }
                self.route = route;
                self.tell_table();
                self.check_age();
            }
            Err(why) => {
                self.figures.tables_refused.increment();
                let message = format!("the handover table {why}; still using the previous one");
                self.log.error("table", &message, &[]);
            }
        }
    }

    /// Checks whether the table has become too old, or has been renewed.
    fn check_age(&mut self) {
        let Some(max) = self.plan.table_age_max else { return };
        let stale = self.file.age(trackbed_outward::time_of_day()) > max;
        if std::mem::replace(&mut self.stale, stale) != stale && stale {
            let message =
                "the handover table is too old (--table-age-max): no operator is a backup now";
            self.log.warn("table", message, &[]);
        }
    }

    fn stop(mut self) -> Result<(), String> {
        let now = self.origin.elapsed();
        self.controller.release_all(now, Reason::Stopping);
        self.carry_out(now);
        match self.flags.count() {
            0 => self.log.info("stopped", "stopped; all backup flags are cleared", &[]),
            left => {
                return Err(format!(
                    "backup flags that could not be cleared: {left}; `trackbed phad --restore` tries again"
                ));
            }
        }
        Ok(())
    }
}

/// Passes on what a source says; false if the daemon is gone. A daemon that is behind misses positions, of which
/// newer ones follow.
fn tell(outbox: &SyncSender<Message>, news: News) -> bool {
    if !matches!(news, News::Fix(_)) {
        return outbox.send(Message::News(news)).is_ok();
    }
    !matches!(outbox.try_send(Message::News(news)), Err(TrySendError::Disconnected(_)))
}

/// Messages that wait at most.
const QUEUE_MAX: usize = 64;

/// The interval at which endpoints and counters of the kernel are queried.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The interval at which the table's file is checked for changes.
const CHECK_EVERY: Duration = Duration::from_secs(1);

#[cfg(test)]
#[test]
fn unread_positions_take_no_memory() {
    let (outbox, inbox) = mpsc::sync_channel(QUEUE_MAX);
    let coordinates = trackbed_railway::motion::Coordinates::new(48.0, 11.0).unwrap();
    let fix = || News::Fix(Fix { coordinates, speed_m_s: None });
    assert!((0..1_000).all(|_| tell(&outbox, fix())));
    assert_eq!(inbox.try_iter().count(), QUEUE_MAX);
    drop(inbox);
    assert!(!tell(&outbox, fix()));
}
