//! A UDP socket of the gateway, and batches of datagrams between two of them: boundaries and the
//! ECN field (RFC 3168 section 5) are kept, because QUIC needs them.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use noq_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::net::sockopt;
use trackbed_linux::socket::allow_fragments;

#[derive(Debug)]
pub(super) struct Endpoint {
    socket: OwnedFd,
    state: UdpSocketState,
}

/// Datagrams of one size from one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train<'a> {
    pub(super) from: SocketAddr,
    /// Which of the receiving socket's addresses it was sent to.
    pub(super) to: Option<IpAddr>,
    ecn: Option<EcnCodepoint>,
    bytes: &'a [u8],
    /// The size of each datagram except the last.
    size: usize,
}

#[derive(Debug, Default)]
pub(super) struct Inbox {
    memory: Vec<u8>,
    meta: [RecvMeta; TRAINS],
    count: usize,
}

impl Inbox {
    pub(super) fn trains(&self) -> impl Iterator<Item = Train<'_>> {
        let buffers = self.memory.chunks(TRAIN_BYTES);
        self.meta[..self.count].iter().zip(buffers).map(|(meta, buffer)| Train {
            from: meta.addr,
            to: meta.dst_ip,
            ecn: meta.ecn,
            bytes: &buffer[..meta.len],
            size: meta.stride.max(1),
        })
    }
}

impl Endpoint {
    pub(super) fn new(socket: OwnedFd) -> io::Result<Endpoint> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // Whether the command set "don't fragment" is unknown here, so a datagram too large for a
        // link on the path is fragmented, as for plain UDP.
        allow_fragments(&socket)?;
        // The kernel grants as much of it as it allows.
        let _ = sockopt::set_socket_recv_buffer_size(&socket, BUFFER_BYTES);
        let _ = sockopt::set_socket_send_buffer_size(&socket, BUFFER_BYTES);
        Ok(Endpoint { socket, state })
    }

    /// Receives pending datagrams, up to the size of the inbox.
    ///
    /// # Errors
    /// As recvmsg(2), including pending errors of the socket, each once.
    pub(super) fn receive(&self, inbox: &mut Inbox) -> io::Result<()> {
        inbox.count = 0;
        inbox.memory.resize(TRAINS * TRAIN_BYTES, 0);
        let mut buffers = inbox.memory.chunks_exact_mut(TRAIN_BYTES).map(IoSliceMut::new);
        let mut buffers: [IoSliceMut<'_>; TRAINS] =
            std::array::from_fn(|_| buffers.next().expect("the buffers have the right sizes"));
        inbox.count =
            self.state.recv(UdpSockRef::from(&self.socket), &mut buffers, &mut inbox.meta)?;
        Ok(())
    }

    /// Forwards datagrams. Those without room are lost, as in any full queue.
    ///
    /// # Errors
    /// As sendmsg(2), including errors of earlier datagrams.
    pub(super) fn send(&self, ends: Ends, train: &Train<'_>) -> io::Result<()> {
        let Train { ecn, bytes, size, .. } = *train;
        if bytes.len() <= size {
            return self.transmit(ends, ecn, bytes, None);
        }
        match self.transmit(ends, ecn, bytes, Some(size)) {
            Err(why) if why.kind() != io::ErrorKind::ConnectionRefused => {
                // Datagrams that need fragments, and some interfaces, do not allow batches.
                let mut each = bytes.chunks(size);
                each.try_for_each(|contents| self.transmit(ends, ecn, contents, None))
            }
            result => result,
        }
    }

    fn transmit(
        &self,
        (src_ip, destination): Ends,
        ecn: Option<EcnCodepoint>,
        contents: &[u8],
        segment_size: Option<usize>,
    ) -> io::Result<()> {
        let transmit = Transmit { destination, ecn, contents, segment_size, src_ip };
        let try_send = || self.state.try_send(UdpSockRef::from(&self.socket), &transmit);
        match try_send() {
            Err(why) if why.kind() == io::ErrorKind::ConnectionRefused => {
                // This is an earlier datagram's error, which has prevented sending this one.
                let _ = try_send();
                Err(why)
            }
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }
}

/// Where datagrams come from, if not from the socket's own address, and where they go.
type Ends = (Option<IpAddr>, SocketAddr);

impl AsFd for Endpoint {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Received at once.
const TRAINS: usize = 8;
/// The kernel joins datagrams up to this size (UDP_GRO of udp(7)).
const TRAIN_BYTES: usize = 1 << 16;
/// What a fast sender sends while another thread has the processor.
const BUFFER_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    fn endpoint() -> (Endpoint, SocketAddr) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        (Endpoint::new(socket.into()).unwrap(), address)
    }

    /// Receives until nothing is left: the ECN field and the bytes of each datagram.
    fn drain(endpoint: &Endpoint, inbox: &mut Inbox) -> Vec<(Option<EcnCodepoint>, Vec<u8>)> {
        let mut all = Vec::new();
        while endpoint.receive(inbox).is_ok() {
            for train in inbox.trains() {
                let datagrams = train.bytes.chunks(train.size);
                all.extend(datagrams.map(|datagram| (train.ecn, datagram.to_vec())));
            }
        }
        all
    }

    #[test]
    fn a_train_is_carried_with_its_boundaries_and_its_ecn_field() {
        let (a, from) = endpoint();
        let (b, to) = endpoint();
        let bytes: Vec<u8> = (0..5_500_u32).map(|n| n as u8).collect();
        for ecn in [None, Some(EcnCodepoint::Ect0), Some(EcnCodepoint::Ce)] {
            let train = Train { from, to: None, ecn, bytes: &bytes, size: 1_200 };
            a.send((None, to), &train).unwrap();
            let arrived = drain(&b, &mut Inbox::default());
            let expected: Vec<_> = bytes.chunks(1_200).map(|it| (ecn, it.to_vec())).collect();
            assert_eq!(arrived, expected);
        }
    }

    #[test]
    fn what_a_port_refuses_is_told() {
        let (a, from) = endpoint();
        let (b, to) = endpoint();
        drop(b);
        rustix::net::connect(&a.socket, &to).unwrap();
        let train = Train { from, to: None, ecn: None, bytes: b"hello", size: 1_200 };
        a.send((None, to), &train).unwrap();
        let told = a.send((None, to), &train).unwrap_err();
        assert_eq!(told.kind(), io::ErrorKind::ConnectionRefused);
    }
}
