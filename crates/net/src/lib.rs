//! Link models, queues and topology: when, and whether, a packet comes out.
//!
//! Everything here is sans-IO: time is an argument, packets go in and come out, and a link says
//! when it wants to be called next. A link is described by a [`LinkSpec`] and built with a seed;
//! a [`Network`] joins hosts and routers by links and carries packets from host to host.
#![forbid(unsafe_code)]

mod in_flight;
mod link;
pub mod models;
mod network;
pub mod queue;
pub mod spec;

pub use link::{Alteration, Change, DropReason, Link, Outlet, Wire};
pub use network::{
    BuildError, Count, Counters, Delivery, Direction, Duplex, End, InterfaceId, LOOPBACK_DELAY,
    LinkId, Network, NetworkBuilder, NodeId, Point, Tap,
};
pub use spec::{LinkSpec, Model, Stage};
