//! Addresses, paths and ports of network namespaces. Traffic through ports of every kind is
//! compared byte by byte, and the counters with arithmetic. If the machine does not allow
//! namespaces these tests print so and pass.
#![allow(clippy::disallowed_methods, reason = "the kernel works in real time")]

mod addresses;
mod datagrams;
mod lab;
mod paths;
mod transfers;
