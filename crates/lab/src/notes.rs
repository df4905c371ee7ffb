//! What the protocols of a run report of themselves.

use std::io::Write;

use trackbed_measure::keylog::KeyLog;
use trackbed_measure::qlog::QlogSinks;
use trackbed_protocols::{Observer, Side, TcpTrace};

use crate::windows::Windows;

/// Notes of an observer. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub keys: KeyLog,
    /// Traces of QUIC connections, if they are wanted.
    pub qlog: Option<QlogSinks>,
    /// The windows of the first TCP connection of each side, if they are wanted.
    pub windows: Option<Windows>,
}

impl Observer for Notes {
    fn tls_key(&self, line: &str) {
        self.keys.push(line);
    }

    fn qlog(&self, side: Side, connection: &str) -> Option<Box<dyn Write + Send + Sync>> {
        Some(self.qlog.as_ref()?.create(&format!("{connection}_{side}")))
    }

    fn tcp(&self, side: Side) -> Option<TcpTrace> {
        self.windows.as_ref()?.trace(side)
    }
}
