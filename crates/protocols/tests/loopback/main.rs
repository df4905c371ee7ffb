//! The protocols over the kernel's sockets on the loopback interface: by themselves, with peers that
//! do not speak them, and with third-party programs.
#![cfg(target_os = "linux")]

mod clients;
mod hostile;
mod kernel;
mod support;
#[path = "../shared/traffic.rs"]
mod traffic;
mod usrsctp;
