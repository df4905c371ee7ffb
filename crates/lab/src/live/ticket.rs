//! A ticket: lets clients use a server and authenticate it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use trackbed_core::text::hex;

/// Lets clients use a server (by a secret) and authenticate it (by its certificate). A server
/// creates a new one at each start.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    trackbed_ticket: u32,
    secret: String,
    /// The server's certificate in DER, in hexadecimal digits.
    certificate: String,
}

/// Without the secret.
impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// Many times the size of a hexadecimal certificate.
const BYTES_MAX: u64 = 64 * 1_024;

impl Ticket {
    /// A ticket for the server with this certificate.
    pub(super) fn new(certificate: &[u8]) -> io::Result<Ticket> {
        let mut secret = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut secret)?;
        Ok(Ticket { trackbed_ticket: 1, secret: hex(&secret), certificate: hex(certificate) })
    }

    /// Reads the file that a server wrote; at most as much as a ticket may have.
    ///
    /// # Errors
    /// If it cannot be read, or is not a ticket; the message says what to do.
    pub fn read(path: &Path) -> Result<Ticket, String> {
        let shown = path.display();
        let mut text = Vec::new();
        let file = File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut text));
        file.map_err(|why| {
            format!("{shown}: {why}\n  help: `trackbed serve` writes it; copy it to this machine")
        })?;
        let ticket: Option<Ticket> = serde_json::from_slice(&text).ok();
        let ticket = ticket.filter(|ticket| ticket.trackbed_ticket == 1);
        let ticket = ticket.filter(|ticket| unhex(&ticket.certificate).is_some());
        ticket.ok_or_else(|| {
            format!("{shown} is not a ticket\n  help: copy the file that `trackbed serve` writes")
        })
    }

    /// Writes it to a file that only its owner can read.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        // An existing file may be readable by everyone.
        match fs::remove_file(path) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        writeln!(file, "{}", serde_json::to_string(self).expect("a ticket is plain data"))
    }

    pub(super) fn certificate(&self) -> Vec<u8> {
        unhex(&self.certificate).expect("it was checked when the ticket was read")
    }

    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    /// Whether `told` is the secret. Compares digests, so that the duration reveals nothing.
    pub(super) fn admits(&self, told: &str) -> bool {
        Sha256::digest(told.as_bytes()) == Sha256::digest(self.secret.as_bytes())
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match *pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn tickets_are_written_for_one_pair_of_eyes_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ticket");
        fs::write(&path, "open to all").unwrap();
        let ticket = Ticket::new(&[0, 17, 255]).unwrap();
        ticket.write(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let read = Ticket::read(&path).unwrap();
        assert_eq!(read.certificate(), [0, 17, 255]);
        assert!(read.admits(ticket.secret()) && !read.admits("") && ticket.secret().len() == 64);
        assert!(!Ticket::new(&[]).unwrap().admits(ticket.secret()));
        for other in ["", "{}", "{\"trackbed_ticket\":2,\"secret\":\"\",\"certificate\":\"\"}"] {
            fs::write(&path, other).unwrap();
            assert!(Ticket::read(&path).err().unwrap().contains("is not a ticket"), "{other}");
        }
        fs::remove_file(&path).unwrap();
        assert!(Ticket::read(&path).err().unwrap().contains("trackbed serve"));
    }
}
