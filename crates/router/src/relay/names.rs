//! Resolves names with the system's resolver, which blocks: on a few threads, shared fairly by the clients.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use trackbed_substrate::kernel::Machine;

/// The names that clients wait for, and the threads that resolve them. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    next: u64,
    waiting: BTreeMap<u64, Query>,
    /// The source of each name that a thread resolves.
    running: Vec<IpAddr>,
    threads: usize,
}

/// Its last value closes a pipe, which wakes the task.
type Query = (IpAddr, Name, SyncSender<Answer>, OwnedFd);
type Name = (String, u16);
type Answer = io::Result<Vec<SocketAddr>>;

/// A waiting client. If it is dropped, its name is no longer resolved, unless a thread already does.
struct Client(Names, u64, Receiver<Answer>);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.lock().waiting.remove(&self.1);
    }
}

impl Names {
    /// The addresses of a name and port, for a client from `source`.
    ///
    /// # Errors
    /// If there are none, or no thread can be started.
    pub(crate) async fn resolve(&self, on: &Machine, source: IpAddr, name: Name) -> Answer {
        let (end, wake) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let client = self.ask(source, name, wake, |name| Ok(name.to_socket_addrs()?.collect()))?;
        on.closed(end).await?;
        let addresses = client.2.try_recv().map_err(io::Error::other)??;
        if addresses.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(addresses) }
    }

    fn ask(
        &self,
        source: IpAddr,
        name: Name,
        wake: OwnedFd,
        lookup: fn(&Name) -> Answer,
    ) -> io::Result<Client> {
        let (answer, answered) = sync_channel(1);
        let key = {
            let mut shared = self.lock();
            shared.next += 1;
            shared.next
        };
        // If no thread can be started, dropping it removes the name.
        let client = Client(self.clone(), key, answered);
        let mut shared = self.lock();
        shared.waiting.insert(key, (source, name, answer, wake));
        if shared.threads < THREADS_MAX && shared.following().is_some() {
            let pool = self.clone();
            let thread = thread::Builder::new().name("resolver".to_owned());
            thread.spawn(move || pool.work(lookup))?;
            shared.threads += 1;
        }
        Ok(client)
    }

    /// Resolves names until none is left that may be.
    fn work(&self, lookup: fn(&Name) -> Answer) {
        let mut shared = self.lock();
        while let Some(key) = shared.following()
            && let Some((source, name, answer, _wake)) = shared.waiting.remove(&key)
        {
            shared.running.push(source);
            drop(shared);
            // The client may have gone.
            let _ = answer.send(lookup(&name));
            shared = self.lock();
            let at = shared.running.iter().position(|of| *of == source);
            at.map(|at| shared.running.swap_remove(at));
        }
        shared.threads -= 1;
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// The first name whose client does not have its share of the threads yet.
    fn following(&self) -> Option<u64> {
        let has_share = |source| self.running.iter().filter(|of| **of == source).count() < SHARE;
        self.waiting.iter().find(|(_, query)| has_share(query.0)).map(|(key, _)| *key)
    }
}

/// Names that are resolved at once.
const THREADS_MAX: usize = 16;
/// How many of them may be of one client, so that names that nobody answers delay only who asks for them.
const SHARE: usize = 4;

#[cfg(test)]
#[test]
fn a_flood_of_names_has_a_share_of_the_threads_and_goes_with_its_client() {
    let names = Names::default();
    let ask = |source: u8, port| {
        let wake = rustix::pipe::pipe().unwrap().1;
        let slow = |name: &Name| {
            (name.1 != 80).then(thread::park);
            Ok(vec![SocketAddr::from(([192, 0, 2, 1], name.1))])
        };
        names.ask([192, 0, 2, source].into(), (String::new(), port), wake, slow).unwrap()
    };
    let flood: Vec<Client> = (0..1_000).map(|_| ask(1, 81)).collect();
    assert_eq!(ask(2, 80).2.recv().unwrap().unwrap()[0].port(), 80);
    assert!(names.lock().running.len() <= SHARE + 1);
    let many: Vec<Client> = (3..30).map(|source| ask(source, 81)).collect();
    assert_eq!(names.lock().threads, THREADS_MAX);
    drop((flood, many));
    assert!(names.lock().waiting.is_empty());
}
