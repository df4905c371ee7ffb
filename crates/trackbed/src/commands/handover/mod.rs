//! `trackbed handover`: tables of where a train's handovers are expected.

mod arguments;
mod build;
mod merge;
mod show;

pub(super) use build::outline;

use crate::ending::Ending;
pub use arguments::Arguments;
use arguments::HandoverCommand;

/// Builds, shows or merges tables.
///
/// # Errors
/// If a file cannot be read or written or has a wrong format, or a setting is invalid.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    match &arguments.command {
        HandoverCommand::Build(arguments) => build::execute(arguments),
        HandoverCommand::Show(arguments) => show::execute(arguments),
        HandoverCommand::Merge(arguments) => merge::execute(arguments),
    }?;
    Ok(Ending::Success)
}
