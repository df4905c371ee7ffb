//! The engine's side for applications, and its result.

use trackbed_tcp::TcpError;

use crate::app::{Failure, Report};
use crate::*;

/// The result of a connection and its application.
#[derive(Clone, Debug)]
pub struct Ended<S> {
    pub report: Report,
    pub state: State,
    pub error: Option<TcpError>,
    pub stats: S,
}

/// A connection for its application: after each call the connection's packets are sent. And what both hosts do with
/// it.
macro_rules! socket {
    ($Connection:ty) => {
        impl Host {
            /// Drains the connection and runs the application.
            fn step(&mut self, now: Time) {
                let Some(connection) = &mut self.connection else { return };
                let mut socket = Socket { connection, now, outgoing: &mut self.outgoing };
                socket.drain();
                if socket.connection.is_established() || self.app.report.opened_at.is_some() {
                    self.app.step(now, &mut socket);
                } else if let Some(error) = socket.connection.error() {
                    self.app.fail(now, error.into());
                }
            }

            /// Reports a connection that has come to its end, once.
            fn settle(&mut self, is_given_up: bool) {
                let Some(connection) = &self.connection else { return };
                let is_quiet = matches!(connection.state(), State::TimeWait | State::Closed);
                let has_ended = is_given_up || self.app.is_done() && is_quiet;
                if has_ended && !std::mem::replace(&mut self.reported, true) {
                    // The listener is closed once a case is given up.
                    let _ = self.ends.send(Ended {
                        report: self.app.report.clone(),
                        state: connection.state(),
                        error: connection.error(),
                        stats: self.stats(connection),
                    });
                }
            }
        }

        /// Unfinished connections are reported too.
        impl Drop for Host {
            fn drop(&mut self) {
                self.app.fail(Time::ZERO, Failure::Stalled);
                self.settle(true);
            }
        }

        struct Socket<'a> {
            connection: &'a mut $Connection,
            now: Time,
            outgoing: &'a mut VecDeque<Packet>,
        }

        impl Socket<'_> {
            fn drain(&mut self) {
                let packets = std::iter::from_fn(|| self.connection.poll_transmit(self.now));
                self.outgoing.extend(packets);
            }
        }

        impl Stream for Socket<'_> {
            fn read(&mut self, max: usize) -> Result<Option<Vec<u8>>, Failure> {
                let data = self.connection.read(self.now, max);
                self.drain();
                Ok(data?.map(|data| data.to_vec()))
            }

            fn write(&mut self, data: &[u8]) -> Result<usize, Failure> {
                let taken = self.connection.write(self.now, data);
                self.drain();
                Ok(taken?)
            }

            fn finish(&mut self) {
                self.connection.close(self.now);
                self.drain();
            }

            fn abort(&mut self) {
                self.connection.abort(self.now);
                self.drain();
            }
        }
    };
}
pub(crate) use socket;

impl From<TcpError> for Failure {
    fn from(error: TcpError) -> Failure {
        match error {
            TcpError::Refused => Failure::Refused,
            TcpError::Reset => Failure::Reset,
            TcpError::TimedOut => Failure::TimedOut,
            other => Failure::Other(other.to_string()),
        }
    }
}
