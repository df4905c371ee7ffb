//! TCP connections.
