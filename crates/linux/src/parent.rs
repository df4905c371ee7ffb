//! Ends a child with its parent: prctl(2), `PR_SET_PDEATHSIG`.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Lets the kernel kill the child started by `command` when the *thread* that starts it ends,
/// however that happens. The child's own children are not killed.
pub fn die_with_parent(command: &mut Command) -> &mut Command {
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: the call takes only numbers, and is allowed between fork and exec.
        let asked = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
        if asked == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: getppid takes no arguments and cannot fail.
        let now = unsafe { libc::getppid() };
        if u32::try_from(now) == Ok(parent) {
            Ok(())
        } else {
            // The parent ended before the call, so no signal would arrive.
            Err(io::Error::from_raw_os_error(libc::ESRCH))
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
