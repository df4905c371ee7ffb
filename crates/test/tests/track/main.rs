//! The library as its users see it: three examples, hooks, determinism, and failures.

mod determinism;
mod failures;
mod hooks;
mod http2;
mod quic;
mod retransmission;
