//! The seam between protocols and the network, and what lies below it: the virtual substrate
//! ([`simulated`]), or the sockets of the Linux kernel (`kernel`).
//!
//! The seam consists of [`Host`], its sockets, and an executor with timers ([`spawn`], [`now`],
//! [`sleep`]). A protocol written against them runs on every substrate.
#![forbid(unsafe_code)]

mod accepting;
pub mod clock;
mod entropy;
mod executor;
mod guests;
mod host;
#[cfg(target_os = "linux")]
pub mod kernel;
mod run;
pub mod simulated;
mod socket;

pub use accepting::accept_each;
pub use clock::{from_std_instant, now, to_std_instant, wall_clock};
pub use entropy::{Entropy, EntropyError, SeededEntropy};
pub use executor::{
    StallReason, Task, Timer, before, sleep, sleep_until, spawn, spawn_named, yield_now,
};
pub use guests::{GuestCount, Guests, Standing};
pub use host::{BUFFER_SIZES, Host};
pub use run::{Cancel, RunError};
pub use simulated::is_simulating;
pub use socket::{
    Datagram, Multipath, PathWish, ReceivedMeta, TcpInfo, TcpListener, TcpOptions, TcpPath,
    TcpStream, UdpSocket,
};
