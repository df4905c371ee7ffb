//! Signals for the command.

use std::thread;

use anyhow::Context as _;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Sent};

/// Signals from now on.
pub fn listen() -> anyhow::Result<SignalsInfo<WithOrigin>> {
    let all = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT];
    SignalsInfo::new(all).context("cannot listen to signals")
}

/// Forwards signals from other processes to the command. Signals from the terminal reach the command
/// directly and are ignored here: the command decides how to react.
pub fn pass_on(mut signals: SignalsInfo<WithOrigin>, forward: impl Fn(i32) + Send + 'static) {
    thread::spawn(move || {
        for origin in signals.forever() {
            if matches!(origin.cause, Cause::Sent(Sent::User | Sent::TKill | Sent::Queue)) {
                forward(origin.signal);
            }
        }
    });
}
