//! Tables of keys that a thread of its own works out, so that nobody waits for them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::clock::thread_cpu_nanos;
use crate::cache::{KeyCache, SharedKey};
use crate::{KeyTable, PublicKey};

/// A [`KeyCache`] whose tables come later: until then their keys go without.
pub struct LaterTables {
    cache: KeyCache,
    ask: Option<Sender<PublicKey>>,
    ready: Receiver<Arc<KeyTable>>,
    builder: Option<JoinHandle<u64>>,
}

impl LaterTables {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system's, if it gives none.
    pub fn start(cache: KeyCache) -> std::io::Result<Self> {
        let (ask, asked) = channel::<PublicKey>();
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
        Ok(Self { cache, ask: Some(ask), ready, builder: Some(builder) })
    }

    /// The key, with its table if that is there by now.
    pub fn get(&mut self, key: &PublicKey) -> SharedKey {
        while let Ok(table) = self.ready.try_recv() {
            self.cache.keep(table);
        }
        let (shared, is_wanted) = self.cache.look(key);
        if is_wanted && let Some(ask) = &self.ask {
            // Without the thread there are no more tables, and nothing else changes.
            let _ = ask.send(*key);
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
        self.ask = None;
        self.builder.take().and_then(|builder| builder.join().ok()).unwrap_or(0)
    }
}
