//! A channel to a running program: it reads descriptor 3 and writes descriptor 4.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use crate::error::ProgramError;
use crate::folder::Folder;

/// Our ends of two named pipes.
#[derive(Debug)]
pub struct Channel {
    /// The program's input; unread data stays in the kernel.
    commands: File,
    messages: File,
    paths: [PathBuf; 2],
}

impl Channel {
    /// Creates a channel with pipes in `folder`.
    ///
    /// # Errors
    /// If they cannot be created.
    pub fn new(folder: &Folder) -> Result<Channel, ProgramError> {
        let paths = ["commands", "messages"].map(|name| folder.path().join(name));
        let make = |path: &PathBuf| {
            mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            folder.hand_over(path)?;
            // Opened for reading and writing, a pipe does not wait for the other end (fifo(7)).
            OpenOptions::new().read(true).write(true).custom_flags(NONBLOCKING).open(path)
        };
        let open = |path: &PathBuf| make(path).map_err(|why| ProgramError::File(path.clone(), why));
        let (commands, messages) = (open(&paths[0])?, open(&paths[1])?);
        Ok(Channel { commands, messages, paths })
    }

    /// The command line that starts `command` with the other ends.
    pub(crate) fn enclose(&self, command: Vec<OsString>) -> Vec<OsString> {
        let [commands, messages] = self.paths.clone().map(OsString::from);
        let shell = ["/bin/sh", "-c", REDIRECT, "sh"].map(OsString::from);
        shell.into_iter().chain([commands, messages]).chain(command).collect()
    }

    /// Unread output of the program; empty if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut piece = [0; 16 << 10];
        loop {
            match self.messages.read(&mut piece) {
                Ok(0) => return Ok(all),
                Ok(len) => all.extend_from_slice(&piece[..len]),
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(all),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
    }

    /// Writes the program's input.
    ///
    /// # Errors
    /// If it has not read earlier data (at most 64 kB fit), or cannot be reached.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.commands.write_all(bytes)
    }
}

/// Becomes readable when the program has written something.
impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.messages.as_fd()
    }
}

/// The first two arguments after the shell's name are the pipes.
const REDIRECT: &str = "exec 3<\"$1\" 4>\"$2\"; shift 2; exec \"$@\"";

const NONBLOCKING: i32 = OFlags::NONBLOCK.bits().cast_signed();

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_reads_and_writes_at_the_other_ends() {
        let folder = Folder::new().unwrap();
        let mut channel = Channel::new(&folder).unwrap();
        assert_eq!(
            channel.read().unwrap(),
            b"",
            "nothing was written, and the read does not block"
        );
        let command = ["/bin/sh", "-c", "read -r word <&3; echo \"$1 $word\" >&4", "sh", "heard"];
        let line = channel.enclose(command.map(OsString::from).to_vec());
        channel.write(b"hello\n").unwrap();
        let ended = Command::new(&line[0]).args(&line[1..]).status().unwrap();
        assert!(ended.success(), "{ended}");
        assert_eq!(channel.read().unwrap(), b"heard hello\n");
    }
}
