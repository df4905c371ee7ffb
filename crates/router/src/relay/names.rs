//! Resolves names with the system's resolver, which blocks: on a few threads, shared fairly by the clients.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use trackbed_substrate::kernel::Machine;

/// The names that clients wait for, and the threads that resolve them. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    waiting: VecDeque<Query>,
    /// The source of each name that a thread resolves.
    running: Vec<IpAddr>,
    threads: usize,
}

#[derive(Debug)]
struct Query {
    source: IpAddr,
    name: Name,
    /// The place for the answer, which goes with the client.
    answer: Weak<Mutex<Option<Answer>>>,
    /// Closing the pipe wakes the client.
    _wake: OwnedFd,
}

type Name = (String, u16);
type Answer = io::Result<Vec<SocketAddr>>;

impl Names {
    /// The addresses of a name and port, for a client from `source`.
    ///
    /// # Errors
    /// If there are none, or no thread can be started.
    pub(crate) async fn resolve(&self, on: &Machine, source: IpAddr, name: Name) -> Answer {
        let (end, wake) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let place = Arc::default();
        let query = Query { source, name, answer: Arc::downgrade(&place), _wake: wake };
        self.ask(query, |name| Ok(name.to_socket_addrs()?.collect()))?;
        on.closed(end).await?;
        let addresses =
            lock(&place).take().unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))?;
        if addresses.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(addresses) }
    }

    fn ask(&self, query: Query, lookup: fn(&Name) -> Answer) -> io::Result<()> {
        let mut shared = lock(&self.0);
        shared.waiting.push_back(query);
        if shared.threads < THREADS_MAX && shared.following().is_some() {
            let pool = self.clone();
            let thread = thread::Builder::new().name("resolver".to_owned());
            thread.spawn(move || pool.work(lookup))?;
            shared.threads += 1;
        }
        Ok(())
    }

    /// Resolves names until none is left that may be.
    fn work(&self, lookup: fn(&Name) -> Answer) {
        let mut shared = lock(&self.0);
        while let Some(query) = shared.following().and_then(|at| shared.waiting.remove(at)) {
            shared.running.push(query.source);
            drop(shared);
            let answer = lookup(&query.name);
            query.answer.upgrade().map(|place| lock(&place).insert(answer).is_ok());
            shared = lock(&self.0);
            let at = shared.running.iter().position(|of| *of == query.source);
            at.map(|at| shared.running.swap_remove(at));
        }
        shared.threads -= 1;
    }
}

impl Shared {
    /// The first name whose client is still there and does not have its share of the threads yet.
    fn following(&mut self) -> Option<usize> {
        self.waiting.retain(|query| query.answer.strong_count() > 0);
        let has_share = |source| self.running.iter().filter(|of| **of == source).count() < SHARE;
        self.waiting.iter().position(|query| has_share(query.source))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names that are resolved at once.
const THREADS_MAX: usize = 16;
/// How many of them may be of one client, so that names without an answer delay only its own.
const SHARE: usize = 4;

#[cfg(test)]
#[test]
fn a_flood_of_names_has_a_share_of_the_threads_and_goes_with_its_client() {
    let names = Names::default();
    let ask = |source: u8, port| {
        let (place, _wake) = (Arc::default(), rustix::pipe::pipe().unwrap().1);
        let (source, answer) = ([192, 0, 2, source].into(), Arc::downgrade(&place));
        let query = Query { source, name: (String::new(), port), answer, _wake };
        let slow = |name: &Name| {
            (name.1 != 80).then(thread::park);
            Ok(Vec::new())
        };
        names.ask(query, slow).unwrap();
        place
    };
    let flood: Vec<_> = (0..1_000).map(|_| ask(1, 81)).collect();
    let honest = ask(2, 80);
    while lock(&honest).is_none() {
        thread::yield_now();
    }
    assert!(lock(&names.0).running.len() <= SHARE + 1);
    let many: Vec<_> = (3..30).map(|source| ask(source, 81)).collect();
    assert_eq!(lock(&names.0).threads, THREADS_MAX);
    drop((flood, many));
    let mut shared = lock(&names.0);
    assert_eq!((shared.following(), shared.waiting.len()), (None, 0));
}
