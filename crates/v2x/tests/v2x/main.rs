//! Messages and certificates against captures, other implementations, arithmetic, and whatever a
//! stranger may send.

mod captures;
mod certificates;
mod mutation;
mod reference;
mod refusals;
mod revocation;
mod traffic;
mod world;
