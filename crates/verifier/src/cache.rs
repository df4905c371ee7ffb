//! Which keys have a table: the policy, separate from the verification.
//!
//! Patents in force cover stored precomputation for each neighbouring station (US 11,057,396 and
//! 11,049,395): check them before you ship a policy other than [`Policy::None`].

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use crate::{Key, KeyTable, Path, PublicKey};

/// Which keys get a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// None.
    None,
    /// The most recently used keys.
    Lru {
        /// The maximum total size of all tables. A size below one table is the same as `None`.
        bytes: usize,
        /// The use at which a key gets its table, counted from 1. A table costs about as much as
        /// two verifications without one, or up to twenty with one.
        after: u32,
    },
}

/// A key and its table, if any, for use beyond a single call.
#[derive(Debug, Clone)]
pub enum SharedKey {
    /// By itself.
    Plain(PublicKey),
    /// With a table.
    Table(Arc<KeyTable>),
}

/// Keeps tables of keys by a policy, which bounds their number whatever senders do.
#[derive(Debug)]
pub struct KeyCache {
    path: Path,
    tables: Residence<[u8; 65], Arc<KeyTable>>,
}

/// Which keys have a table, by a policy: the rules of a [`KeyCache`], for tables of any kind.
#[derive(Debug)]
pub struct Residence<K, T> {
    /// The maximum number of tables.
    tables_max: usize,
    after: u32,
    keys: HashMap<K, Slot<T>>,
    /// The keys by when they were used, the longest ago first.
    uses: BTreeMap<u64, K>,
    tables: usize,
    clock: u64,
}

/// The state of a table.
#[derive(Debug)]
pub enum Found<'a, T> {
    /// It.
    Table(&'a T),
    /// Missing, but wanted by the policy.
    Wanted,
    /// None.
    Nothing,
}

#[derive(Debug)]
struct Slot<T> {
    last_use: u64,
    uses: u32,
    is_asked_for: bool,
    table: Option<T>,
}

/// Counted keys without a table, per allowed table.
const CANDIDATES: usize = 4;

impl KeyCache {
    /// An empty cache of tables for `path`. The first one of a process that may have any takes some
    /// milliseconds: it computes the generator's table, so that no signature waits for it.
    #[must_use]
    pub fn new(policy: Policy, path: Path) -> Self {
        if policy != Policy::None {
            crate::curve::generator(path.form());
        }
        Self { path, tables: Residence::new(policy, KeyTable::BYTES) }
    }

    /// The key, with its table if it has one, and whether the policy wants one computed and
    /// [kept](Self::keep): this is returned once.
    pub fn look(&mut self, key: &PublicKey) -> (SharedKey, bool) {
        match self.tables.look(key.to_sec1()) {
            Found::Table(table) => (SharedKey::Table(Arc::clone(table)), false),
            Found::Wanted => (SharedKey::Plain(*key), true),
            Found::Nothing => (SharedKey::Plain(*key), false),
        }
    }

    /// Records that a [wanted](Self::look) table is not being computed: it will be requested again.
    pub fn put_off(&mut self, key: &PublicKey) {
        self.tables.put_off(&key.to_sec1());
    }

    /// Stores a computed table of a key, unless the key was dropped in the meantime.
    pub fn keep(&mut self, table: Arc<KeyTable>) {
        self.tables.keep(&table.key().to_sec1(), Arc::clone(&table));
    }

    /// The path of the tables.
    #[must_use]
    pub const fn path(&self) -> Path {
        self.path
    }

    /// The key, with its table if it has one or now gets one. Computing one takes about as long as
    /// two verifications.
    pub fn get(&mut self, key: &PublicKey) -> SharedKey {
        let build = || Arc::new(KeyTable::new(key, self.path));
        match self.tables.get(key.to_sec1(), build) {
            Some(table) => SharedKey::Table(Arc::clone(table)),
            None => SharedKey::Plain(*key),
        }
    }

    /// The number of its tables.
    #[must_use]
    pub const fn tables(&self) -> usize {
        self.tables.tables
    }
}

impl<K: Clone + Eq + Hash, T> Residence<K, T> {
    /// No tables, each of which will take `table_bytes`.
    #[must_use]
    pub fn new(policy: Policy, table_bytes: usize) -> Self {
        let (bytes, after) = match policy {
            Policy::None => (0, 1),
            Policy::Lru { bytes, after } => (bytes, after),
        };
        Self {
            tables_max: bytes / table_bytes.max(1),
            after,
            keys: HashMap::new(),
            uses: BTreeMap::new(),
            tables: 0,
            clock: 0,
        }
    }

    /// The table of `key` if it has one or now gets one, computed by `build`.
    pub fn get(&mut self, key: K, build: impl FnOnce() -> T) -> Option<&T> {
        if matches!(self.look(key.clone()), Found::Wanted) {
            self.keep(&key, build());
        }
        self.keys.get(&key)?.table.as_ref()
    }

    /// The table of `key` if there is one, or whether there should be: this is returned once.
    pub fn look(&mut self, key: K) -> Found<'_, T> {
        if self.tables_max == 0 {
            return Found::Nothing;
        }
        self.clock += 1;
        let empty = Slot { last_use: 0, uses: 0, is_asked_for: false, table: None };
        let slot = self.keys.entry(key.clone()).or_insert(empty);
        self.uses.remove(&slot.last_use);
        self.uses.insert(self.clock, key.clone());
        slot.last_use = self.clock;
        slot.uses = slot.uses.saturating_add(1);
        if slot.table.is_some() {
            let table = self.keys.get(&key).and_then(|slot| slot.table.as_ref());
            return table.map_or(Found::Nothing, Found::Table);
        }
        let is_wanted = slot.uses >= self.after && !slot.is_asked_for;
        slot.is_asked_for |= is_wanted;
        self.make_room();
        if is_wanted { Found::Wanted } else { Found::Nothing }
    }

    /// Records that a wanted table is not being computed.
    pub fn put_off(&mut self, key: &K) {
        if let Some(slot) = self.keys.get_mut(key) {
            slot.is_asked_for = false;
        }
    }

    /// Stores the table of a key, unless the key was dropped in the meantime.
    pub fn keep(&mut self, key: &K, table: T) {
        let Some(slot) = self.keys.get_mut(key) else { return };
        self.tables += usize::from(slot.table.replace(table).is_none());
        self.make_room();
    }

    /// Drops the least recently used until there is room: keys without a table if these are too
    /// many, else tables.
    fn make_room(&mut self) {
        while self.tables > self.tables_max || self.keys.len() > self.tables_max * (1 + CANDIDATES)
        {
            let Some((_, name)) = self.uses.pop_first() else { return };
            let had_table = self.keys.remove(&name).is_some_and(|slot| slot.table.is_some());
            self.tables -= usize::from(had_table);
        }
    }

    /// The number of tables.
    #[must_use]
    pub const fn tables(&self) -> usize {
        self.tables
    }
}

impl SharedKey {
    /// The key for a call.
    #[must_use]
    pub fn as_key(&self) -> Key<'_> {
        match self {
            Self::Plain(key) => Key::Plain(key),
            Self::Table(table) => Key::Table(table),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(count: usize) -> Vec<PublicKey> {
        crate::curve::multiples(count).map(PublicKey::of_point).collect()
    }

    #[test]
    fn without_a_policy_no_key_has_a_table() {
        let none = Policy::None;
        let little = Policy::Lru { bytes: KeyTable::BYTES - 1, after: 1 };
        for policy in [none, little] {
            let mut cache = KeyCache::new(policy, Path::Portable);
            for key in keys(3).iter().chain(&keys(3)) {
                assert!(matches!(cache.get(key), SharedKey::Plain(plain) if plain == *key));
            }
            assert!(cache.tables() == 0 && cache.tables.keys.is_empty());
        }
    }

    #[test]
    fn the_keys_used_last_have_tables_from_their_nth_use_on() {
        let policy = Policy::Lru { bytes: 2 * KeyTable::BYTES, after: 2 };
        let mut cache = KeyCache::new(policy, Path::Portable);
        let keys = keys(3);
        let mut has_table = |key: usize| matches!(cache.get(&keys[key]), SharedKey::Table(_));
        assert!(!has_table(0));
        assert!(has_table(0));
        assert!(!has_table(1));
        assert!(has_table(1) && has_table(0));
        // The third one's table takes the place of the second's, which has to begin again.
        assert!(!has_table(2));
        assert!(has_table(2) && has_table(0));
        assert!(!has_table(1));
        assert_eq!(cache.tables(), 2);
    }

    #[test]
    fn unknown_senders_take_no_memory_and_no_table() {
        let policy = Policy::Lru { bytes: 2 * KeyTable::BYTES, after: 2 };
        let mut cache = KeyCache::new(policy, Path::Portable);
        for key in keys(100) {
            assert!(matches!(cache.get(&key), SharedKey::Plain(_)));
            let tables = &cache.tables;
            assert!(tables.keys.len() <= 10 && tables.uses.len() == tables.keys.len());
        }
        assert_eq!(cache.tables(), 0);
    }

    #[test]
    fn a_table_is_wanted_once() {
        let mut tables = Residence::new(Policy::Lru { bytes: 1, after: 2 }, 1);
        let is_wanted = |tables: &mut Residence<u8, ()>| matches!(tables.look(7), Found::Wanted);
        assert_eq!([0; 4].map(|_| is_wanted(&mut tables)), [false, true, false, false]);
        tables.put_off(&7);
        assert_eq!([0; 2].map(|_| is_wanted(&mut tables)), [true, false]);
    }
}
