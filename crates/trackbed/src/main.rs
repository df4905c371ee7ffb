//! A test track for transport and security protocols on the move.
fn main() {}
