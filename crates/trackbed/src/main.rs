//! The command line of Trackbed: arguments, progress, exit codes. The work is done in
//! `trackbed_lab`.
#![forbid(unsafe_code)]

mod arguments;
mod chosen;
mod commands;
mod ending;
mod help;
mod interrupt;
mod options;
mod output;
mod patience;
mod progress;
mod shard;
mod shell;

use std::io;
use std::process::ExitCode;

use arguments::{Arguments, Command};
use ending::Ending;
use trackbed_scenario::ScenarioError;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // This program is also the first process of a namespace, and the endpoints of emulated runs.
    let part = trackbed_emulator::enclosure::init(std::env::args_os())
        .or_else(|| trackbed_lab::emulated::endpoint(std::env::args_os()));
    if let Some(code) = part {
        return ExitCode::from(code);
    }
    let arguments = match Arguments::of_this_process() {
        Ok(arguments) => arguments,
        Err(why) => return refuse(&why),
    };
    if arguments.quiet {
        output::be_quiet();
    }
    let ended = match arguments.command {
        Command::List(arguments) => commands::list::execute(&arguments),
        Command::Run(arguments) => commands::run::execute(&arguments),
        Command::Check(arguments) => commands::check::execute(&arguments),
        Command::Replay(arguments) => commands::replay::execute(&arguments),
        Command::Paper(arguments) => commands::paper::execute(&arguments),
        Command::Advise(arguments) => commands::advise::execute(&arguments),
        Command::Fit(arguments) => commands::fit::execute(&arguments),
        Command::Drops(arguments) => commands::drops::execute(&arguments),
        Command::Agree(arguments) => commands::agree::execute(&arguments),
        Command::Drive(arguments) => commands::drive::execute(&arguments),
        Command::Handover(arguments) => commands::handover::execute(&arguments),
        Command::Infer(arguments) => commands::infer::execute(&arguments),
        Command::Calibrate(arguments) => commands::calibrate::execute(&arguments),
        Command::Monitor(arguments) => commands::monitor::execute(&arguments),
        Command::Phad(arguments) => commands::phad::execute(&arguments),
        Command::Relay(arguments) => commands::relay::execute(&arguments),
        Command::Serve(arguments) => commands::serve::execute(&arguments),
        Command::V2x(arguments) => commands::v2x::execute(&arguments),
        Command::Export(arguments) => commands::export::execute(&arguments),
        Command::Report(arguments) => commands::report::execute(&arguments),
        Command::Figure(arguments) => commands::figure::execute(&arguments),
        Command::Compare(arguments) => commands::compare::execute(&arguments),
        Command::Plan(arguments) => commands::plan::execute(&arguments),
        Command::Fetch(arguments) => commands::fetch::execute(&arguments),
        Command::Merge(arguments) => commands::merge::execute(&arguments),
        Command::Pack(arguments) => commands::pack::execute(&arguments),
        Command::VerifyResults(arguments) => commands::verify_results::execute(&arguments),
        Command::Verify(arguments) => commands::verify::execute(&arguments),
        Command::Doctor(arguments) => commands::doctor::execute(&arguments),
        Command::Completions(arguments) => {
            commands::completions::execute(&arguments, Arguments::described())
        }
        Command::Man(arguments) => commands::completions::man(&arguments, Arguments::described()),
        Command::Link(arguments) => return link(&arguments),
    };
    match ended {
        Ok(Ending::Success) => ExitCode::SUCCESS,
        Ok(Ending::CheckFailed) => ExitCode::from(1),
        Ok(Ending::NothingCompared) => ExitCode::from(2),
        Ok(Ending::Undecided) => ExitCode::from(3),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(error) if output::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

/// Prints the error in the arguments, or the help or version that they ask for.
fn refuse(why: &clap::Error) -> ExitCode {
    // The reader may have closed the stream.
    let is_lost = why.print().is_err_and(|why| why.kind() != io::ErrorKind::BrokenPipe);
    let command = std::env::args_os().skip(1).find(|it| !it.as_encoded_bytes().starts_with(b"-"));
    match why.exit_code() {
        0 if is_lost => ExitCode::from(2),
        0 => ExitCode::SUCCESS,
        // Any other status would be taken for the command's.
        _ if command.is_some_and(|command| command == "link") => {
            ExitCode::from(commands::link::TOOL_FAILED)
        }
        _ => ExitCode::from(2),
    }
}

/// Runs `trackbed link`, whose exit status is that of the command behind the link.
fn link(arguments: &commands::link::Arguments) -> ExitCode {
    let code = commands::link::execute(arguments).unwrap_or_else(|error| {
        report(&error);
        commands::link::TOOL_FAILED
    });
    ExitCode::from(code)
}

/// Prints an error. Mistakes in a scenario have a separate heading, each with its line and a remedy.
fn report(error: &anyhow::Error) {
    match error.downcast_ref::<ScenarioError>() {
        Some(mistakes) => output::tell_error(mistakes),
        None => output::tell_error(format_args!("error: {error:#}")),
    }
}
