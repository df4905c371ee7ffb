//! A guard against cases that never return; it prints their seed.

use std::collections::BTreeSet;
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::command;
use super::generate::Case;

/// Ends the process when no case has begun or ended for long while some are under way. It guards
/// and measures nothing: the duration of cases does not affect success.
pub struct Watch(Sender<Note>);

enum Note {
    Begun(u64),
    Ended(u64),
}

/// Reports the end of a case when dropped, also in a panic.
pub struct Guard<'a> {
    watch: &'a Watch,
    seed: u64,
}

impl Watch {
    pub fn begin() -> Watch {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut under_way = BTreeSet::new();
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(Note::Begun(seed)) => drop(under_way.insert(seed)),
                    Ok(Note::Ended(seed)) => drop(under_way.remove(&seed)),
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => give_up(&under_way),
                }
            }
        });
        Watch(sender)
    }

    pub fn guard(&self, seed: u64) -> Guard<'_> {
        // The watch runs while any sender exists.
        let _ = self.0.send(Note::Begun(seed));
        Guard { watch: self, seed }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let _ = self.watch.0.send(Note::Ended(self.seed));
    }
}

fn give_up(under_way: &BTreeSet<u64>) {
    if under_way.is_empty() {
        return;
    }
    for seed in under_way {
        eprintln!("{}\nit hangs; run it again: {}\n", Case::new(*seed), command(*seed));
    }
    process::exit(1);
}

/// A case takes a fraction of a second; this leaves room for a very busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
