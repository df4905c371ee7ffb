//! Signals to a service: signal(7).

use std::fs;
use std::io;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A request to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Stop (SIGTERM, SIGINT).
    Stop,
    /// Read the files again (SIGHUP).
    Reload,
}

/// Calls `tell` for each signal, on a separate thread; SIGHUP stays ignored under nohup(1). A second signal to
/// stop ends the process at once.
///
/// # Errors
/// If the handler cannot be installed.
pub fn listen(mut tell: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut stopping = false;
        for signal in signals.forever() {
            match signal {
                SIGHUP => tell(Signal::Reload),
                _ if stopping => std::process::exit(130),
                _ => {
                    stopping = true;
                    tell(Signal::Stop);
                }
            }
        }
    })?;
    Ok(())
}

fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut masks = status.lines().filter_map(|line| line.strip_prefix("SigIgn:"));
    let bits = |mask: &str| u64::from_str_radix(mask.trim(), 16).unwrap_or(0);
    masks.any(|mask| bits(mask) >> (signal - 1) & 1 == 1)
}
