//! What many connections sent and lost in total, added when each ends, and how many are under way.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trackbed_connection::TransportStats;

/// Sums the statistics of connections when they are dropped; clones share the sum. Give each end of
/// a run a separate ledger.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<LedgerTotals>>);

/// The sum of the accounts in a [`Ledger`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerTotals {
    /// Closed connections.
    pub connections: u64,
    /// The sum of [`TransportStats::packets_sent`].
    pub packets_sent: u64,
    /// The sum of [`TransportStats::packets_lost`].
    pub packets_lost: u64,
    /// The sum of [`TransportStats::bytes_sent`].
    pub bytes_sent: u64,
    /// The sum of [`TransportStats::filler_bytes`].
    pub filler_bytes: u64,
    /// The sum of [`TransportStats::address_validation`].
    pub address_validation: Duration,
    /// Datagrams that a CoAP server discarded: malformed, useless, or beyond its limits.
    pub refused: u64,
}

impl Ledger {
    /// The sum so far.
    pub fn totals(&self) -> LedgerTotals {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn refuse(&self, datagrams: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refused += datagrams;
    }

    fn add(&self, connection: &impl Account) {
        let (stats, refused) = (connection.account(), connection.refused());
        let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        totals.connections += 1;
        totals.packets_sent += stats.packets_sent;
        totals.packets_lost += stats.packets_lost;
        totals.bytes_sent += stats.bytes_sent;
        totals.filler_bytes += stats.filler_bytes;
        totals.address_validation += stats.address_validation;
        totals.refused += refused;
    }
}

/// A value that adds its final statistics to a ledger when it is dropped.
pub(crate) struct Accounted<T: Account> {
    pub(crate) connection: T,
    ledger: Option<Ledger>,
}

/// A connection with statistics.
pub(crate) trait Account {
    fn account(&self) -> TransportStats;

    /// Datagrams that it discarded.
    fn refused(&self) -> u64 {
        0
    }
}

impl<T: Account> Accounted<T> {
    pub(crate) fn new(connection: T, ledger: Option<&Ledger>) -> Accounted<T> {
        Accounted { connection, ledger: ledger.cloned() }
    }
}

impl<T: Account> Drop for Accounted<T> {
    fn drop(&mut self) {
        if let Some(ledger) = &self.ledger {
            ledger.add(&self.connection);
        }
    }
}

/// The number of unfinished handshakes, or exchanges. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Rc<Cell<usize>>);

impl Tally {
    pub(crate) fn count(&self) -> usize {
        self.0.get()
    }

    /// One more, until what this returns is dropped.
    pub(crate) fn begin(&self) -> UnderWay {
        self.0.set(self.0.get() + 1);
        UnderWay(Rc::clone(&self.0))
    }
}

#[derive(Debug)]
pub(crate) struct UnderWay(Rc<Cell<usize>>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
