//! Both substrates as their users see them: the virtual one, and the kernel's sockets.

#[path = "../support/mod.rs"]
mod support;

mod failures;
mod guests;
#[cfg(target_os = "linux")]
mod kernel;
mod multipath;
mod parallel;
mod roaming;
mod tcp;
mod time;
mod udp;
