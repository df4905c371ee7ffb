//! The tables of keys in the device's memory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::KeyTable;

use super::driver::{Address, Driver, Memory};
use super::error::GpuError;

/// Tables of keys, of which the oldest are replaced unless they are in use.
pub(super) struct KeyTables {
    memory: Memory,
    /// The place of each table, by the table's number, which is never used again.
    places: HashMap<u64, usize>,
    held: Vec<Held>,
    next: usize,
    /// Parts of batches so far.
    part: u64,
    /// Tables that this part may still copy.
    copies_left: usize,
}

#[derive(Clone, Copy)]
struct Held {
    number: u64,
    /// The last part that uses it.
    part: u64,
}

const TABLES_MIN: usize = 64;
/// Where there are more keys than places, most are verified without a table, and few copied.
const COPIES_MAX: usize = 256;
/// Places that are looked at for one that may be replaced.
const TRIES_MAX: usize = 16;

impl KeyTables {
    /// Room for `count` tables, or for fewer if the device has less memory.
    pub(super) fn new(driver: &Arc<Driver>, mut count: usize) -> Result<Self, GpuError> {
        let memory = loop {
            match Memory::new(driver, count * KeyTable::BYTES) {
                Err(GpuError::Memory) if count / 2 >= TABLES_MIN => count /= 2,
                other => break other?,
            }
        };
        let held = vec![Held { number: 0, part: 0 }; count];
        Ok(Self { memory, places: HashMap::new(), held, next: 0, part: 1, copies_left: 0 })
    }

    pub(super) fn address(&self) -> Address {
        self.memory.address
    }

    /// Begins another part of a batch. All parts but the last one are done.
    pub(super) fn begin_part(&mut self) {
        self.part += 1;
        self.copies_left = COPIES_MAX;
    }

    /// The place of a table, which is copied if there is room; none if the key is to go without it.
    pub(super) fn place(&mut self, table: &KeyTable) -> Result<Option<u64>, GpuError> {
        if let Some(place) = self.places.get(&table.number()) {
            self.held[*place].part = self.part;
            return Ok(Some(*place as u64));
        }
        if self.copies_left == 0 {
            return Ok(None);
        }
        // The device may still read what this part or the one before uses.
        let (count, part) = (self.held.len(), self.part);
        let is_free =
            |place: &usize| self.held[*place].number == 0 || self.held[*place].part + 1 < part;
        let tries = (0..TRIES_MAX).map(|step| (self.next + step) % count);
        let Some(place) = tries.clone().find(is_free) else {
            self.next = (self.next + TRIES_MAX) % count;
            return Ok(None);
        };
        self.copies_left -= 1;
        self.places.remove(&self.held[place].number);
        self.memory.write(place * KeyTable::BYTES, &table.table().octets())?;
        self.places.insert(table.number(), place);
        self.held[place] = Held { number: table.number(), part };
        self.next = (place + 1) % count;
        Ok(Some(place as u64))
    }
}
