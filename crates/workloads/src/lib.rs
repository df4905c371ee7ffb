//! What is sent over a protocol: messages and bulk transfers.
