//! The protocols over the kernel's sockets on the loopback interface: by themselves, with peers that
//! do not speak them, and with third-party programs.
#![cfg(target_os = "linux")]

#[path = "../../../mqtt/tests/mqtt/broker.rs"]
mod broker;
mod clients;
mod kernel;
#[path = "../../../../tests/src/programs.rs"]
mod programs;
mod support;
#[path = "../shared/traffic.rs"]
mod traffic;
mod usrsctp;
