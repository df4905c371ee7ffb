//! The kernel's side: a socket in a namespace, and the application on it.

use std::net::Ipv6Addr;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::thread::{self, ScopedJoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, accept_with, bind,
    connect, ipproto, listen, recv, send, shutdown, socket_with, sockopt,
};
use trackbed_linux::tcp_info::{TcpInfo, tcp_info};

use crate::app::{App, Failure, Report, Stream};
use crate::*;

/// Which part the kernel plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Client(SocketAddr),
    Server(u16),
}

#[derive(Clone, Debug)]
pub struct Options {
    /// `TCP_CONGESTION`, whatever the machine's default is.
    pub congestion: &'static str,
    /// `SO_RCVBUF` in bytes, which the kernel doubles; without it the buffer grows by itself.
    pub receive_buffer: Option<usize>,
    pub no_delay: bool,
    /// Multipath TCP, by `IPPROTO_MPTCP`.
    pub multipath: bool,
    /// Keepalive after this time and at the same interval, at least a second.
    pub keep_alive: Option<Duration>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            congestion: "cubic",
            receive_buffer: None,
            no_delay: false,
            multipath: false,
            keep_alive: None,
        }
    }
}

/// A socket that listens, or is about to connect. It belongs to the namespace of the thread that
/// made it, whatever thread uses it.
#[derive(Debug)]
pub struct Prepared {
    socket: OwnedFd,
    role: Role,
    /// The listening socket stays: joins of further subflows need it.
    stays: bool,
}

/// What became of the kernel's side.
#[derive(Clone, Debug)]
pub struct Ended {
    pub report: Report,
    /// What the kernel said last of the connection; printed when a case fails.
    #[expect(dead_code, reason = "printed")]
    pub info: Option<TcpInfo>,
}

impl Prepared {
    /// Makes the socket in the calling thread's namespace.
    pub fn new(role: Role, ipv6: bool, options: &Options) -> rustix::io::Result<Prepared> {
        let family = if ipv6 { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let protocol = options.multipath.then_some(ipproto::MPTCP);
        let socket = socket_with(family, SocketType::STREAM, flags, protocol)?;
        // A socket that has ever had another one may keep its pacing, so this comes first.
        sockopt::set_tcp_congestion(&socket, options.congestion)?;
        if let Some(bytes) = options.receive_buffer {
            sockopt::set_socket_recv_buffer_size(&socket, bytes)?;
        }
        sockopt::set_tcp_nodelay(&socket, options.no_delay)?;
        if let Some(idle) = options.keep_alive {
            sockopt::set_socket_keepalive(&socket, true)?;
            sockopt::set_tcp_keepidle(&socket, idle)?;
            sockopt::set_tcp_keepintvl(&socket, idle)?;
            sockopt::set_tcp_keepcnt(&socket, 30)?;
        }
        if let Role::Server(port) = role {
            let any: IpAddr = match ipv6 {
                true => Ipv6Addr::UNSPECIFIED.into(),
                false => Ipv4Addr::UNSPECIFIED.into(),
            };
            bind(&socket, &SocketAddr::new(any, port))?;
            listen(&socket, if options.multipath { 8 } else { 1 })?;
        }
        Ok(Prepared { socket, role, stays: options.multipath })
    }

    /// Plays `app` to its end, or until `cancel` is set.
    pub fn play(self, mut app: App, clock: Clock, cancel: &AtomicBool) -> Ended {
        let (socket, _listener) = match self.open(clock, cancel) {
            Ok(sockets) => sockets,
            Err(failure) => {
                app.fail(clock.now(), failure);
                return Ended { report: app.report, info: None };
            }
        };
        let mut socket = Socket(Some(socket));
        loop {
            app.step(clock.now(), &mut socket);
            if cancel.load(Ordering::Relaxed) {
                app.fail(clock.now(), Failure::Stalled);
            }
            let info = socket.0.as_ref().and_then(|socket| tcp_info(socket).ok());
            if app.is_done() {
                return Ended { report: app.report, info };
            }
            let mut events = PollFlags::empty();
            events.set(PollFlags::OUT, app.wants_to_write());
            events.set(PollFlags::IN, app.wants_to_read());
            let Some(open) = &socket.0 else { continue };
            wait(open, events, app.next_wake(), clock);
        }
    }

    fn open(
        self,
        clock: Clock,
        cancel: &AtomicBool,
    ) -> Result<(OwnedFd, Option<OwnedFd>), Failure> {
        match self.role {
            Role::Client(to) => {
                match connect(&self.socket, &to) {
                    Ok(()) | Err(Errno::INPROGRESS) => {}
                    Err(why) => return Err(why.into()),
                }
                while !wait(&self.socket, PollFlags::OUT, None, clock) {
                    if cancel.load(Ordering::Relaxed) {
                        return Err(Failure::Stalled);
                    }
                }
                match sockopt::socket_error(&self.socket)? {
                    Ok(()) => Ok((self.socket, None)),
                    Err(why) => Err(why.into()),
                }
            }
            Role::Server(_) => loop {
                if wait(&self.socket, PollFlags::IN, None, clock) {
                    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
                    let accepted = accept_with(&self.socket, flags)?;
                    return Ok((accepted, self.stays.then_some(self.socket)));
                }
                if cancel.load(Ordering::Relaxed) {
                    return Err(Failure::NeverAccepted);
                }
            },
        }
    }
}

/// Waits for `events`, until `until` and for a moment at the longest; true if there were any.
fn wait(socket: &OwnedFd, events: PollFlags, until: Option<Time>, clock: Clock) -> bool {
    let most = Duration::from_millis(50);
    let span = until.map_or(most, |until| until.since(clock.now()).min(most));
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(span.subsec_nanos()) };
    let mut polled = [PollFd::new(socket, events)];
    // poll(2) reports a failure even if no event was requested, which would keep a slow reader
    // awake.
    let polled = if events.is_empty() { &mut polled[..0] } else { &mut polled[..] };
    poll(polled, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Waits for the kernel's side: when the engine has ended, for some retransmission timeouts more.
pub fn finish(
    kernel: ScopedJoinHandle<'_, Ended>,
    cancel: &AtomicBool,
    engine_ended: bool,
) -> Ended {
    let mut patience = if engine_ended { GRACE } else { Duration::ZERO };
    while !kernel.is_finished() && !patience.is_zero() {
        thread::park_timeout(PAUSE);
        patience = patience.saturating_sub(PAUSE);
    }
    cancel.store(true, Ordering::Relaxed);
    kernel.join().expect("no panic")
}

/// A socket as its application sees it; gone once it was reset.
struct Socket(Option<OwnedFd>);

impl Stream for Socket {
    fn read(&mut self, max: usize) -> Result<Option<Vec<u8>>, Failure> {
        let Some(socket) = &self.0 else { return Ok(None) };
        let mut buffer = vec![0; max];
        match recv(socket, &mut buffer, RecvFlags::empty()) {
            Ok((len, _)) => {
                buffer.truncate(len);
                Ok(Some(buffer))
            }
            Err(Errno::AGAIN) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, Failure> {
        let Some(socket) = &self.0 else { return Ok(0) };
        match send(socket, data, SendFlags::NOSIGNAL) {
            Err(Errno::AGAIN) => Ok(0),
            other => Ok(other?),
        }
    }

    fn finish(&mut self) {
        if let Some(socket) = &self.0 {
            // A failed connection reports it at the next read.
            let _ = shutdown(socket, Shutdown::Write);
        }
    }

    fn abort(&mut self) {
        if let Some(socket) = self.0.take() {
            sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).expect("a socket lingers");
        }
    }
}

impl From<Errno> for Failure {
    fn from(why: Errno) -> Failure {
        match why {
            Errno::CONNREFUSED => Failure::Refused,
            // tcp(7): EPIPE where the peer had ended its stream before the reset. Multipath TCP
            // returns ENOTCONN to a reader after MP_FASTCLOSE.
            Errno::CONNRESET | Errno::PIPE | Errno::NOTCONN => Failure::Reset,
            Errno::TIMEDOUT => Failure::TimedOut,
            other => Failure::Other(other.to_string()),
        }
    }
}

/// How long one side may go on when the other is done: some retransmission timeouts.
pub const GRACE: Duration = Duration::from_secs(30);
/// How long who waits for something waits before it looks again.
pub const PAUSE: Duration = Duration::from_millis(5);
