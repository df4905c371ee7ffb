//! `trackbed pack`

use std::path::PathBuf;

use clap::Args;
use trackbed_archive::{Recorded, pack};

use crate::ending::Ending;
use crate::output::{self, shell_word, write_file};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/pack.txt"))]
pub struct Arguments {
    /// The run directory
    pub directory: PathBuf,
    /// Write the pack to FILE
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Packs a run directory, and prints the path of the pack.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let recorded = Recorded::read(&arguments.directory)?;
    let folder = arguments.directory.canonicalize().unwrap_or_default();
    let name = folder.file_name().map_or("results".into(), |name| name.to_string_lossy());
    write_file(&arguments.out, |file| Ok(pack(&recorded, &name, file).map(drop)?))?;
    output::print(&format!("{}\n", shell_word(&arguments.out)))?;
    Ok(Ending::Success)
}
