//! The daemon: what sources and signals say goes to the state machine, and its orders to the kernel.

mod telling;

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use serde_json::Value;
use trackbed_core::Time;
use trackbed_linux::mptcp_pm::PathManagerError;
use trackbed_outward::{Log, Metrics, Signal};
use trackbed_substrate::kernel::Origin;

use crate::phad::controller::{Controller, Flag, Lost, Order, Ranges, Reason, Settings, Sighting};
use crate::phad::figures::Figures;
use crate::phad::flags::{FlagError, Flags};
use crate::phad::gpsd::Fix;
use crate::phad::interfaces::Interfaces;
use crate::phad::paths::{self, Operator, State};
use crate::phad::route::{Route, RouteFile};
use crate::phad::source::{News, Source};

/// What a daemon is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The operators, two at least.
    pub operators: Vec<Operator>,
    /// The file of the handover table.
    pub table: PathBuf,
    /// How old its file may be; none for any age.
    pub table_age_max: Option<Duration>,
    /// Where positions come from.
    pub source: Source,
    /// How old positions are when they come.
    pub position_age: Duration,
    /// How it decides.
    pub settings: Settings,
    /// The file that remembers flags.
    pub state: PathBuf,
    /// Whether the kernel is to be left alone.
    pub dry_run: bool,
}

/// A daemon at work.
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
    outbox: Sender<Message>,
    looked: Option<Time>,
    /// What did not work when the kernel was asked last.
    complaint: Option<String>,
    checked: Time,
    /// Whether it was known last where the train is.
    known: Option<Result<(), Lost>>,
}

/// What the daemon hears.
#[derive(Debug)]
pub enum Message {
    /// From the source of positions.
    News(News),
    /// From whoever runs it.
    Signal(Signal),
}

impl Daemon {
    /// Makes everything ready: reads the table, finds the endpoints, takes back what a crash has
    /// left. Works in the calling thread's network namespace.
    ///
    /// # Errors
    /// With what to do about it: a table that is damaged or lacks an operator, a kernel without
    /// MPTCP, a lack of rights, an operator without endpoint.
    pub fn prepare(plan: Plan, log: Log, metrics: &Metrics) -> Result<Daemon, String> {
        if plan.operators.len() < 2 {
            let message = "PHA-D needs two operators at least: of one path none may be a backup; \
                           name them with --operator";
            return Err(message.to_owned());
        }
        let names: Vec<&str> = plan.operators.iter().map(|one| one.name.as_str()).collect();
        let mut file = RouteFile::new(plan.table.clone());
        let route = file.read(&names).map_err(|why| format!("the handover table {why}"))?;
        if !trackbed_linux::mptcp_pm::is_enabled().unwrap_or(false) {
            return Err(match std::fs::exists("/proc/sys/net/mptcp/enabled") {
                Ok(true) => {
                    "MPTCP is switched off here\n  help: sysctl -w net.mptcp.enabled=1".to_owned()
                }
                _ => PathManagerError::NoMptcp.to_string(),
            });
        }
        let (flags, restored) =
            Flags::open(&plan.state, plan.dry_run).map_err(|why| why.to_string())?;
        if restored > 0 {
            let message = format!("took back {restored} flags that were left behind");
            log.warn("restored", &message, &[("flags", restored.into())]);
        }
        let interfaces = Interfaces::open().map_err(|why| why.to_string())?;
        let (outbox, inbox) = mpsc::channel();
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

    /// Where to send messages to it.
    pub fn outbox(&self) -> Sender<Message> {
        self.outbox.clone()
    }

    /// Works until it is told to stop, and then takes every flag back.
    ///
    /// # Errors
    /// If the source of positions cannot be followed, or a flag cannot be taken back.
    pub fn run(mut self) -> Result<(), String> {
        let outbox = self.outbox.clone();
        let tell = move |news| outbox.send(Message::News(news)).is_ok();
        self.plan.source.clone().follow(tell).map_err(|why| why.to_string())?;
        loop {
            let now = self.origin.elapsed();
            let wait = self.controller.next_wake(now).since(self.origin.elapsed());
            match self.inbox.recv_timeout(wait) {
                Ok(Message::Signal(Signal::Stop)) => return self.stop(),
                Ok(Message::Signal(Signal::Reload)) => self.reload(),
                Ok(Message::News(news)) => self.hear(news),
                Err(RecvTimeoutError::Timeout) => {}
                // Never: we hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return self.stop(),
            }
            self.work(self.origin.elapsed());
        }
    }

    /// Waits for a position, and says where the train is and what would be done.
    ///
    /// # Errors
    /// If none comes within `patience`.
    pub fn look_once(mut self, patience: Duration) -> Result<String, String> {
        let outbox = self.outbox.clone();
        let tell = move |news| outbox.send(Message::News(news)).is_ok();
        self.plan.source.clone().follow(tell).map_err(|why| why.to_string())?;
        let mut why = "no position has come".to_owned();
        loop {
            let left = patience.saturating_sub(self.origin.elapsed().since(Time::ZERO));
            match self.inbox.recv_timeout(left) {
                Ok(Message::News(News::Gone(reason))) => why = reason,
                Ok(Message::News(news)) => self.hear(news),
                Ok(Message::Signal(_)) => return Err("interrupted".to_owned()),
                Err(_) => return Err(format!("{why}, within {} s", patience.as_secs())),
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
            // Said once, and not twenty times a second.
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
        let ranges: &dyn Ranges = self.route.ranges();
        self.controller.advance(now, (!self.stale).then_some(ranges));
        self.carry_out(now);
        self.tell_position(now);
    }

    /// Asks the kernel for endpoints and interfaces.
    fn look(&mut self, now: Time) -> Result<(), String> {
        self.looked = Some(now);
        let endpoints = self.flags.manager().endpoints().map_err(|why| why.to_string())?;
        let interfaces = self.interfaces.list().map_err(|why| why.to_string())?;
        for (number, operator) in self.plan.operators.iter().enumerate() {
            let state = paths::state(operator, &endpoints, &interfaces);
            // What somebody else has made a backup is no way out.
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

    /// Tries the rights on a flag that stays as it is.
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
                self.log.info("source", &format!("{} is there", self.plan.source), &[]);
            }
            News::Gone(why) => {
                self.figures.source_losses.increment();
                self.log.warn("source", &format!("no positions from {why}; trying again"), &[]);
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

    /// Says the kernel what the state machine wants.
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
            // Of several endpoints some may have been set.
            let _ = self.flags.set(&self.states[order.path].targets, false);
        }
        self.controller.refused(now, order);
        self.figures.errors.increment();
        let operator = &self.plan.operators[order.path].name;
        let fields = [("operator", Value::from(operator.as_str()))];
        self.log.error("kernel", &format!("operator {operator}: {why}"), &fields);
    }

    /// Reads the table again; one that is damaged leaves the old one in force.
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
                let message = format!("the handover table {why}; the one of before stays in force");
                self.log.error("table", &message, &[]);
            }
        }
    }

    /// Whether the table has become too old, or is new again.
    fn check_age(&mut self) {
        let Some(max) = self.plan.table_age_max else { return };
        let stale = self.file.age(trackbed_outward::time_of_day()) > max;
        if std::mem::replace(&mut self.stale, stale) != stale && stale {
            let message =
                "the handover table is too old (--table-age-max): nothing is a backup now";
            self.log.warn("table", message, &[]);
        }
    }

    fn stop(mut self) -> Result<(), String> {
        let now = self.origin.elapsed();
        self.controller.release_all(now, Reason::Stopping);
        self.carry_out(now);
        match self.flags.count() {
            0 => self.log.info("stopped", "stopped; no flag of ours is set", &[]),
            left => {
                return Err(format!(
                    "{left} flags could not be taken back; `trackbed phad --restore` tries again"
                ));
            }
        }
        Ok(())
    }
}

/// How often the kernel is asked for endpoints and counters.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How often it is looked whether the table has changed.
const CHECK_EVERY: Duration = Duration::from_secs(1);
