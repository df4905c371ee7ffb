//! What the kernel has received at once: several datagrams of one sender, joined (UDP_GRO).

use std::io::{self, IoSliceMut};
use std::os::fd::BorrowedFd;

use noq_udp::{RecvMeta, UdpSockRef, UdpSocketState};

#[derive(Default)]
pub(super) struct SuperDatagram {
    /// Allocated when it is first needed.
    bytes: Vec<u8>,
    meta: RecvMeta,
    /// The start of the first datagram that was not taken; `None` if there is none.
    next: Option<usize>,
}

impl SuperDatagram {
    /// The kernel joins no more bytes than this.
    pub(super) const LEN_MAX: usize = 65_535;

    pub(super) fn is_empty(&self) -> bool {
        self.next.is_none()
    }

    pub(super) fn fill(
        &mut self,
        state: &UdpSocketState,
        socket: BorrowedFd<'_>,
    ) -> io::Result<()> {
        self.bytes.resize(SuperDatagram::LEN_MAX, 0);
        let mut meta = [RecvMeta::default()];
        let mut buffers = [IoSliceMut::new(&mut self.bytes)];
        state.recv(UdpSockRef::from(&socket), &mut buffers, &mut meta)?;
        [self.meta] = meta;
        self.next = Some(0);
        Ok(())
    }

    /// Takes the first one, of which `buffer` gets as much as it holds.
    pub(super) fn take_first(&mut self, buffer: &mut [u8]) -> RecvMeta {
        let start = self.next.unwrap_or(self.meta.len);
        let datagram = &self.bytes[start..self.meta.len];
        let datagram = &datagram[..self.meta.stride.min(datagram.len())];
        let end = start + datagram.len();
        self.next = Some(end).filter(|&end| end < self.meta.len);
        let len = datagram.len().min(buffer.len());
        buffer[..len].copy_from_slice(&datagram[..len]);
        let mut meta = self.meta;
        (meta.len, meta.stride) = (len, len);
        meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(datagrams: &mut SuperDatagram, room: usize) -> Vec<u8> {
        let mut buffer = vec![0; room];
        let meta = datagrams.take_first(&mut buffer);
        assert_eq!(meta.len, meta.stride);
        buffer.truncate(meta.len);
        buffer
    }

    fn joined(len: usize, stride: usize) -> SuperDatagram {
        let mut meta = RecvMeta::default();
        (meta.len, meta.stride) = (len, stride);
        SuperDatagram { bytes: (0..=255).collect(), meta, next: Some(0) }
    }

    #[test]
    fn joined_datagrams_come_out_one_by_one() {
        let mut datagrams = joined(8, 3);
        assert_eq!(take(&mut datagrams, 100), [0, 1, 2]);
        // What does not fit is cut, and the next one is whole again.
        assert_eq!(take(&mut datagrams, 2), [3, 4]);
        assert_eq!(take(&mut datagrams, 100), [6, 7]);
        assert!(datagrams.is_empty());
    }

    #[test]
    fn an_empty_datagram_is_one() {
        let mut datagrams = joined(0, 0);
        assert_eq!(take(&mut datagrams, 100), [0_u8; 0]);
        assert!(datagrams.is_empty());
    }
}
