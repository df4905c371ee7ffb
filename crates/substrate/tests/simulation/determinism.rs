//! The same seed gives the same packets at the same nanoseconds.
