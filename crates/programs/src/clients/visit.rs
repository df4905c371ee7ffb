//! What a client is to fetch, and what it has fetched.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trackbed_core::Time;

/// What a client is to do.
#[derive(Clone, Debug)]
pub struct Visit<'a> {
    /// A folder that it may fill as it likes.
    pub folder: &'a Path,
    /// The server's certificate in PEM.
    pub certificate: PathBuf,
    /// The same in DER.
    pub trust: &'a [u8],
    /// Where the server listens.
    pub address: IpAddr,
    /// Where the server listens.
    pub port: u16,
    /// The DNS name that its certificate is for.
    pub name: &'a str,
    /// What is to be spoken, by the name that scenarios use.
    pub protocol: &'a str,
    /// What is to be fetched; of a page, its HTML first.
    pub wanted: &'a [Wanted],
}

/// An object that a client is to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its path in a URL, which begins with a slash.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// What a client has done, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visited {
    /// When it began, on `CLOCK_MONOTONIC`, if it says so; else that was when it was started.
    pub begin: Option<Time>,
    /// What it has fetched, in the order in which it came upon it.
    pub fetched: Vec<Fetched>,
    /// What became of a page.
    pub page: Option<PageTimes>,
}

/// An object that was fetched. Times count from the beginning of the visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its path.
    pub path: String,
    /// The protocol over which it came: `http1`, `http2` or `http3` as in scenarios, or what the
    /// client calls it.
    pub protocol: String,
    /// The status code of the response; 0 if there was none.
    pub status: u16,
    /// Bytes of content.
    pub bytes: u64,
    /// When the client knew that it wanted it.
    pub found: Duration,
    /// When it was asked for, on a connection that was ready.
    pub requested: Duration,
    /// When the response began.
    pub first_byte: Duration,
    /// When it was there wholly.
    pub done: Duration,
}

/// When a page was where (W3C Navigation Timing and Paint Timing). Times count from the beginning
/// of the visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTimes {
    /// When something of it was first shown; `None` if nothing was.
    pub first_paint: Option<Duration>,
    /// The end of its `load` event.
    pub loaded: Duration,
}

impl Visited {
    /// How long it took: until the page was loaded, or else the last object was there.
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

    /// Keeps of `visited` what was wanted, in the order in which it was asked for.
    ///
    /// # Errors
    /// If some of it is missing, of another size, was refused, or came over another protocol.
    pub fn judge(&self, mut visited: Visited) -> Result<Visited, String> {
        for Wanted { path, bytes } in self.wanted {
            let found = visited.fetched.iter().find(|fetched| fetched.path == *path);
            let found =
                found.ok_or_else(|| format!("{path} was not fetched: nothing led to it"))?;
            let Fetched { status, protocol, bytes: arrived, .. } = found;
            if !(200..300).contains(status) {
                return Err(match status {
                    0 => format!("{path} could not be fetched"),
                    status => format!("{path} was answered with status {status}"),
                });
            }
            if arrived != bytes {
                return Err(format!("{path} has {bytes} B, and {arrived} B arrived"));
            }
            if protocol != self.protocol {
                return Err(format!("{path} came over {protocol}, not {}", self.protocol));
            }
        }
        // A browser asks for an icon too, which is not part of the page.
        visited.fetched.retain(|fetched| self.wanted.iter().any(|w| w.path == fetched.path));
        Ok(visited)
    }
}

/// The name that scenarios use for the version of HTTP that ALPN calls `name` (RFC 7301).
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
