//! The tables of keys in the device's memory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::KeyTable;

use super::driver::{Address, Driver, Memory};
use super::error::GpuError;

/// Tables of keys, the ones that have been there longest replaced first.
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

/// 256 MiB of tables, or what fits.
const TABLES_MAX: usize = 256 * 1024 * 1024 / KeyTable::BYTES;
const TABLES_MIN: usize = 64;
/// Where there are more keys than places, most are verified without a table, and few copied.
const COPIES_MAX: usize = 256;

impl KeyTables {
    pub(super) fn new(driver: &Arc<Driver>) -> Result<Self, GpuError> {
        let mut count = TABLES_MAX;
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
        let (place, part) = (self.next, self.part);
        // The device may still read what this part or the one before uses.
        let held = self.held[place];
        if self.copies_left == 0 || (held.number != 0 && held.part + 1 >= part) {
            return Ok(None);
        }
        self.copies_left -= 1;
        self.places.remove(&held.number);
        self.memory.write(place * KeyTable::BYTES, &table.table().octets())?;
        self.places.insert(table.number(), place);
        self.held[place] = Held { number: table.number(), part };
        self.next = (place + 1) % self.held.len();
        Ok(Some(place as u64))
    }
}
