//! Ends a child with its parent: prctl(2), `PR_SET_PDEATHSIG`.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Lets the kernel kill the child started by `command` when the *thread* that starts it ends,
/// however that happens. The child's own children are not killed.
pub fn die_with_parent(command: &mut Command) -> &mut Command {
    let parent = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        match getppid() == Some(parent) {
            true => Ok(()),
            // The parent ended before the call, so no signal would arrive.
            false => Err(Errno::SRCH.into()),
        }
    };
    // SAFETY: between fork and exec, `ask` makes two system calls and allocates nothing.
    unsafe { command.pre_exec(ask) }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_child_is_killed_when_the_thread_that_started_it_ends() {
        let started = std::thread::spawn(|| {
            let mut command = Command::new("sleep");
            command.arg("600").stdout(Stdio::piped());
            die_with_parent(&mut command).spawn().unwrap()
        });
        let mut child = started.join().unwrap();
        // The pipe ends with the child, which would sleep for ten minutes.
        let mut said = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
