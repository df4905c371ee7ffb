//! `trackbed completions` and `trackbed man`

use std::io;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::ending::Ending;
use crate::output::{self, shell_word, tell};

/// For which shell.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/completions.txt"))]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Where to.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Write the pages into this directory, which is made if need be; `man -l DIR/trackbed-run.1` shows one
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Prints a script that completes the command line.
pub fn execute(arguments: &Arguments, mut command: Command) -> anyhow::Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "trackbed", &mut script);
    output::print(&String::from_utf8(script).map_err(io::Error::other)?)?;
    Ok(Ending::Success)
}

/// Writes a manual page for each command.
pub fn man(arguments: &ManArguments, command: Command) -> anyhow::Result<Ending> {
    let folder = &arguments.folder;
    let cannot = || format!("cannot write manual pages into {}", shell_word(folder));
    std::fs::create_dir_all(folder).with_context(cannot)?;
    clap_mangen::generate_to(command, folder).with_context(cannot)?;
    tell(format_args!("manual pages: {}", shell_word(folder)));
    Ok(Ending::Success)
}
