//! http2, http3, quic, tcp and tcp+tls over the sockets of a substrate.
