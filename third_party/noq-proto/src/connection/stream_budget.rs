//! How much stream data may wait, over many connections

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A limit on the memory of stream data that waits to be read, or to be acknowledged, for all
/// connections that share it
///
/// Received data waits for what was lost before it, or for the application; sent data waits for the
/// peer. Windows limit both for each connection alone. Here a connection may hold as much as is left
/// for all, so one never takes more than half, and those that hold little are not concerned.
#[derive(Debug)]
pub struct StreamBudget {
    max: usize,
    held: AtomicUsize,
}

impl StreamBudget {
    /// A limit of `max` bytes
    pub fn new(max: usize) -> Self {
        Self {
            max,
            held: AtomicUsize::new(0),
        }
    }

    fn left(&self) -> usize {
        self.max.saturating_sub(self.held.load(Relaxed))
    }
}

/// What one connection holds
#[derive(Debug)]
pub(super) struct StreamAccount {
    budget: Arc<StreamBudget>,
    held: AtomicUsize,
}

impl StreamAccount {
    pub(super) fn new(budget: Arc<StreamBudget>) -> Self {
        Self {
            budget,
            held: AtomicUsize::new(0),
        }
    }

    /// Replaces a part `before` by `after`; returns whether the connection may hold as much
    ///
    /// The budget learns of whole steps only, so data that does not wait costs nothing.
    fn change(&self, before: usize, after: usize) -> bool {
        let old = self.held.load(Relaxed);
        let new = old + after - before;
        self.held.store(new, Relaxed);
        let (old, new) = (old / STEP * STEP, new / STEP * STEP);
        if new <= old {
            if new < old {
                self.budget.held.fetch_sub(old - new, Relaxed);
            }
            return true;
        }
        self.budget.held.fetch_add(new - old, Relaxed);
        new <= self.budget.left()
    }

    /// Sets all that the connection holds; returns how much more it may
    pub(super) fn room_beside(&self, held: usize) -> usize {
        self.change(self.held.load(Relaxed), held);
        self.budget.left().max(STEP).saturating_sub(held)
    }
}

impl Drop for StreamAccount {
    fn drop(&mut self) {
        self.change(self.held.load(Relaxed), 0);
    }
}

/// One stream's part of an account, given back when it is dropped
#[derive(Debug, Default)]
pub(super) struct Charge {
    pub(super) account: Option<Arc<StreamAccount>>,
    held: usize,
}

impl Charge {
    /// Sets the part; returns whether the connection may hold as much
    pub(super) fn set(&mut self, held: usize) -> bool {
        let Some(account) = &self.account else {
            return true;
        };
        let before = core::mem::replace(&mut self.held, held);
        before == held || account.change(before, held)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}

const STEP: usize = 64 << 10;
