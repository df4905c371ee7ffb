//! Ports on a TUN device: one system call per packet, and packets count as arrived when they are
//! read.

use std::fs::{self, File};
use std::io::{IoSlice, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::time::ClockId;
use trackbed_core::Packet;
use trackbed_core::packet::Offload;
use trackbed_linux::{TunOptions, VirtioHeader, open_tun};

use super::options::{PortOptions, Received};
use super::virtio;
use crate::clock::now;
use crate::namespace::{Interface, NamespaceError, NetNamespace};

/// The program's side of a TUN device.
#[derive(Debug)]
pub(super) struct TunPort {
    file: File,
    name: String,
    /// The host, which counts packets dropped by the device.
    host: NetNamespace,
    virtio: bool,
    buffer: Vec<u8>,
    /// A packet in the buffer: when it was read, and its length.
    read: Option<(Duration, usize)>,
    /// The host's count at the last call of [`TunPort::take_overflow`].
    counted: u64,
}

impl TunPort {
    /// Makes the device in `host`, up.
    pub(super) fn open(
        host: &NetNamespace,
        options: &PortOptions<'_>,
    ) -> Result<TunPort, NamespaceError> {
        let PortOptions { name, mtu, supers, .. } = *options;
        let virtio = supers.any();
        let file = host.run(|| {
            let made = open_tun(name, TunOptions { virtio, offload: supers.from_host });
            let what = format!("cannot create the TUN device \"{name}\"");
            let file = made.map_err(|why| NamespaceError::configure(what, why))?;
            let interface = Interface::named(name)?;
            interface.set_limits(mtu, QUEUE)?;
            interface.set_up()?;
            Ok::<_, NamespaceError>(file)
        })??;
        let buffer = vec![0; VirtioHeader::BYTES + (1 << 16)];
        let (name, host) = (name.to_owned(), host.try_clone()?);
        Ok(TunPort { file, name, host, virtio, buffer, read: None, counted: 0 })
    }

    pub(super) fn is_ready(&mut self) -> bool {
        if self.read.is_none() {
            let length = (&self.file).read(&mut self.buffer).ok();
            self.read = length.map(|length| (now(ClockId::Realtime), length));
        }
        self.read.is_some()
    }

    pub(super) fn receive<T>(&mut self, take: impl FnOnce(Received<'_>) -> T) -> Option<T> {
        if !self.is_ready() {
            return None;
        }
        let (arrived, length) = self.read.take()?;
        let bytes = &self.buffer[..length];
        let (packet, offload) = match (self.virtio, bytes.split_first_chunk()) {
            (false, _) => (bytes, Some(Offload::default())),
            (true, Some((header, packet))) => {
                (packet, virtio::read(VirtioHeader::from_bytes(*header), 0))
            }
            (true, None) => (&[][..], None),
        };
        Some(take(Received { arrived, packet, offload }))
    }

    /// Delivers the first packet; `None` if the kernel refuses it.
    pub(super) fn send(&self, packets: &[Packet]) -> Option<usize> {
        let packet = packets.first()?;
        let written = match self.virtio {
            false => (&self.file).write(packet.bytes()),
            true => {
                let header = virtio::write(packet, 0).to_bytes();
                (&self.file).write_vectored(&[IoSlice::new(&header), IoSlice::new(packet.bytes())])
            }
        };
        written.is_ok().then_some(1)
    }

    /// Packets dropped by the device since the last call.
    pub(super) fn take_overflow(&mut self) -> std::io::Result<u64> {
        let dropped = self.host.run(|| dropped(&self.name)).map_err(std::io::Error::other)??;
        Ok(dropped - std::mem::replace(&mut self.counted, dropped))
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.file.as_fd())
    }
}

/// Packets that the interface could not send, in the calling thread's namespace: proc_net(5).
fn dropped(name: &str) -> std::io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
    // Eight columns of what was received, then bytes, packets, errors and drops of what was sent.
    let count = line.and_then(|line| line.split_whitespace().nth(11)?.parse().ok());
    count.ok_or_else(|| std::io::Error::other(format!("/proc/net/dev has no entry for {name}")))
}

/// The device's queue in packets; the same as the ring of a packet socket.
const QUEUE: u32 = 4_096;
