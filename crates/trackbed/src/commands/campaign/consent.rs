//! Consent to run the commands in a scenario file. The author of the file chose them, and they run with the
//! permissions of the user.

use std::io::{self, IsTerminal as _};

use anyhow::bail;
use rustix::process::geteuid;
use trackbed_outward::printable_line;
use trackbed_programs::User;
use trackbed_scenario::Plan;

use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{tell, tell_error};

/// Shows the commands that runs of `plan` start. Without --allow-commands, asks the user on the terminal.
///
/// # Errors
/// If the user does not agree, or there is no terminal.
pub fn ask(plan: &Plan, options: &RunOptions) -> anyhow::Result<()> {
    let substrate = options.substrate.unwrap_or(plan.home.into());
    // Runs in virtual time start no programs.
    if plan.commands.is_empty() || substrate == SubstrateArgument::Virtual {
        return Ok(());
    }
    let rights = match User::in_place_of_root() {
        Some(user) => format!("as user {}", user.uid),
        None if geteuid().is_root() => "as root".to_owned(),
        None => "with your permissions".to_owned(),
    };
    let commands: String =
        plan.commands.iter().map(|command| format!("\n  {}", printable_line(command))).collect();
    let what = format!("this scenario contains commands, which run {rights}:{commands}");
    if options.allow_commands {
        tell(format_args!("note: {what}"));
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        bail!("{what}\n  help: if you trust them, add --allow-commands");
    }
    tell_error(format_args!("{what}\nRun them? [y/N]"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => bail!("nothing was run; --allow-commands runs them without asking"),
    }
}
