//! A client started by a user's command.

use std::path::Path;

use super::{ClientProgram, Does, Session, Visit};
use crate::command::{CommandError, Words};
use crate::error::ProgramError;
use crate::program::{About, Launch};

/// A command line. Only its exit status is known: success or failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomClient(Words);

impl CustomClient {
    /// Placeholders in the command of a client.
    pub const PLACEHOLDERS: &'static [&'static str] =
        &["address", "port", "name", "certificate", "directory"];

    /// The client that the command `text` starts.
    ///
    /// # Errors
    /// If `text` is not a command line.
    pub fn new(text: &str) -> Result<CustomClient, CommandError> {
        Ok(CustomClient(Words::parse(text, CustomClient::PLACEHOLDERS)?))
    }
}

impl ClientProgram for CustomClient {
    fn about(&self) -> &About {
        &About::CUSTOM
    }

    fn name(&self) -> &str {
        let program = self.0.program();
        Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program)
    }

    fn executables(&self) -> Vec<&str> {
        vec![self.0.program()]
    }

    fn does(&self) -> Does {
        Does::AsTold
    }

    fn prepare(&self, visit: &Visit<'_>) -> Result<Launch, ProgramError> {
        let values = [
            ("address", visit.address.to_string()),
            ("port", visit.port.to_string()),
            ("name", visit.name.to_owned()),
            ("certificate", visit.certificate.display().to_string()),
            ("directory", visit.folder.display().to_string()),
        ];
        Ok(Launch::new(self.0.arguments(&values), None, visit.port))
    }

    fn session(&self, _: &Visit<'_>) -> Option<Box<dyn Session>> {
        None
    }
}
