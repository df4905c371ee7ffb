//! Link models, queues and topology: when, and whether, a packet comes out.
//!
//! Everything here is sans-IO: time is an argument, packets go in and come out, and a link returns
//! when it must be called next. A link is described by a [`LinkSpec`] and built with a seed; a
//! [`Network`] joins hosts and routers by links and carries packets from host to host.
//!
//! ```
//! use std::time::Duration;
//! use trackbed_core::packet::{Ecn, UdpDatagram};
//! use trackbed_core::{Bitrate, Ratio, Seed, Time};
//! use trackbed_net::models::Loss;
//! use trackbed_net::queue::DropTail;
//! use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};
//!
//! // 50 Mbit/s behind a queue of 100 packets, 10 ms, and a loss of 0.3 % in one direction.
//! let link = LinkSpec::simple(
//!     Bitrate::from_mbps(50),
//!     DropTail::of_packets(100),
//!     Duration::from_millis(10),
//! );
//! let lossy = link.clone().with(Loss::bernoulli(Ratio::from_parts(3, 1000)));
//!
//! let mut builder = NetworkBuilder::default();
//! let (client, server) = (builder.host("client"), builder.host("server"));
//! builder.connect(
//!     End::new(client, ["10.0.0.1".parse()?]),
//!     End::new(server, ["10.0.0.2".parse()?]),
//!     Duplex::new(&link, &lossy, &Seed::of_run(1, 0).child("link")),
//! );
//! let mut network = builder.build()?;
//!
//! let (from, to) = ("10.0.0.1:5000".parse()?, "10.0.0.2:443".parse()?);
//! let packet = UdpDatagram::emit(from, to, Ecn::NotCapable, &[0; 1472]);
//! network.send(Time::ZERO, client, packet);
//! while let Some(at) = network.next_wake() {
//!     network.advance(at);
//! }
//! let delivery = network.poll_delivery().unwrap();
//! // 12,000 bit at 50 Mbit/s take 240 us.
//! assert_eq!((delivery.node, delivery.at), (server, Time::from_micros(10_240)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod content;
mod in_flight;
mod link;
mod link_spec;
pub mod medium;
pub mod models;
mod network;
pub mod queue;
mod registry;
pub mod spec;

pub use content::ContentReader;
pub use link::{Alteration, Change, DropReason, Link, Outlet, Waiting, Wire};
pub use link_spec::LinkSpec;
pub use network::{
    BuildError, Count, Counters, Delivery, Direction, Duplex, End, Handled, InterfaceId,
    LOOPBACK_DELAY, LinkId, Load, MediumId, Network, NetworkBuilder, NodeId, Point, Processor, Tap,
    Way,
};
pub use registry::{MEDIA, MODELS, QUEUES, SELECTOR};
pub use spec::{Model, Stage};
