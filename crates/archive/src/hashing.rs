//! SHA-256 of what passes by, and digests as text.

use std::io::{self, Read, Write};

use sha2::{Digest as _, Sha256};

/// A reader or writer that computes the hash of the bytes.
pub(crate) struct Hashing<F> {
    file: F,
    pub hash: Sha256,
    /// The last byte.
    pub last: u8,
}

impl<F> Hashing<F> {
    pub fn new(file: F) -> Hashing<F> {
        Hashing { file, hash: Sha256::new(), last: b'\n' }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.last = bytes.last().copied().unwrap_or(self.last);
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.add(&bytes[..read]);
        Ok(read)
    }
}
