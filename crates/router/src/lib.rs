//! Services for an on-train router with several cellular operators: [`phad`] steers the kernel's
//! Multipath TCP away from operators before their handovers, and [`relay`] forwards passengers' plain TCP
//! over it.
#![forbid(unsafe_code)]

pub mod phad;
pub mod relay;
