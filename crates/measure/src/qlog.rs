//! Collects the qlog of connections in memory, so that a run does not write to the disk.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Provides a sink per connection and keeps what is written in memory. Clones share the sinks.
///
/// A qlog takes about as much memory as the packets that it describes, so collect it for single
/// runs.
#[derive(Clone, Debug, Default)]
pub struct QlogSinks {
    sinks: Arc<Mutex<Sinks>>,
}

#[derive(Debug, Default)]
struct Sinks {
    in_order: Vec<(String, Buffer)>,
    names: BTreeSet<String>,
}

type Buffer = Arc<Mutex<Vec<u8>>>;

impl QlogSinks {
    /// A new sink for the connection `name`. If the name is taken, the new one is called `name-2`,
    /// `name-3` and so on, so that each can become a file.
    pub fn create(&self, name: &str) -> Box<dyn Write + Send + Sync> {
        let mut sinks = lock(&self.sinks);
        let mut unique = name.to_owned();
        let mut count = 1_u32;
        while !sinks.names.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}-{count}");
        }
        let buffer = Buffer::default();
        sinks.in_order.push((unique, Arc::clone(&buffer)));
        Box::new(Sink(buffer))
    }

    /// The content of each sink, in the order of creation; the sinks are then forgotten. Call it
    /// when the connections are gone: what is written afterwards is lost.
    pub fn take(&self) -> Vec<(String, Vec<u8>)> {
        let sinks = mem::take(&mut *lock(&self.sinks));
        let in_order = sinks.in_order.into_iter();
        in_order.map(|(name, buffer)| (name, mem::take(&mut *lock(&buffer)))).collect()
    }
}

struct Sink(Buffer);

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes are appended completely, so a panic elsewhere leaves no partial one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_back_in_order_of_creation() {
        let sinks = QlogSinks::default();
        let mut server = sinks.create("server");
        let mut client = sinks.clone().create("client");
        let mut again = sinks.create("server");
        let _unused = sinks.create("server-2");
        client.write_all(b"hello ").unwrap();
        server.write_all(b"first").unwrap();
        client.write_all(b"there").unwrap();
        again.write_all(b"second").unwrap();
        again.flush().unwrap();
        drop(client);

        let found = sinks.take();
        let expected: [(&str, &[u8]); 4] = [
            ("server", b"first"),
            ("client", b"hello there"),
            ("server-2", b"second"),
            ("server-2-2", b""),
        ];
        assert_eq!(found, expected.map(|(name, bytes)| (name.to_owned(), bytes.to_vec())));
        assert_eq!(sinks.take(), []);
    }

    #[test]
    fn sinks_go_to_other_threads() {
        let sinks = QlogSinks::default();
        let mut sink = sinks.create("connection");
        std::thread::spawn(move || sink.write_all(b"x").unwrap()).join().unwrap();
        assert_eq!(sinks.take(), [("connection".to_owned(), b"x".to_vec())]);
    }
}
