//! What goes through ports of every kind: the bytes of both ends are compared, and the counters
//! with arithmetic. Where the machine does not allow namespaces these tests say so and pass.
#![allow(clippy::disallowed_methods, reason = "the kernel works in real time")]

mod datagrams;
mod lab;
mod transfers;
