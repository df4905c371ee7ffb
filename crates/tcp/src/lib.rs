//! A sans-IO TCP engine with real segments and Linux-grade loss recovery.
//!
//! # The call contract
//! A [`Connection`] takes segments, timeouts and the calls of its application, always with the
//! time. After **every** call that takes `&mut self`, the caller drains
//! [`Connection::poll_transmit`] until it returns `None`, sends the packets, and then arms its
//! timer with [`Connection::poll_timeout`], which any such call may have changed. At that time it
//! calls [`Connection::handle_timeout`]. Check readiness ([`Connection::is_readable`],
//! [`Connection::is_writable`]) last.
//!
//! Time never runs backwards. No call blocks, panics on a peer's input, or reads a clock.
//!
//! The caller implements LISTEN: it answers a SYN for a listening port with [`Connection::accept`],
//! and a segment for no connection with [`reset_reply`].
//!
//! ```
//! use trackbed_core::Time;
//! use trackbed_tcp::{Config, Connection, Segment};
//!
//! let (config, now) = (Config::default(), Time::ZERO);
//! let [here, there] = [([10, 0, 0, 1], 40_000).into(), ([10, 0, 0, 2], 80).into()];
//! let mut client = Connection::connect(now, &config, here, there, 1);
//! let syn = Segment::parse(&client.poll_transmit(now).unwrap()).unwrap();
//! let mut server = Connection::accept(now, &config, &syn, 2);
//! client.write(now, b"hello").unwrap();
//! while let Some(packet) = server.poll_transmit(now) {
//!     client.handle_segment(now, Segment::parse(&packet).unwrap());
//!     while let Some(packet) = client.poll_transmit(now) {
//!         server.handle_segment(now, Segment::parse(&packet).unwrap());
//!     }
//! }
//! assert_eq!(server.read(now, 100).unwrap().unwrap(), "hello");
//! ```
//!
//! # What it does
//! | subject | by | where |
//! | --- | --- | --- |
//! | segments, states, windows, probes, Nagle (Minshall) | RFC 9293 | `segment`, `subflow` |
//! | window scaling, timestamps, PAWS | RFC 7323 | `segment`, `subflow` |
//! | challenge ACKs | RFC 5961 | `subflow/input` |
//! | retransmission timeout | RFC 6298, with the variance of Linux | `rtt`, `subflow/timers` |
//! | SACK, DSACK | RFC 2018, 2883 | `receive/reassembly`, `subflow/sack` |
//! | RACK-TLP; without SACK NewReno | RFC 8985; 6582 | `recovery/rack`, `subflow/{loss,timers}` |
//! | proportional rate reduction | RFC 6937bis | `recovery/prr` |
//! | undo by timestamps, DSACK and F-RTO | RFC 3522, 3708, 4015, 5682 | `recovery/undo` |
//! | Reno, CUBIC, HyStart, HyStart++ | RFC 5681, 9438, 9406 | `congestion` |
//! | LIA, OLIA, BALIA over several subflows | RFC 6356; papers | `congestion` |
//! | schedulers of several subflows | papers, Linux | `schedulers` |
//! | initial window, restart after idle, unused windows | RFC 6928, 5681, 7661 | `subflow/window` |
//! | delayed and quick ACKs, SACK compression | RFC 5681, as Linux | `receive/acker` |
//! | buffers that grow with the path | as Linux | `receive/tuner`, `stream/send` |
//! | bursts as of segmentation offload | as Linux | `subflow/batch` |
//! | path MTU by ICMP, ECN | RFC 1191, 8201; 3168 | `subflow` |
//! | several paths (Multipath TCP, version 1) | RFC 8684 | [`multipath`] |
//!
//! Where the RFCs leave a choice, the engine follows Linux 6.18. `kernel-agreement.md` compares the
//! two, condition by condition, and `tests/tests/kernel/tcp` of the workspace connects the two. A
//! congestion controller is one file in `congestion/` and one line in [`algorithms`].
//!
//! # The seam for several paths
//! A connection is one subflow and two byte streams. The subflow owns a sequence space, its
//! recovery and its window, and knows the streams only by three traits: it reads the next bytes
//! from a source when its window has room, passes in-order data to a sink, and lets an extension
//! add options to its segments. On one path these are the streams themselves. With several paths
//! ([`multipath::MultipathConnection`]), a scheduler stands behind every subflow's source, and a
//! reordering stage behind its sink.
//!
//! # Not supported
//! - Pacing and BBR; TCP Fast Open; urgent data (the pointer is ignored); MD5 and TCP-AO.
//! - Accurate ECN and L4S: ECN is that of RFC 3168.
//! - Probing for a larger path MTU (RFC 4821), and raising a lowered one.
//! - SYN cookies, a metrics cache, and other state shared between connections; reuse of a
//!   connection in TIME-WAIT by a new SYN.
//! - A limit for FIN-WAIT-2: a half-closed connection stays until its peer or its owner ends it.
//! - SACK blocks on segments with data: they follow on a separate acknowledgment.
//! - Ticks of Linux's clock, unless [`Config::tick`] is set.
#![forbid(unsafe_code)]

pub mod config;
pub mod congestion;
mod connection;
mod error;
pub mod multipath;
mod receive;
mod recovery;
mod rtt;
pub mod schedulers;
pub mod segment;
mod sequence;
mod stats;
mod stream;
mod subflow;
mod tick;

pub use config::Config;
pub use congestion::{CongestionAlgorithm, algorithms};
pub use connection::Connection;
pub use error::TcpError;
pub use segment::{Flags, QuotedSegment, Segment, reset_reply};
pub use sequence::Seq;
pub use stats::Stats;
pub use subflow::State;
pub use tick::Tick;
