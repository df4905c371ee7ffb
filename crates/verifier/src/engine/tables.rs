//! Tables of keys, computed by a separate thread so that no worker waits for them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use super::clock::thread_cpu_nanos;
use crate::cache::{KeyCache, SharedKey};
use crate::{KeyTable, PublicKey};

/// A [`KeyCache`] with deferred tables: until they are ready, keys are used without one.
pub struct LaterTables {
    cache: KeyCache,
    ask: SyncSender<PublicKey>,
    ready: Receiver<Arc<KeyTable>>,
    builder: Option<JoinHandle<u64>>,
}

/// Keys that wait for their tables, at most.
const WAITING_MAX: usize = 64;

impl LaterTables {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system's, if the thread cannot be started.
    pub fn start(cache: KeyCache) -> std::io::Result<Self> {
        let (ask, asked) = sync_channel::<PublicKey>(WAITING_MAX);
        let (done, ready) = channel();
        let path = cache.path();
        let work = move || {
            for key in asked {
                if done.send(Arc::new(KeyTable::new(&key, path))).is_err() {
                    break;
                }
            }
            thread_cpu_nanos()
        };
        let builder = std::thread::Builder::new().name("tables".to_owned()).spawn(work)?;
        Ok(Self { cache, ask, ready, builder: Some(builder) })
    }

    /// The key, with its table if it is ready.
    pub fn get(&mut self, key: &PublicKey) -> SharedKey {
        while let Ok(table) = self.ready.try_recv() {
            self.cache.keep(table);
        }
        let (shared, is_wanted) = self.cache.look(key);
        // A key without room is requested again at its next use.
        if is_wanted && self.ask.try_send(*key).is_err() {
            self.cache.put_off(key);
        }
        shared
    }

    /// What it holds.
    #[must_use]
    pub const fn cache(&self) -> &KeyCache {
        &self.cache
    }

    /// Ends the thread, and returns the processor time that it took, in nanoseconds.
    pub fn finish(mut self) -> u64 {
        let builder = self.builder.take();
        // Pending requests are no longer needed: the thread ends with its current table.
        drop(self);
        builder.and_then(|builder| builder.join().ok()).unwrap_or(0)
    }
}
