//! The phones: each transfers its data, all at once, each over successive connections if it is
//! disturbed.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use trackbed_connection::Error;
use trackbed_core::event::Disturbance;
use trackbed_core::{Event, Time};
use trackbed_substrate::{before, now, sleep_until, spawn_named};

use super::disturbances::Silence;
use super::plan::{Direction, Plan};
use crate::contract::Stage;
use crate::data::Arrived;
use crate::phone::{Line, Phone};
use crate::tasks;
use crate::warm_up::warm_up;

pub(super) async fn drive(plan: Arc<Plan>, stage: Stage) {
    if !warm_up(&stage).await {
        return;
    }
    stage.log.record(now(), Event::Started);
    let phones = Phone::all(&stage, &stage.log);
    let lines = tasks::for_each(phones, |phone| transfer(Arc::clone(&plan), phone)).await;
    stage.log.record(now(), Event::Finished);
    let close = |line: Rc<Line>| spawn_named("closing", async move { line.close().await });
    tasks::join(lines.into_iter().flatten().map(close).collect()).await;
}

async fn transfer(plan: Arc<Plan>, phone: Rc<Phone>) -> Option<Rc<Line>> {
    let transfer = Transfer::new(plan, phone);
    match select(pin!(transfer.run()), pin!(transfer.stalled())).await {
        Either::Left((Ok(()), _)) => {}
        Either::Left((Err(reason), _)) => transfer.phone.give_up(0, reason),
        Either::Right(_) => {
            let timeout = trackbed_core::units::format_duration(transfer.plan.timeout);
            transfer.phone.give_up(0, format!("no progress for {timeout}"));
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

pub(super) enum Trouble {
    /// The connection broke: another one may work.
    Broken(String),
    /// Another connection would not help.
    Lasting(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        match error.is_retryable() {
            true => Trouble::Broken(error.to_string()),
            false => Trouble::Lasting(error.to_string()),
        }
    }
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
                Err(Trouble::Broken(_))
                    if !self.plan.disturbances.is_empty() && breaks < BREAKS_MAX =>
                {
                    breaks += 1;
                    line.abandon();
                    if let Aftermath::Outlived(_) = self.aftermath.get() {
                        self.aftermath.set(Aftermath::Lost);
                    }
                }
                Err(Trouble::Broken(why) | Trouble::Lasting(why)) => return Err(why),
            }
        }
        unreachable!("there is always another session")
    }

    async fn open(&self) -> Result<Rc<Line>, String> {
        let deadline = now() + self.plan.timeout;
        let mut attempt = 1;
        loop {
            match before(deadline, Rc::clone(&self.phone).open()).await {
                Some(Ok(line)) => return Ok(line),
                Some(Err(why)) if why.is_retryable() && attempt < ATTEMPTS_MAX => attempt += 1,
                Some(Err(why)) => return Err(why.to_string()),
                None => {
                    let timeout = trackbed_core::units::format_duration(self.plan.timeout);
                    return Err(format!("no connection within {timeout}"));
                }
            }
        }
    }

    pub(super) fn next_disturbance(&self) -> Option<(u64, Disturbance)> {
        self.plan.disturbances.get(self.disturbed.get())
    }

    /// Disturbs the phone; returns whether it keeps its connection.
    pub(super) fn disturb(&self, line: &Line, disturbance: Disturbance) -> Result<bool, Trouble> {
        self.settle();
        self.disturbed.set(self.disturbed.get() + 1);
        let disturbance = self.phone.disturbance(disturbance);
        self.phone.record(Event::Disturbed { phone: self.phone.number, disturbance });
        let keeps = match disturbance {
            Disturbance::Reconnection => {
                self.phone.change_access_point().map_err(Trouble::Lasting)?;
                false
            }
            Disturbance::Move => {
                let notice = self.plan.notice;
                self.phone.move_on(notice).map_err(Trouble::Lasting)?;
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
        loop {
            let limit = self.moved.get() + timeout;
            sleep_until(limit).await;
            if self.moved.get() + timeout <= limit {
                return;
            }
        }
    }
}

pub(super) fn check_status(status: u16) -> Result<(), Trouble> {
    match status {
        200 => Ok(()),
        _ => Err(Trouble::Lasting(format!("the server answered with status {status}"))),
    }
}

/// Maximum attempts to open a connection.
const ATTEMPTS_MAX: u32 = 3;

/// Maximum number of successive connections that break without any progress.
const BREAKS_MAX: u32 = 10;
