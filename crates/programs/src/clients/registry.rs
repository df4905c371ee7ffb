//! Every client program: one line each.

use super::{ClientProgram, chromium, curl};

/// Every client program, in the order of lists. A new one is a file of its own and a line here.
pub fn registry() -> &'static [&'static dyn ClientProgram] {
    &[&curl::Curl, &chromium::Chromium]
}

/// The client program called `name`.
pub fn find(name: &str) -> Option<&'static dyn ClientProgram> {
    registry().iter().copied().find(|client| client.name() == name)
}
