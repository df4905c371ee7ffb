//! The HTTP/1.1 endpoint for Prometheus, with one request per connection. This needs so little of HTTP
//! (RFC 9112) that a server on separate threads is simplest. It cannot delay the service.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::metrics::Metrics;

/// Answers `GET /metrics` on this address, on separate threads: eight clients at once, each for at most two
/// seconds, and for a tenth of one if others wait. Returns the address; port 0 is replaced by a free port.
///
/// # Errors
/// If the address cannot be bound; the message names it.
pub fn expose(metrics: &Metrics, address: SocketAddr) -> io::Result<SocketAddr> {
    let named = |why: io::Error| {
        io::Error::new(why.kind(), format!("cannot serve metrics on {address}: {why}"))
    };
    let listener = TcpListener::bind(address).map_err(named)?;
    let address = listener.local_addr()?;
    let metrics = Arc::new(metrics.clone());
    let thread = || thread::Builder::new().name("metrics".to_owned());
    thread().spawn(move || {
        let mut present: VecDeque<(Duration, Weak<TcpStream>)> = VecDeque::new();
        for stream in listener.incoming() {
            // Usually out of descriptors: do not spin.
            let Ok(stream) = stream else {
                thread::park_timeout(PATIENCE);
                continue;
            };
            present.retain(|(_, stream)| stream.strong_count() > 0);
            if present.len() >= AT_ONCE
                && let Some((begun, oldest)) = present.pop_front()
            {
                thread::park_timeout((begun + TURN).saturating_sub(now()));
                oldest.upgrade().map(|stream| stream.shutdown(Shutdown::Both));
            }
            let (stream, metrics) = (Arc::new(stream), Arc::clone(&metrics));
            present.push_back((now(), Arc::downgrade(&stream)));
            // A client without a thread or an answer tries again.
            let timed = move || Timed { stream, end: now() + PATIENCE };
            let answer = move || drop(answer(timed(), &metrics));
            drop(thread().spawn(answer));
        }
    })?;
    Ok(address)
}

struct Timed {
    stream: Arc<TcpStream>,
    end: Duration,
}

impl Timed {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.end.checked_sub(now()).filter(|left| !left.is_zero());
        left.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        (&*self.stream).read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        (&*self.stream).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.stream).flush()
    }
}

fn now() -> Duration {
    // This clock counts from boot.
    clock_gettime(ClockId::Monotonic).try_into().unwrap_or_default()
}

fn answer(mut stream: Timed, metrics: &Metrics) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut buffer = [0; 1_024];
        let count = stream.read(&mut buffer)?;
        head.extend_from_slice(&buffer[..count]);
        if count == 0 || head.len() > HEAD_MAX {
            return respond(&mut stream, "400 Bad Request", "malformed request\n");
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    match (words.next(), words.next().map(|path| path.split('?').next().unwrap_or(path))) {
        (Some("GET"), Some("/metrics")) => respond(&mut stream, "200 OK", &metrics.render()),
        (Some("GET"), _) => respond(&mut stream, "404 Not Found", "only /metrics exists\n"),
        _ => respond(&mut stream, "405 Method Not Allowed", "only GET is supported\n"),
    }
}

fn respond(stream: &mut impl Write, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\
         \r\nConnection: close\r\n\r\n{body}"
    )
}

const PATIENCE: Duration = Duration::from_secs(2);

const AT_ONCE: usize = 8;

/// How long a client has at least; then it makes room for another.
const TURN: Duration = Duration::from_millis(100);

/// The maximum size of a request, in bytes.
const HEAD_MAX: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        // A server that has not read everything may reset the connection.
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn figures_are_fetched_and_nonsense_is_turned_away() {
        let metrics = Metrics::default();
        let seen = metrics.counter("seen_total", "Seen.", &[]);
        let address = expose(&metrics, "127.0.0.1:0".parse().unwrap()).unwrap();
        seen.add(5);
        let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        assert_eq!(body, metrics.render());
        assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(ask(address, &"x".repeat(8_193)).starts_with("HTTP/1.1 400 "));
        assert!(expose(&metrics, address).unwrap_err().to_string().contains("127.0.0.1"));
    }

    #[test]
    fn slow_clients_and_crowds_are_cut_off_and_hold_up_no_other() {
        let address = expose(&Metrics::default(), "127.0.0.1:0".parse().unwrap()).unwrap();
        let begin = now();
        // A byte now and then, for twice the time limit.
        let slow = thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            while now() < begin + 2 * PATIENCE && stream.write_all(b"x").is_ok() {
                thread::park_timeout(PATIENCE / 8);
            }
            now()
        });
        // And twelve that come again as soon as they are sent away.
        let again = move || {
            while now() < begin + PATIENCE {
                let _closed = TcpStream::connect(address).unwrap().read(&mut [0]);
            }
        };
        let _crowd: Vec<_> = (0..12).map(|_| thread::spawn(again)).collect();
        thread::park_timeout(PATIENCE / 8);
        assert!(ask(address, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
        assert!(now() < begin + 2 * PATIENCE, "it waited for the slow one");
        assert!(slow.join().unwrap() < begin + 2 * PATIENCE, "it was not cut off");
    }
}
