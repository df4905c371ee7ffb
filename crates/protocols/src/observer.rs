//! Observers of a run: TLS keys for packet captures, and the QUIC engine's own trace.

use std::fmt;
use std::io;

use trackbed_core::{Time, named};
use trackbed_substrate::TcpStream;

/// Receives what makes a capture readable. It must not influence the run.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A line of the NSS key log format, without a line end: `LABEL CLIENT_RANDOM SECRET`, as
    /// Wireshark reads it and a pcapng Decryption Secrets Block holds it. If both ends are
    /// observed, each line appears twice.
    fn tls_key(&self, line: &str);

    /// Where to write the qlog trace of a new QUIC connection (JSON-SEQ,
    /// draft-ietf-quic-qlog-main-schema), or `None` for no trace. `connection` is the original
    /// destination connection ID in hexadecimal, equal on both sides.
    fn qlog(&self, side: Side, connection: &str) -> Option<Box<dyn io::Write + Send + Sync>>;

    /// The observer of a new TCP connection, called after each read or write; `None` for none.
    fn tcp(&self, _side: Side) -> Option<TcpTrace> {
        None
    }
}

/// Gets a TCP connection and the current time.
pub type TcpTrace = Box<dyn FnMut(Time, &dyn TcpStream)>;

named! {
    /// An end of a connection.
    #[derive(PartialOrd, Ord)]
    pub enum Side {
        /// The end that connected.
        Client = "client",
        /// The end that was connected to.
        Server = "server",
    }
}
