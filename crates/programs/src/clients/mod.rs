//! Third-party clients: what each one fetches, and its report.
//!
//! A [`ClientProgram`] is an entry of [`registry`]; a user's own command is a [`CustomClient`], of
//! which only the exit status is known.

mod chromium;
mod curl;
mod custom;
mod registry;
mod visit;

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::error::ProgramError;
use crate::program::{About, Launch};

pub use custom::CustomClient;
pub use registry::{find, registry};
pub use visit::{Fetched, PageTimes, Visit, Visited, Wanted};

/// A third-party client.
pub trait ClientProgram: Sync + Send {
    /// Its description.
    fn about(&self) -> &About;

    /// Its name.
    fn name(&self) -> &str {
        self.about().name
    }

    /// The names under which it is installed, the preferred one first.
    fn executables(&self) -> Vec<&str> {
        self.about().executables.to_vec()
    }

    /// What it does with a workload.
    fn does(&self) -> Does;

    /// Checks that the program installed as `executable` supports `protocol`, one of
    /// [`About::speaks`].
    ///
    /// # Errors
    /// If it does not; the message says what to do.
    fn check(&self, _executable: &Path, _protocol: &str) -> Result<(), String> {
        Ok(())
    }

    /// How to start it for `visit`. Has no side effects.
    ///
    /// # Errors
    /// If the server's certificate cannot be read.
    fn prepare(&self, visit: &Visit<'_>) -> Result<Launch, ProgramError>;

    /// Parses its output; `None` if it has no usable output.
    fn session(&self, visit: &Visit<'_>) -> Option<Box<dyn Session>>;

    /// Whether it communicates through a [`Channel`](crate::Channel) while it runs; otherwise its
    /// output is its standard output.
    fn has_channel(&self) -> bool {
        false
    }
}

/// What a client does with a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Whatever the user's command does.
    AsTold,
    /// Fetches every file of the site, one after another.
    FetchesFiles,
    /// Loads the site's page and the objects it refers to.
    LoadsPage,
}

/// A conversation with a client. It never blocks: it receives the client's output, and provides its
/// input.
pub trait Session {
    /// The next input for the client; call it until it returns `None`, at the start and after each
    /// output.
    fn say(&mut self) -> Option<Vec<u8>>;

    /// Receives the client's output.
    ///
    /// # Errors
    /// If it has failed or its output is invalid: the conversation is over.
    fn hear(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// What it has fetched, after it has ended successfully.
    ///
    /// # Errors
    /// If its report is incomplete.
    fn finish(self: Box<Self>) -> Result<Visited, String>;
}

/// The client in a scenario.
#[derive(Clone)]
pub enum Client {
    /// A registry entry.
    Registered(&'static dyn ClientProgram),
    /// A user's command.
    Custom(Arc<CustomClient>),
}

impl Deref for Client {
    type Target = dyn ClientProgram;

    fn deref(&self) -> &Self::Target {
        match self {
            Client::Registered(client) => *client,
            Client::Custom(command) => &**command,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.name()).finish()
    }
}
