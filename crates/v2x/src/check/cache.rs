//! The known tickets; the least recently used is dropped when there are too many.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::certificate::Certificate;
use crate::hash::HashedId8;

/// Tickets whose signature was verified, by their short names.
#[derive(Clone, Debug)]
pub(super) struct Tickets {
    limit: usize,
    by_id: BTreeMap<HashedId8, (Arc<Certificate>, u64)>,
    /// By when they were last used; the numbers grow.
    by_use: BTreeMap<u64, HashedId8>,
    uses: u64,
}

impl Tickets {
    pub(super) fn new(limit: usize) -> Tickets {
        let (by_id, by_use) = (BTreeMap::new(), BTreeMap::new());
        Tickets { limit: limit.max(1), by_id, by_use, uses: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn get(&self, id: &HashedId8) -> Option<&Arc<Certificate>> {
        self.by_id.get(id).map(|(ticket, _)| ticket)
    }

    pub(super) fn touch(&mut self, id: &HashedId8) {
        let Some((_, last)) = self.by_id.get_mut(id) else { return };
        self.by_use.remove(last);
        self.uses += 1;
        *last = self.uses;
        self.by_use.insert(self.uses, *id);
    }

    pub(super) fn insert(&mut self, ticket: Arc<Certificate>) {
        let id = ticket.id();
        if let Some((_, last)) = self.by_id.remove(&id) {
            self.by_use.remove(&last);
        }
        while self.by_id.len() >= self.limit {
            let Some((_, oldest)) = self.by_use.pop_first() else { break };
            self.by_id.remove(&oldest);
        }
        self.uses += 1;
        self.by_use.insert(self.uses, id);
        self.by_id.insert(id, (ticket, self.uses));
    }
}
