//! The client: feeds a player from a receiver, by a rule of resolution, and follows its environment.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::event::{Disturbance, Playback};
use trackbed_core::units::format_duration;
use trackbed_core::{Event, Ratio, Time};
use trackbed_substrate::{Task, now};

use super::Plan;
use super::player::Player;
use super::receiver::{Happening, Receiver};
use super::rules::{Situation, Transfer};
use super::storage::Resolution;
use crate::contract::Stage;
use crate::environment::Change;
use crate::phone::{Failure, Phone};
use crate::tasks;

pub(super) async fn drive(plan: Arc<Plan>, stage: Stage) {
    let session = |phone| Session::new(Arc::clone(&plan), phone, &stage).run();
    let closing = tasks::measured(&stage, session).await;
    tasks::join(closing.into_iter().flatten().collect()).await;
}

struct Session {
    plan: Arc<Plan>,
    phone: Rc<Phone>,
    receiver: Receiver,
    player: Player,
    /// The environment's future changes, the next first.
    ahead: VecDeque<(Time, Change)>,
    link_delay: Option<Duration>,
    /// When the session ends, if it has a fixed time.
    end: Option<Time>,
    /// The next request is the first on its connection, or the first after a jump.
    is_fresh: bool,
    /// The piece that the player waits for.
    asked: Option<Asked>,
    pieces: u32,
    /// The last pieces that arrived.
    transfers: Vec<Transfer>,
    /// The number of failures since a piece last arrived.
    failures: u32,
}

#[derive(Clone, Copy)]
struct Asked {
    piece: u32,
    second: u32,
    resolution: Resolution,
    /// When it was requested, on the current connection.
    at: Time,
}

impl Session {
    fn new(plan: Arc<Plan>, phone: Rc<Phone>, stage: &Stage) -> Session {
        let end = plan.buffering.session.is_none().then(|| now() + plan.duration);
        Session {
            receiver: Receiver::new(Rc::clone(&phone), stage.capabilities.multiplexed),
            player: Player::new(plan.buffering, plan.storage.length()),
            ahead: stage.course.changes().collect(),
            link_delay: None,
            end,
            is_fresh: true,
            asked: None,
            pieces: 0,
            transfers: Vec::new(),
            failures: 0,
            plan,
            phone,
        }
    }

    /// Plays to the end of the session. Returns the tasks that close its connections.
    async fn run(mut self) -> Vec<Task<()>> {
        self.receiver.connect();
        if let Err(reason) = self.play().await {
            let piece = self.asked.map_or(self.pieces, |asked| asked.piece);
            self.phone.give_up(piece, reason);
        } else {
            self.abandon();
        }
        self.receiver.close()
    }

    async fn play(&mut self) -> Result<(), String> {
        loop {
            let now = now();
            self.follow_environment(now)?;
            let step = match self.end {
                Some(end) if end <= now => Some(self.player.end(now)),
                _ => self.player.advance(now),
            };
            step.into_iter().for_each(|step| self.record(step));
            if self.player.has_ended() {
                return Ok(());
            }
            self.check_silence(now)?;
            self.ask(now);
            match self.receiver.next(self.next_wake()).await {
                Happening::Loaded(bytes) => self.loaded(bytes)?,
                Happening::Failed(failure) => self.failed(failure)?,
                Happening::Due => {}
            }
        }
    }

    fn follow_environment(&mut self, now: Time) -> Result<(), String> {
        while let Some((_, change)) = self.ahead.front().copied().filter(|(at, _)| *at <= now) {
            self.ahead.pop_front();
            match change {
                Change::Delay(delay) => self.link_delay = Some(delay),
                Change::Reconnect => {
                    let disturbance = self.phone.disturbance(Disturbance::Reconnection);
                    self.phone.record(Event::Disturbed { phone: self.phone.number, disturbance });
                    match disturbance {
                        Disturbance::Reconnection => self.phone.change_access_point()?,
                        Disturbance::Move => self.phone.move_on(true)?,
                    }
                    if disturbance == Disturbance::Reconnection || !self.receiver.follows_phone() {
                        self.reconnect();
                    }
                }
                // A viewer who waits does not jump.
                Change::Seek(_) if !self.plan.seeks_always && !self.player.is_playing() => {}
                Change::Seek(place) => {
                    let step = self.player.seek(now, self.second_at(place));
                    self.record(step);
                    self.abandon();
                    self.is_fresh = true;
                }
            }
        }
        Ok(())
    }

    /// The second of the media at a share of its length below the whole.
    fn second_at(&self, place: Ratio) -> u32 {
        let length = self.plan.storage.length();
        ((place.as_f64() * f64::from(length)) as u32).min(length - 1)
    }

    /// Replaces the connection. The piece that the player waits for is requested again.
    fn reconnect(&mut self) {
        self.receiver.connect();
        self.is_fresh = true;
    }

    fn abandon(&mut self) {
        self.receiver.abandon();
        if let Some(Asked { piece, .. }) = self.asked.take() {
            self.record(Playback::Abandoned { piece });
        }
    }

    /// Requests the piece that the player waits for, if it is not in progress, or the next one.
    fn ask(&mut self, now: Time) {
        if self.receiver.is_fetching() {
            return;
        }
        let next = || Some((self.pieces, self.player.wanted()?));
        let again = self.asked.map(|asked| (asked.piece, asked.second));
        let Some((piece, second)) = again.or_else(next) else { return };
        let plan = Arc::clone(&self.plan);
        let resolution = (plan.rule.choose)(&self.situation());
        self.pieces = self.pieces.max(piece + 1);
        self.asked = Some(Asked { piece, second, resolution, at: now });
        self.is_fresh = false;
        self.record(Playback::Requested { piece, second, lines: resolution.lines() });
        self.receiver.request(plan.storage.path(resolution, second));
    }

    fn situation(&self) -> Situation<'_> {
        let measured = || self.receiver.smoothed_rtt().map(|round_trip| round_trip / 2);
        Situation {
            link_delay: self.link_delay.or_else(measured).unwrap_or_default(),
            is_fresh: self.is_fresh,
            buffered: self.player.buffered(),
            limit: self.plan.buffering.limit,
            sizes: self.plan.storage.mean_bytes(),
            transfers: &self.transfers,
        }
    }

    fn loaded(&mut self, bytes: u64) -> Result<(), String> {
        let now = now();
        let Some(Asked { piece, second, resolution, at }) = self.asked.take() else {
            return Ok(());
        };
        let expected = self.plan.storage.bytes(resolution, second);
        if bytes != expected {
            self.asked = Some(Asked { piece, second, resolution, at });
            return Err(format!("it has {bytes} bytes instead of {expected}"));
        }
        self.failures = 0;
        self.transfers.push(Transfer { bytes, took: now - at });
        if self.transfers.len() > TRANSFERS_KEPT {
            self.transfers.remove(0);
        }
        self.record(Playback::Loaded { piece, bytes });
        // Changes at this very moment happen after the piece has arrived.
        let step = self.player.take(now);
        step.into_iter().for_each(|step| self.record(step));
        Ok(())
    }

    fn failed(&mut self, failure: Failure) -> Result<(), String> {
        self.failures += 1;
        if !failure.is_retryable || self.failures >= ATTEMPTS_MAX {
            return Err(failure.reason);
        }
        self.reconnect();
        Ok(())
    }

    fn check_silence(&self, now: Time) -> Result<(), String> {
        let timeout = self.plan.timeout;
        match self.receiver.silent_since() {
            Some(since) if since + timeout <= now => {
                Err(format!("no progress for {} (workload.timeout)", format_duration(timeout)))
            }
            _ => Ok(()),
        }
    }

    /// The time of the next action if nothing arrives.
    fn next_wake(&self) -> Time {
        let silence = self.receiver.silent_since().map(|since| since + self.plan.timeout);
        let environment = self.ahead.front().map(|(at, _)| *at);
        let wakes = [silence, environment, self.player.next_wake(), self.end];
        wakes.into_iter().flatten().min().unwrap_or(Time::MAX)
    }

    fn record(&self, step: Playback) {
        self.phone.record(Event::Playback { phone: self.phone.number, step });
    }
}

/// Maximum successive failures of a connection or a piece.
const ATTEMPTS_MAX: u32 = 3;

/// More than any rule uses.
const TRANSFERS_KEPT: usize = 20;
