//! The receiving half: reassembly, when to acknowledge, and how much window to offer.

pub(crate) mod acker;
pub(crate) mod reassembly;
pub(crate) mod tuner;
