//! What a client should fetch, and what it has fetched.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trackbed_core::Time;

/// A client's task.
#[derive(Clone, Debug)]
pub struct Visit<'a> {
    /// Its working folder, which it may write to.
    pub folder: &'a Path,
    /// The server's certificate in PEM.
    pub certificate: PathBuf,
    /// The same in DER.
    pub trust: &'a [u8],
    /// The server's address.
    pub address: IpAddr,
    /// The server's port.
    pub port: u16,
    /// The DNS name that its certificate is for.
    pub name: &'a str,
    /// The protocol to use, by its name in scenarios.
    pub protocol: &'a str,
    /// The files to fetch; for a page, its HTML first.
    pub wanted: &'a [Wanted],
}

/// An object that a client should fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its path in a URL, with a leading slash.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A client's report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visited {
    /// When it started, on `CLOCK_MONOTONIC`, if reported; otherwise the time its process was
    /// started counts.
    pub begin: Option<Time>,
    /// What it has fetched, in order of discovery.
    pub fetched: Vec<Fetched>,
    /// The times of a page.
    pub page: Option<PageTimes>,
}

/// A fetched object. Times count from the start of the visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its path.
    pub path: String,
    /// The protocol that was used: `http1`, `http2` or `http3` as in scenarios, or the client's
    /// name for it.
    pub protocol: String,
    /// The status code of the response; 0 if there was none.
    pub status: u16,
    /// Bytes of content.
    pub bytes: u64,
    /// When the client discovered it.
    pub found: Duration,
    /// When it was requested, on a connection that was ready.
    pub requested: Duration,
    /// When the response started.
    pub first_byte: Duration,
    /// When it was complete.
    pub done: Duration,
}

/// The times of a page (W3C Navigation Timing and Paint Timing). Times count from the start of the
/// visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTimes {
    /// When something was first painted; `None` if nothing was.
    pub first_paint: Option<Duration>,
    /// The end of its `load` event.
    pub loaded: Duration,
}

impl Visited {
    /// How long it took: until the page was loaded, or else until the last object was complete.
    pub fn took(&self) -> Duration {
        let done = self.fetched.iter().map(|fetched| fetched.done).max().unwrap_or_default();
        self.page.map_or(done, |page| page.loaded)
    }
}

impl Visit<'_> {
    /// The URL of `path`.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}:{}{path}", self.name, self.port)
    }

    /// Keeps the wanted objects of `visited`, in the order of the request.
    ///
    /// # Errors
    /// If an object is missing, has the wrong size, was refused, or used another protocol.
    pub fn judge(&self, mut visited: Visited) -> Result<Visited, String> {
        for Wanted { path, bytes } in self.wanted {
            let found = visited.fetched.iter().find(|fetched| fetched.path == *path);
            let found =
                found.ok_or_else(|| format!("{path} was not fetched: no object refers to it"))?;
            let Fetched { status, protocol, bytes: arrived, .. } = found;
            if !(200..300).contains(status) {
                return Err(match status {
                    0 => format!("{path} could not be fetched"),
                    status => format!("{path} was answered with status {status}"),
                });
            }
            if arrived != bytes {
                return Err(format!("{path} has {bytes} B, but {arrived} B arrived"));
            }
            if protocol != self.protocol {
                return Err(format!("{path} came over {protocol}, not {}", self.protocol));
            }
        }
        // Browsers also request an icon, which is not part of the page.
        visited.fetched.retain(|fetched| self.wanted.iter().any(|w| w.path == fetched.path));
        Ok(visited)
    }
}

/// The name in scenarios for the version of HTTP that ALPN calls `name` (RFC 7301).
pub(super) fn protocol_of_alpn(name: &str) -> &str {
    match name {
        "http/1.1" => "http1",
        "h2" => "http2",
        "h3" => "http3",
        other => other,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn visit<'a>(protocol: &'a str, wanted: &'a [Wanted]) -> Visit<'a> {
        Visit {
            folder: Path::new("/some/folder"),
            certificate: PathBuf::from("/some/folder/certificate.pem"),
            trust: &[],
            address: IpAddr::from([10, 0, 0, 1]),
            port: 443,
            name: "server.test",
            protocol,
            wanted,
        }
    }

    #[test]
    fn what_is_missing_or_different_is_told() {
        let wanted = [Wanted { path: "/a".to_owned(), bytes: 3 }];
        let visit = visit("http2", &wanted);
        let good = Fetched {
            path: "/a".to_owned(),
            protocol: "http2".to_owned(),
            status: 200,
            bytes: 3,
            found: Duration::ZERO,
            requested: Duration::ZERO,
            first_byte: Duration::from_millis(1),
            done: Duration::from_millis(2),
        };
        let icon = Fetched { path: "/favicon.ico".to_owned(), status: 404, ..good.clone() };
        let judge = |fetched: &[Fetched]| {
            visit.judge(Visited { fetched: fetched.to_vec(), ..Visited::default() })
        };
        assert_eq!(judge(&[good.clone(), icon]).unwrap().fetched, std::slice::from_ref(&good));
        for (bad, why) in [
            (vec![], "/a was not fetched"),
            (vec![Fetched { status: 404, ..good.clone() }], "status 404"),
            (vec![Fetched { status: 0, ..good.clone() }], "could not be fetched"),
            (vec![Fetched { bytes: 2, ..good.clone() }], "2 B arrived"),
            (vec![Fetched { protocol: "http1".to_owned(), ..good }], "over http1, not http2"),
        ] {
            assert!(judge(&bad).unwrap_err().contains(why), "{why}");
        }
    }
}
