//! The phones: each transfers its data, over successive connections if it is disturbed.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use trackbed_core::event::Disturbance;
use trackbed_core::units::format_duration;
use trackbed_core::{Event, Time};
use trackbed_substrate::{now, sleep_until, spawn_named};

use super::disturbances::Silence;
use super::plan::{Direction, Plan};
use crate::contract::Stage;
use crate::data::Arrived;
use crate::phone::{Failure, Line, Phone};
use crate::tasks;

pub(super) async fn drive(plan: Arc<Plan>, stage: Stage) {
    let lines = tasks::measured(&stage, |phone| transfer(Arc::clone(&plan), phone)).await;
    let close = |line: Rc<Line>| spawn_named("closing", async move { line.close().await });
    tasks::join(lines.into_iter().flatten().map(close).collect()).await;
}

async fn transfer(plan: Arc<Plan>, phone: Rc<Phone>) -> Option<Rc<Line>> {
    let transfer = Transfer::new(plan, phone);
    match select(pin!(transfer.run()), pin!(transfer.stalled())).await {
        Either::Left((Ok(()), _)) => {}
        Either::Left((Err(reason), _)) => transfer.phone.give_up(0, reason),
        Either::Right(_) => {
            let timeout = format_duration(transfer.plan.timeout);
            transfer.phone.give_up(0, format!("no progress for {timeout} (workload.timeout)"));
        }
    }
    transfer.line.take()
}

pub(super) struct Transfer {
    pub(super) plan: Arc<Plan>,
    pub(super) phone: Rc<Phone>,
    line: RefCell<Option<Rc<Line>>>,
    /// When a byte last moved, or a connection was last attempted, as seen from this end.
    moved: Rc<Cell<Time>>,
    /// The number of bytes at the receiver, as far as the phone knows.
    pub(super) there: Cell<u64>,
    disturbed: Cell<usize>,
    aftermath: Cell<Aftermath>,
}

#[derive(Clone, Copy)]
enum Aftermath {
    Over,
    /// The connection seems to have survived.
    Outlived(Silence),
    Lost,
}

pub(super) enum Session {
    Complete,
    Disturbed,
}

impl Transfer {
    fn new(plan: Arc<Plan>, phone: Rc<Phone>) -> Transfer {
        Transfer {
            plan,
            phone,
            line: RefCell::default(),
            moved: Rc::new(Cell::new(now())),
            there: Cell::new(0),
            disturbed: Cell::new(0),
            aftermath: Cell::new(Aftermath::Over),
        }
    }

    async fn run(&self) -> Result<(), String> {
        let mut arrived = Arrived::default();
        let mut breaks = 0;
        for session in 0.. {
            self.note();
            let line = self.open().await?;
            self.note();
            self.line.replace(Some(Rc::clone(&line)));
            let before = self.there.get();
            let ended = match self.plan.direction {
                Direction::Download => self.download(&line, &mut arrived).await,
                Direction::Upload => self.upload(&line, session > 0).await,
            };
            breaks = if self.there.get() > before { 0 } else { breaks };
            match ended {
                Ok(Session::Complete) => return Ok(()),
                Ok(Session::Disturbed) => {}
                // A transfer that can resume after a disturbance can also resume after an error.
                Err(failure)
                    if failure.is_retryable
                        && !self.plan.disturbances.is_empty()
                        && breaks < BREAKS_MAX =>
                {
                    breaks += 1;
                    line.abandon();
                    if let Aftermath::Outlived(_) = self.aftermath.get() {
                        self.aftermath.set(Aftermath::Lost);
                    }
                }
                Err(failure) => return Err(failure.reason),
            }
        }
        unreachable!("there is always another session")
    }

    async fn open(&self) -> Result<Rc<Line>, String> {
        let timeout = self.plan.timeout;
        let too_late =
            || format!("no connection within {} (workload.timeout)", format_duration(timeout));
        let opened = self.phone.open_by(now() + timeout).await.ok_or_else(too_late)?;
        opened.map_err(|why| why.to_string())
    }

    pub(super) fn next_disturbance(&self) -> Option<(u64, Disturbance)> {
        self.plan.disturbances.get(self.disturbed.get())
    }

    /// Disturbs the phone; returns whether it keeps its connection.
    pub(super) fn disturb(&self, line: &Line, disturbance: Disturbance) -> Result<bool, Failure> {
        self.settle();
        self.disturbed.set(self.disturbed.get() + 1);
        let disturbance = self.phone.disturbance(disturbance);
        self.phone.record(Event::Disturbed { phone: self.phone.number, disturbance });
        let keeps = match disturbance {
            Disturbance::Reconnection => {
                self.phone.change_access_point().map_err(Failure::lasting)?;
                false
            }
            Disturbance::Move => {
                let notice = self.plan.notice;
                self.phone.move_on(notice).map_err(Failure::lasting)?;
                // Without a notification the phone does not know that it moved.
                !notice || line.follows_its_phone()
            }
        };
        if !keeps {
            line.abandon();
        }
        self.aftermath.set(match keeps {
            true => Aftermath::Outlived(Silence::since(now())),
            false => Aftermath::Lost,
        });
        Ok(keeps)
    }

    pub(super) fn note_arrival(&self) {
        self.note();
        match self.aftermath.get() {
            Aftermath::Over => {}
            Aftermath::Outlived(mut silence) => {
                silence.end(now());
                self.aftermath.set(Aftermath::Outlived(silence));
            }
            Aftermath::Lost => {
                self.aftermath.set(Aftermath::Over);
                self.phone.record(Event::Resumed { phone: self.phone.number });
            }
        }
    }

    pub(super) fn settle(&self) {
        let fetches = self.plan.direction == Direction::Download;
        if let Aftermath::Outlived(silence) = self.aftermath.replace(Aftermath::Over)
            && fetches
        {
            let (phone, silence) = (self.phone.number, silence.longest());
            self.phone.record(Event::Outlived { phone, silence });
        }
    }

    pub(super) fn note(&self) {
        self.moved.set(now());
    }

    pub(super) fn notes(&self) -> impl Fn() + use<> {
        let moved = Rc::clone(&self.moved);
        move || moved.set(now())
    }

    /// Resolves when there has been no progress for too long.
    async fn stalled(&self) {
        let timeout: Duration = self.plan.timeout;
        let is_upload = self.plan.direction == Direction::Upload;
        let mut seen = None;
        loop {
            let limit = self.moved.get() + timeout;
            // A stack may take an upload long before it sends it.
            sleep_until(if is_upload { limit.min(now() + timeout / 4) } else { limit }).await;
            let line = self.line.borrow().as_ref().filter(|_| is_upload).map(Rc::clone);
            let progress = line.map(|line| line.progress());
            if progress != seen {
                self.note();
            } else if now() >= self.moved.get() + timeout {
                return;
            }
            seen = progress;
        }
    }
}

/// Maximum number of successive connections that break without any progress.
const BREAKS_MAX: u32 = 10;
