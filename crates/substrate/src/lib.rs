//! The seam between protocols and the network below the socket; the virtual substrate.
