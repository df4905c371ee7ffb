//! The Linux kernel's sockets on the machine's own clock.
//!
//! The same executor, and so the same protocols, as in the virtual substrate; below the sockets is
//! whatever network the calling thread is in, for example that of a network namespace. An
//! [`Execution`] runs one future on the calling thread, with no thread besides it. Processes that
//! share an [`Origin`] share their time.
//!
//! ```
//! use trackbed_core::Time;
//! use trackbed_substrate::{TcpOptions, kernel::{Execution, Origin}};
//!
//! let execution = Execution::new(Origin::now()).with_time_limit(Time::from_millis(10_000));
//! let peer = execution.run(|machine| async move {
//!     let host = machine.host("here", ["127.0.0.1".parse().unwrap()]);
//!     let options = TcpOptions { congestion: "reno".to_owned(), ..TcpOptions::default() };
//!     let listener = host.listen_tcp("127.0.0.1:0".parse().unwrap(), &options).unwrap();
//!     let stream = host.connect_tcp(None, listener.local_addr(), &options).await.unwrap();
//!     assert_eq!(stream.peer_addr(), listener.local_addr());
//!     (listener.accept().await.unwrap().peer_addr(), stream.local_addr())
//! })?;
//! assert_eq!(peer.0, peer.1);
//! # Ok::<(), trackbed_substrate::RunError>(())
//! ```
//!
//! # What differs from the virtual substrate
//!
//! - [`now`](crate::now) is read from the clock before each poll of a task, and then stands still.
//! - Keys and identifiers are the operating system's ([`Entropy::System`](crate::Entropy::System)).
//! - Settings that Linux has only for a namespace or machine cannot be chosen for a socket:
//!   [`TcpOptions::ecn`](crate::TcpOptions::ecn) and
//!   [`TcpOptions::hystart`](crate::TcpOptions::hystart) are refused if the kernel is set
//!   otherwise, and the error names the setting to change.
//!   [`TcpOptions::backlog`](crate::TcpOptions::backlog) counts up to the sysctl
//!   `net.core.somaxconn`.
//! - Multipath TCP is the kernel's own: a namespace sets which addresses open subflows, and whether
//!   a path is a backup, for all connections that begin at its address.
//! - [`TcpInfo::timeouts`](crate::TcpInfo::timeouts) stays zero before Linux 6.7.

mod descriptor;
mod execution;
mod handle;
mod host;
mod listener;
mod multipath;
mod options;
mod origin;
mod reactor;
mod sockets;
mod source;
mod super_datagram;
mod tcp;
mod udp;
mod waiting;
mod world;

pub use execution::Execution;
pub use host::Machine;
pub use origin::Origin;
pub use waiting::Waiting;
