//! Tests of network code over simulated links, in virtual time.
//!
//! A [`Track`] joins two ends by a [`Link`] with a rate, a delay, losses and a queue. The code
//! under test runs at both ends, over the sockets of this crate. An hour of virtual time passes in
//! moments, and the same seed gives the same packets.
//!
//! ```
//! use std::time::Duration;
//! use trackbed_test::{Bitrate, Link, Ratio, Track, UdpSocket, elapsed, spawn};
//!
//! let mut track = Track::new(1);
//! let up = Link::new().rate(Bitrate::from_mbps(5)).queue(20).delay(Duration::from_millis(30));
//! let down = Link::new().rate(Bitrate::from_mbps(50)).delay(Duration::from_millis(30));
//! let (client, server) = track.link(up.loss(Ratio::ZERO).backward(down));
//!
//! let round_trip = track.run(async {
//!     let echo = UdpSocket::bind(&server, server.address(7)).unwrap();
//!     spawn(async move {
//!         let mut buffer = [0; 1500];
//!         let (length, from) = echo.recv_from(&mut buffer).await.unwrap();
//!         echo.send_to(&buffer[..length], from).await.unwrap();
//!     });
//!     let socket = UdpSocket::bind(&client, client.address(0)).unwrap();
//!     socket.send_to(b"ping", server.address(7)).await.unwrap();
//!     socket.recv_from(&mut [0; 1500]).await.unwrap();
//!     elapsed()
//! });
//! // 32 bytes take 51.2 us at 5 Mbit/s and 5.12 us at 50 Mbit/s.
//! assert_eq!(round_trip, Duration::from_nanos(60_056_320));
//! ```
//!
//! # What the code under test may use
//!
//! - Sockets: [`UdpSocket`], [`TcpListener`], [`TcpStream`]. A stream has Tokio's traits
//!   `AsyncRead` and `AsyncWrite`.
//! - Time: [`sleep`], [`sleep_until`], [`timeout`] and [`now`]. Code without input and output gets
//!   its time from [`now`]. `std::time::Instant::now()` and Tokio's timers do not work: they use
//!   the real clock.
//! - Tasks: [`spawn`]. There is one thread, so a task that never waits blocks the test.
//! - Random numbers: [`End::fill_random`]. Numbers from the operating system, such as a TLS
//!   library's keys, make packets differ between runs with the same seed. Losses are still the
//!   same.
//!
//! # When a test fails
//!
//! The error names the seed, the virtual time, the cause, and a capture of the last packets for
//! Wireshark. If every task waits for something that cannot happen, the run ends at once with a
//! list of the tasks and their sockets.
#![forbid(unsafe_code)]

mod capture;
mod end;
mod failure;
mod hook;
mod link;
mod results;
mod tasks;
mod tcp;
mod time;
mod track;
mod udp;

pub use end::End;
pub use failure::Failure;
pub use hook::Packet;
pub use link::Link;
pub use results::{Recorder, Results};
pub use tasks::{JoinHandle, spawn};
pub use tcp::{TcpListener, TcpStream};
pub use time::{Elapsed, Sleep, elapsed, now, sleep, sleep_until, timeout};
pub use track::{Secrets, Track};
pub use udp::UdpSocket;

/// A rate, for [`Link::rate`].
///
/// ```
/// use trackbed_test::Bitrate;
///
/// assert_eq!("1.5 Mbit/s".parse(), Ok(Bitrate::from_bps(1_500_000)));
/// ```
pub use trackbed_core::Bitrate;
/// A probability, for [`Link::loss`].
///
/// ```
/// use trackbed_test::Ratio;
///
/// assert_eq!("0.3 %".parse(), Ok(Ratio::from_parts(3, 1000)));
/// assert!("150 %".parse::<Ratio>().is_err());
/// ```
pub use trackbed_core::Ratio;
