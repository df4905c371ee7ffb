//! Verdicts beside those of OpenSSL and of the crate p256, and those that Wycheproof publishes.

mod edges;
mod gpu;
mod judges;
mod random;
mod vectors;
