//! Services of an on-train router with several cellular operators: [`phad`] steers the kernel's
//! Multipath TCP away from operators before their handovers, [`relay`] gives passengers' plain TCP a
//! share in it.
#![forbid(unsafe_code)]

pub mod phad;
pub mod relay;
