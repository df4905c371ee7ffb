//! Runs a program with limits on time and output.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::clock::{is_ready, monotonic_nanos, nanos};

/// The standard output of `command`; `None` if it does not exist, fails, writes more than
/// [`BYTES_MAX`] or takes longer than `limit`.
pub(super) fn ask(command: &mut Command, limit: Duration) -> Option<String> {
    let quiet = command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = quiet.spawn().ok()?;
    let output = read_until_end(&mut child, limit);
    if output.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    output.filter(|_| status.success()).and_then(|bytes| String::from_utf8(bytes).ok())
}

fn read_until_end(child: &mut Child, limit: Duration) -> Option<Vec<u8>> {
    let mut stdout = child.stdout.take()?;
    let end = monotonic_nanos().saturating_add(nanos(limit));
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while bytes.len() <= BYTES_MAX && monotonic_nanos() <= end && is_ready(&stdout, end).ok()? {
        match stdout.read(&mut part).ok()? {
            0 => return Some(bytes),
            count => bytes.extend_from_slice(&part[..count]),
        }
    }
    None
}

const BYTES_MAX: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Option<String> {
        ask(Command::new("sh").args(["-c", script]), limit)
    }

    #[test]
    fn an_answer_must_come_in_time_and_have_an_end() {
        let long = Duration::from_secs(60);
        assert_eq!(shell("echo here", long).as_deref(), Some("here\n"));
        assert_eq!(shell("echo here; exit 1", long), None);
        assert_eq!(shell("exec yes", long), None);
        assert_eq!(shell("exec sleep 600", Duration::from_millis(50)), None);
        assert_eq!(ask(&mut Command::new("/no/such/program"), long), None);
    }
}
