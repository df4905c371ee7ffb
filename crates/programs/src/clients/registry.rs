//! Every client program, one per line.

use super::{ClientProgram, chromium, curl};

/// Every client program, in list order. To add one, create its file and add a line here.
pub fn registry() -> &'static [&'static dyn ClientProgram] {
    &[&curl::CURL, &curl::QUIC_GO, &curl::AIOQUIC, &curl::QUICHE, &chromium::Chromium]
}

/// The client program called `name`.
pub fn find(name: &str) -> Option<&'static dyn ClientProgram> {
    registry().iter().copied().find(|client| client.name() == name)
}
