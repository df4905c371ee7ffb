//! Links on the real kernel: network namespaces whose interfaces are connected by the link models
//! of `trackbed_net`, driven by the real clock.
//!
//! A [`namespace::NetNamespace`] is a machine; [`Backstage::attach`] gives it an interface and
//! returns a [`Port`]; an [`Emulator`] carries packets between ports through a
//! `trackbed_net::Network` and returns a [`Certificate`] that shows whether this machine kept up.
#![forbid(unsafe_code)]

mod alarm;
mod certificate;
mod clock;
mod emulator;
pub mod enclosure;
mod gateway;
pub mod namespace;
pub mod passage;
mod port;
mod remote;
mod resident;
mod vigil;

pub use certificate::{Certificate, LATE, MEDIAN_SUSPECT, Verdict};
pub use clock::{Calendar, Clock};
pub use emulator::{Attachment, Edges, Emulator, Finished};
pub use port::{Backstage, DeviceKind, Port, PortOptions, SuperPackets};
pub use remote::Remote;
pub use resident::Resident;
pub use vigil::Vigil;
