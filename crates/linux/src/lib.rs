//! Safe interfaces to Linux kernel functions that no library offers safely: the one crate with its
//! own system calls. Each module wraps one interface of the kernel.

mod descriptors;
pub mod ethtool;
pub mod mptcp;
pub mod mptcp_pm;
pub mod namespaces;
pub mod netlink;
mod packet_socket;
pub mod parent;
pub mod processes;
pub mod reaping;
pub mod scheduling;
pub mod socket;
mod sys;
pub mod sysctl;
pub mod tcp_info;
mod tun;
pub mod unprivileged;
mod virtio;

pub use descriptors::{allow_descriptors, inherited};
pub use packet_socket::{Frame, PacketSocket, Reception, RingSize};
pub use tun::{TunOptions, open_tun};
pub use virtio::VirtioHeader;
