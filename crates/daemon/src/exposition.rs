//! Where Prometheus fetches figures: HTTP/1.1, one request a connection. So little of HTTP is needed
//! for it (RFC 9112) that a server on a thread of its own is simplest, and cannot hold up the service.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::metrics::Metrics;

/// Answers `GET /metrics` on this address from now on, on a thread of its own. Returns the address,
/// whose port is a free one if it was 0.
///
/// # Errors
/// If the address cannot be had; the message names it.
pub fn expose(metrics: &Metrics, address: SocketAddr) -> io::Result<SocketAddr> {
    let named = |why: io::Error| {
        io::Error::new(why.kind(), format!("cannot offer metrics on {address}: {why}"))
    };
    let listener = TcpListener::bind(address).map_err(named)?;
    let address = listener.local_addr()?;
    let metrics = metrics.clone();
    let thread = thread::Builder::new().name("metrics".to_owned());
    thread.spawn(move || {
        for stream in listener.incoming() {
            match stream {
                // What a client makes of it is its own affair.
                Ok(stream) => drop(answer(stream, &metrics)),
                // Out of descriptors, as a rule: do not spin.
                Err(_) => thread::park_timeout(PATIENCE),
            }
        }
    })?;
    Ok(address)
}

fn answer(mut stream: TcpStream, metrics: &Metrics) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut buffer = [0; 1_024];
        let count = stream.read(&mut buffer)?;
        head.extend_from_slice(&buffer[..count]);
        if count == 0 || head.len() > HEAD_MAX {
            return respond(&mut stream, "400 Bad Request", "this is no request\n");
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    match (words.next(), words.next().map(|path| path.split('?').next().unwrap_or(path))) {
        (Some("GET"), Some("/metrics")) => respond(&mut stream, "200 OK", &metrics.render()),
        (Some("GET"), _) => respond(&mut stream, "404 Not Found", "there is only /metrics\n"),
        _ => respond(&mut stream, "405 Method Not Allowed", "only GET is possible\n"),
    }
}

fn respond(stream: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\
         \r\nConnection: close\r\n\r\n{body}"
    )
}

/// How long a client may take for what it has to say or hear.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most that a request may say, in bytes.
const HEAD_MAX: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        // A server that has not read everything may reset.
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn figures_are_fetched_and_nonsense_is_turned_away() {
        let metrics = Metrics::new();
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
}
