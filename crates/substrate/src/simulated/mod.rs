//! The virtual substrate: a whole network in one thread, on a virtual clock.
//!
//! A [`Simulation`] runs one future against a [`Network`](trackbed_net::Network) and the sockets at
//! its ends. Time passes only between events, so processor time is never measured, and the same
//! seed gives the same run, byte for byte, on any machine.
//!
//! ```
//! use std::time::Duration;
//! use trackbed_core::Seed;
//! use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder, models::Delay};
//! use trackbed_substrate::{TcpOptions, now, simulated::Simulation};
//!
//! let seed = Seed::of_run(1, 0);
//! let mut builder = NetworkBuilder::default();
//! let (phone, server) = (builder.host("phone"), builder.host("server"));
//! let link = LinkSpec::new().then(Delay::fixed(Duration::from_millis(20)));
//! builder.connect(
//!     End::new(phone, ["10.0.0.1".parse()?]),
//!     End::new(server, ["10.0.0.2".parse()?]),
//!     Duplex::new(&link, &link, &seed.child("link")),
//! );
//! let established = Simulation::default().run(seed, builder.build()?, |hosts| async move {
//!     let options = TcpOptions::default();
//!     let server = "10.0.0.2:80".parse().unwrap();
//!     let _listener = hosts.get("server").unwrap().listen_tcp(server, &options).unwrap();
//!     let connect = hosts.get("phone").unwrap().connect_tcp(None, server, &options);
//!     let _stream = connect.await.unwrap();
//!     now()
//! })?;
//! assert_eq!(established.as_nanos(), 40_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrival;
mod flow;
mod host;
mod listener;
mod options;
mod ports;
mod reactor;
mod run;
mod sockets;
mod stream;
mod tcp;
mod transport;
mod udp;
mod world;

pub use host::Hosts;
pub use run::{Simulation, is_simulating, parallel};

pub use crate::run::{Cancel, RunError};
pub use trackbed_tcp::Tick;
