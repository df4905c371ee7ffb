//! What many connections sent and lost in all, counted as each of them goes.

use std::sync::{Arc, Mutex, PoisonError};

use trackbed_connection::TransportStats;

/// Adds up the accounts of connections when they are dropped; clones share the sum. Give each end
/// of a run a ledger of its own.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<LedgerTotals>>);

/// The sum of the accounts in a [`Ledger`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerTotals {
    /// Connections that have gone.
    pub connections: u64,
    /// The sum of [`TransportStats::packets_sent`].
    pub packets_sent: u64,
    /// The sum of [`TransportStats::packets_lost`].
    pub packets_lost: u64,
    /// Datagrams that a CoAP server threw away: malformed, of no use, or more than it takes.
    pub refused: u64,
}

impl Ledger {
    /// The sum so far.
    pub fn totals(&self) -> LedgerTotals {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts datagrams that were thrown away.
    pub(crate) fn refuse(&self, datagrams: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refused += datagrams;
    }

    fn add(&self, stats: &TransportStats) {
        let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        totals.connections += 1;
        totals.packets_sent += stats.packets_sent;
        totals.packets_lost += stats.packets_lost;
    }
}

/// Something that enters its final account into a ledger when it is dropped.
pub(crate) struct Accounted<T: Account> {
    pub(crate) connection: T,
    ledger: Option<Ledger>,
}

/// A connection that can give account of itself.
pub(crate) trait Account {
    /// What it has done so far.
    fn account(&self) -> TransportStats;
}

impl<T: Account> Accounted<T> {
    pub(crate) fn new(connection: T, ledger: Option<&Ledger>) -> Accounted<T> {
        Accounted { connection, ledger: ledger.cloned() }
    }
}

impl<T: Account> Drop for Accounted<T> {
    fn drop(&mut self) {
        if let Some(ledger) = &self.ledger {
            ledger.add(&self.connection.account());
        }
    }
}
