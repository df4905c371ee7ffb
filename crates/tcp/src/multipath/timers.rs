//! Timers of the data level; subflows have their own.

use std::time::Duration;

use trackbed_core::Time;

use super::connection::MultipathConnection;
use crate::schedulers::Reinjection;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// No data was acknowledged at the data level for a while (RFC 8684 section 3.3.6).
    Data,
    /// DATA_FIN was not acknowledged.
    Fin,
    /// The peer's window is closed, and nothing is in flight whose acknowledgment would report that
    /// it has opened.
    Window,
    /// The scheduler waits.
    Scheduler,
    /// There is no subflow, and there was none for too long.
    Orphan,
}

#[derive(Debug, Default)]
pub(super) struct Timers {
    due: [Option<Time>; 5],
    /// How long the data timer waits in Linux, as of the last decision of the scheduler.
    pub data_interval: Option<Duration>,
    /// Doublings of the data timer, and of the window probe.
    data_backoff: u32,
    window_backoff: u32,
}

impl Timers {
    pub fn set_to(&mut self, alarm: Alarm, at: Option<Time>) {
        self.due[alarm as usize] = at;
    }

    pub fn clear(&mut self, alarm: Alarm) {
        self.set_to(alarm, None);
    }

    pub fn is_set(&self, alarm: Alarm) -> bool {
        self.due[alarm as usize].is_some()
    }

    /// Sets it, unless it runs.
    pub fn start(&mut self, alarm: Alarm, at: Time) {
        self.due[alarm as usize].get_or_insert(at);
    }

    pub fn clear_all(&mut self) {
        self.due = [None; 5];
    }

    pub fn next(&self) -> Option<Time> {
        self.due.into_iter().flatten().min()
    }

    /// True if it is due; then it is stopped.
    fn take(&mut self, alarm: Alarm, now: Time) -> bool {
        let due = &mut self.due[alarm as usize];
        due.take_if(|at| *at <= now).is_some()
    }
}

impl MultipathConnection {
    pub(super) fn expire(&mut self, now: Time) {
        if self.timers.take(Alarm::Data, now) {
            self.data_expired(now);
        }
        if self.timers.take(Alarm::Fin, now) {
            self.announce_fin(now);
        }
        if self.timers.take(Alarm::Window, now) {
            self.window_expired(now);
        }
        if self.timers.take(Alarm::Scheduler, now) {
            self.shared.events.stirred = true;
        }
        if self.timers.take(Alarm::Orphan, now) {
            self.fail(now, crate::TcpError::TimedOut);
        }
        self.expire_manager(now);
    }

    /// Data is in flight: starts the data timer, unless it runs.
    pub(super) fn arm_data_timer(&mut self, now: Time) {
        if !self.timers.is_set(Alarm::Data) {
            let backed_off = || self.rto() * (1 << self.timers.data_backoff.min(6));
            let wait = match self.reinjection {
                Reinjection::Timeout => backed_off(),
                Reinjection::Stale(_) => self.timers.data_interval.unwrap_or(self.rto()),
            };
            self.timers.start(Alarm::Data, now + wait.min(MAX_WAIT));
        }
    }

    /// Something was acknowledged at the data level.
    pub(super) fn restart_data_timer(&mut self, now: Time) {
        self.timers.data_backoff = 0;
        self.timers.window_backoff = 0;
        self.timers.clear(Alarm::Data);
        self.timers.clear(Alarm::Window);
        if self.shared.is_multipath() && self.shared.send.is_out() {
            self.arm_data_timer(now);
        }
    }

    /// The oldest data is given to a path again.
    fn data_expired(&mut self, now: Time) {
        if !self.shared.is_multipath() || !self.shared.send.is_out() {
            return;
        }
        match self.reinjection {
            Reinjection::Timeout => {
                self.shared.send.repeat_first();
                self.timers.data_backoff += 1;
            }
            Reinjection::Stale(rounds) => {
                self.count_idle_rounds(rounds);
                self.repeat_fragment(now);
            }
        }
        self.shared.events.stirred = true;
        self.arm_data_timer(now);
    }

    /// Counts the data-level timeouts of each path with something in flight, from the first one on and until
    /// one before which it delivered something (`mptcp_pm_subflow_chk_stale`). More than `most` make it stale,
    /// if another path does better.
    fn count_idle_rounds(&mut self, most: u32) {
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            let delivered = path.subflow.delivered();
            if path.subflow.view().in_flight_segments == 0 {
                continue;
            }
            if path.idle_rounds == 0 {
                (path.delivered_before, path.idle_rounds) = (delivered, 1);
            } else if delivered != path.delivered_before {
                path.idle_rounds = 0;
            } else {
                path.idle_rounds += 1;
                if path.idle_rounds > most && !path.stale && self.has_better(index, most) {
                    self.give_up_on(index);
                }
            }
        }
    }

    /// Whether a path other than the one at `index` is still far from being stale.
    fn has_better(&self, index: usize, most: u32) -> bool {
        let others = self.paths.iter().enumerate().filter(|(other, _)| *other != index);
        let is_better = |path: &super::Path| {
            path.is_ready() && !path.stale && path.idle_rounds < most.saturating_sub(1).max(1)
        };
        others.map(|(_, path)| path).any(is_better)
    }

    /// How long Linux waits for data-level acknowledgments: until the last of the timers by which the
    /// subflows in progress transmit again.
    pub(super) fn data_interval(&self, now: Time) -> Duration {
        let working = self.paths.iter().filter(|path| path.is_ready() && path.idle_rounds == 0);
        let due = working.filter_map(|path| path.subflow.transmits_again_at()).max();
        let wait = due.map(|at| at - now).filter(|wait| !wait.is_zero());
        wait.map_or(self.config.tcp.rto.min, |wait| wait.max(self.config.tcp.least_wait()))
    }

    /// A zero window is probed until it opens (RFC 9293 section 3.8.6.1), by a segment that the
    /// peer must answer.
    fn window_expired(&mut self, now: Time) {
        if let Some(path) = self.paths.iter_mut().find(|path| path.is_ready() && !path.stale) {
            path.subflow.probe();
            path.quiet = false;
        }
        self.timers.window_backoff += 1;
        self.watch_window(now);
    }

    /// Starts to probe the peer's window if it is closed and nothing is in flight.
    pub(super) fn watch_window(&mut self, now: Time) {
        let send = &self.shared.send;
        let shut = send.unsent() > 0 && send.window_room() == 0 && !send.is_out();
        if !shut || !self.shared.is_multipath() {
            self.timers.clear(Alarm::Window);
        } else if !self.timers.is_set(Alarm::Window) {
            let wait = self.rto() * (1 << self.timers.window_backoff.min(10));
            self.timers.start(Alarm::Window, now + wait.min(MAX_WAIT));
        }
    }
}

/// No timer of the data level waits longer.
const MAX_WAIT: Duration = Duration::from_secs(120);
