//! Clients that are not ours: what each is asked to fetch, and what it says of it afterwards.
//!
//! A [`ClientProgram`] is an entry of [`registry`]; a user's own command is a [`CustomClient`], of
//! which nothing is known but how it ended.

mod chromium;
mod curl;
mod custom;
mod packages;
mod registry;
mod visit;

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::error::ProgramError;
use crate::program::{About, Launch};

pub use custom::CustomClient;
pub use packages::package_of;
pub use registry::{find, registry};
pub use visit::{Fetched, PageTimes, Visit, Visited, Wanted};

/// A client that is not ours.
pub trait ClientProgram: Sync + Send {
    /// What it is.
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

    /// Whether what is installed as `executable` speaks `protocol`, one of [`About::speaks`].
    ///
    /// # Errors
    /// If it does not; the message says what helps.
    fn check(&self, _executable: &Path, _protocol: &str) -> Result<(), String> {
        Ok(())
    }

    /// How to start it for `visit`. It touches nothing.
    ///
    /// # Errors
    /// If the server's certificate cannot be read.
    fn prepare(&self, visit: &Visit<'_>) -> Result<Launch, ProgramError>;

    /// Who listens to it; `None` if it says nothing that is understood.
    fn session(&self, visit: &Visit<'_>) -> Option<Box<dyn Session>>;

    /// Whether it is spoken with by a [`Channel`](crate::Channel) while it runs; otherwise what it
    /// says is its standard output.
    fn has_channel(&self) -> bool {
        false
    }
}

/// What a client does with a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Whatever it was told by its user.
    AsTold,
    /// It fetches every file of the site, one after the other.
    FetchesFiles,
    /// It loads the site's page, and finds the rest in it.
    LoadsPage,
}

/// A conversation with a client. It waits for nothing: it is told what the client says, and asked
/// what to say.
pub trait Session {
    /// What is to be said next; call it until there is nothing more, at the beginning and whenever
    /// something was heard.
    fn say(&mut self) -> Option<Vec<u8>>;

    /// The client has said this.
    ///
    /// # Errors
    /// If it has failed, or says what makes no sense: there is nothing more to be had from it.
    fn hear(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// What it has fetched, when it has ended with success.
    ///
    /// # Errors
    /// If it has not said all that was expected.
    fn finish(self: Box<Self>) -> Result<Visited, String>;
}

/// The client that a scenario names.
#[derive(Clone)]
pub enum Client {
    /// One of the registry.
    Registered(&'static dyn ClientProgram),
    /// A user's own.
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
