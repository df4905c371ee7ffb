//! The programs around usrsctp, which are compiled when a test needs them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program whose source is `source` in the folder of tests, compiled with `libraries`; `None`,
/// with a note on standard error, if the machine has no compiler or library.
pub fn program(source: &str, libraries: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let name = source.file_stem()?.to_str()?;
    let program = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("usrsctp-{name}-{}", std::process::id()));
    if program.exists() {
        return Some(program);
    }
    let made = program.with_extension(format!("{:?}", std::thread::current().id()));
    let compiled =
        Command::new("cc").args(["-O1", "-o"]).args([&made, &source]).args(libraries).output();
    match compiled {
        Ok(output) if output.status.success() => {
            std::fs::rename(&made, &program).unwrap();
            Some(program)
        }
        Ok(output) if !output.stderr.windows(9).any(|bytes| bytes == b"usrsctp.h") => {
            panic!("{}", String::from_utf8_lossy(&output.stderr))
        }
        outcome => {
            let why = outcome.map_or_else(|error| error.to_string(), |_| "no usrsctp.h".to_owned());
            eprintln!("SKIPPED: {why}; install the Debian packages gcc and libusrsctp-dev");
            None
        }
    }
}
