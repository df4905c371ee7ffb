//! `trackbed pack`

use std::path::PathBuf;

use clap::Args;
use trackbed_archive::{Recorded, pack};

use crate::ending::Ending;
use crate::output::{self, shell_word, write_file};

const EXAMPLES: &str = "\
Examples:
  trackbed pack trackbed-out/vru -o vru.tar.gz
  trackbed verify-results vru.tar.gz
  tar xzf vru.tar.gz && trackbed report vru

A pack is a run directory in one file, with a copy of every file that the scenario names and with SHA-256
digests of all of them. Unpacked anywhere, it is a run directory that needs no other file. It has the
scenario, the settings, the results, the program's version and build ID, and the folders timelines and
captures; it lacks the folder replay. Commands and programs that a scenario starts are not packed.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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
