//! What the servers share: their command line, requests on plain streams, and the files that they serve.
//!
//! They respond to a request with a body once they have all of it, and to one without a body with the file of that
//! path. The framing of plain streams is described in crates/protocols/src/framing/mod.rs.

use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};

/// The protocol of plain streams.
pub const STREAMS: &str = "trackbed-streams/1";

/// The longest path that Trackbed accepts.
const PATH_MAX: usize = 4096;

/// What the command line says.
pub struct Options {
    pub address: SocketAddr,
    pub certificate: String,
    pub key: String,
    pub site: PathBuf,
    pub early: bool,
    pub retry: bool,
}

impl Options {
    /// Reads the command line, which is that of all stacks here.
    pub fn read() -> Result<Options, String> {
        let (mut early, mut retry) = (false, false);
        let mut values = ["-address", "-certificate", "-key", "-site"].map(|name| (name, None));
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match (word.as_str(), values.iter_mut().find(|(name, _)| *name == word)) {
                ("-early", _) => early = true,
                ("-retry", _) => retry = true,
                (_, Some((_, value))) => *value = words.next(),
                _ => return Err(format!("unknown option {word}")),
            }
        }
        let [address, certificate, key, site] =
            values.map(|(name, value)| value.ok_or(format!("{name} is missing")));
        let address = address?.parse().map_err(|why| format!("-address: {why}"))?;
        Ok(Options {
            address,
            certificate: certificate?,
            key: key?,
            site: site?.into(),
            early,
            retry,
        })
    }
}

/// Runs a server until it fails, and says why.
pub fn exit(name: &str, why: impl std::fmt::Display) -> ! {
    eprintln!("{name}: {why}");
    std::process::exit(1)
}

/// A request, as far as it has arrived.
#[derive(Default)]
pub struct Request {
    head: Vec<u8>,
    /// Its path, once it is known.
    pub path: Option<String>,
    /// Whether it has a body.
    pub has_body: bool,
}

impl Request {
    /// Takes bytes of a plain stream: 1, or 3 and a priority, then the path's length, the path, and the body.
    pub fn take(&mut self, data: &[u8]) -> Result<(), &'static str> {
        if self.path.is_some() {
            self.has_body |= !data.is_empty();
            return Ok(());
        }
        self.head.extend_from_slice(data);
        let start = match self.head.first() {
            None => return Ok(()),
            Some(1) => 1,
            Some(3) => 2,
            Some(_) => return Err("not a request"),
        };
        let Some(&[high, low]) = self.head.get(start..start + 2) else { return Ok(()) };
        let size = usize::from(u16::from_be_bytes([high, low]));
        if size == 0 || size > PATH_MAX {
            return Err("a path of a wrong length");
        }
        let (begin, end) = (start + 2, start + 2 + size);
        if let Some(path) = self.head.get(begin..end) {
            self.path =
                Some(String::from_utf8(path.to_vec()).map_err(|_| "a path that is no text")?);
            self.has_body = self.head.len() > end;
            self.head = Vec::new();
        }
        Ok(())
    }

    /// The status and the body of the response to a whole request.
    pub fn answer(&self, site: &Path) -> Result<(u16, Vec<u8>), &'static str> {
        let path = self.path.as_deref().ok_or("an incomplete request")?;
        if self.has_body {
            return Ok((200, b"taken".to_vec()));
        }
        // It cannot leave the folder.
        let path = Path::new(path.split('?').next().unwrap_or_default());
        let inside = path.components().filter(|part| matches!(part, Component::Normal(_)));
        match std::fs::read(site.join(inside.collect::<PathBuf>())) {
            Ok(body) => Ok((200, body)),
            Err(_) => Ok((404, b"no such file".to_vec())),
        }
    }
}

/// The bytes of a response on a plain stream.
pub fn framed(status: u16, body: &[u8]) -> Vec<u8> {
    [&[2], &status.to_be_bytes()[..], body].concat()
}
