//! The consequences of events: paths that stall, close or are gone; the end of the stream; failure.

use trackbed_core::Time;

use super::Path;
use super::connection::MultipathConnection;
use super::shared::Mode;
use super::timers::Alarm;
use crate::error::TcpError;
use crate::schedulers::Reinjection;
use crate::subflow::State;

impl MultipathConnection {
    pub(super) fn settle(&mut self, now: Time) {
        let events = &mut self.shared.events;
        if std::mem::take(&mut events.broken) {
            return self.fail(now, TcpError::Reset);
        }
        if std::mem::take(&mut events.confirmed) {
            self.manager.start(now);
        }
        if std::mem::take(&mut events.progress) {
            self.restart_data_timer(now);
            if self.shared.send.fin_acknowledged {
                self.timers.clear(Alarm::Fin);
            }
        }
        self.settle_paths(now);
        self.settle_addresses(now);
        self.settle_end(now);
        self.watch_window(now);
    }

    fn settle_paths(&mut self, now: Time) {
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            if path.subflow.state == State::Closed {
                path.quiet = false;
                continue;
            }
            if path.link.reset.is_some() {
                path.abort(now);
                continue;
            }
            if path.link.peer_closed && !path.link.closing {
                path.link.closing = true;
                path.quiet = false;
                path.subflow.close();
            }
            let timeouts = path.subflow.view().timeouts;
            let before = std::mem::replace(&mut path.timeouts, timeouts);
            let progress = path.subflow.delivered() != path.delivered_before;
            if path.stale && timeouts == 0 && progress {
                path.stale = false;
                self.shared.events.stirred = true;
            }
            let opened = path.subflow.is_synchronized();
            if timeouts > before && opened && self.reinjection == Reinjection::Timeout {
                self.give_up_on(index);
            }
        }
    }

    /// The path makes no progress: others carry its data (RFC 8684 section 3.3.6).
    pub(super) fn give_up_on(&mut self, index: usize) {
        let path = &mut self.paths[index];
        path.stale = true;
        path.delivered_before = path.subflow.delivered();
        let id = path.link.id;
        if self.shared.is_multipath() {
            self.shared.send.repeat_all(id, false);
        }
        self.shared.events.stirred = true;
    }

    /// Removes the path at `index` if its subflow is closed and has nothing more to send.
    pub(super) fn bury(&mut self, now: Time, index: usize) -> bool {
        if self.paths[index].subflow.state != State::Closed {
            return false;
        }
        let path = self.paths.remove(index);
        let id = path.link.id;
        self.past = super::paths::sum(self.past, &path.subflow.stats());
        self.shared.live = self.paths.len();
        self.shared.wanted -= path.link.wanted;
        self.shared.send.repeat_all(id, true);
        self.shared.events.stirred = true;
        self.scheduler.on_path_removed(id);
        match (self.shared.mode, path.subflow.error) {
            (Mode::Plain | Mode::Opening, Some(error)) => self.fail(now, error),
            (Mode::Plain | Mode::Opening, None) => self.done = true,
            (Mode::Unconfirmed | Mode::Confirmed, _) => self.lose(now, &path),
        }
        true
    }

    /// A path is gone, and the connection may go on without it.
    fn lose(&mut self, now: Time, path: &Path) {
        let ends = (path.subflow.local.ip(), path.subflow.remote);
        let was_open = path.link.is_ready() || path.link.closing;
        self.manager.lost(now, ends, was_open);
        if !self.paths.is_empty() || self.done || self.error.is_some() {
            return;
        }
        let comes_again = self.manager.opens_again();
        match path.subflow.error {
            Some(error @ (TcpError::Reset | TcpError::TimedOut)) if !comes_again => {
                self.fail(now, error);
            }
            // A peer that refuses a join does not know the connection, or no longer does.
            Some(TcpError::Refused) if !comes_again => self.fail(now, TcpError::Reset),
            _ => self.timers.start(Alarm::Orphan, now + self.config.orphan_timeout),
        }
    }

    /// Announces the end of our stream; once both directions have ended, the subflows end too (RFC
    /// 8684 section 3.3.3).
    fn settle_end(&mut self, now: Time) {
        if !self.shared.is_multipath() {
            if self.closed
                && let Some(path) = self.paths.first_mut()
            {
                path.quiet = false;
                path.subflow.close();
            }
            return;
        }
        if self.closed && !self.shared.fin_sent && self.shared.send.fin_at().is_some() {
            self.announce_fin(now);
        }
        let over = self.shared.send.fin_acknowledged && self.shared.receive.finished;
        if !over || self.done {
            return;
        }
        self.done = true;
        self.timers.clear_all();
        self.manager.stop();
        for path in &mut self.paths {
            path.quiet = false;
            path.link.closing = true;
            if path.subflow.is_opening() {
                path.subflow.abort();
            } else {
                path.subflow.close();
            }
        }
    }

    /// Sends DATA_FIN on every path, and again until it is acknowledged.
    pub(super) fn announce_fin(&mut self, now: Time) {
        if self.shared.send.fin_acknowledged || !self.shared.is_multipath() {
            return;
        }
        self.shared.fin_sent = true;
        for path in self.paths.iter_mut().filter(|path| path.is_ready()) {
            path.link.acknowledge();
            path.quiet = false;
        }
        self.timers.start(Alarm::Fin, now + self.rto());
    }

    pub(super) fn fail(&mut self, now: Time, error: TcpError) {
        if !self.done {
            self.error.get_or_insert(error);
        }
        self.timers.clear_all();
        self.manager.stop();
        self.shared.send.clear();
        for path in &mut self.paths {
            path.abort(now);
        }
    }
}
