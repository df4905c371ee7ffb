//! How a run fails.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a run has no result: a panic, tasks that wait for ever, or a network that cannot be built.
/// The text also names the seed and the capture.
///
/// ```
/// use trackbed_test::{Failure, Track};
///
/// let failure: Failure = Track::new(7).try_run(std::future::pending::<()>()).unwrap_err();
/// assert!(failure.to_string().contains("nothing is left that could wake the main future"));
/// assert!(failure.to_string().contains("seed: 7"));
/// ```
pub struct Failure {
    pub(crate) why: String,
    pub(crate) seed: u64,
    /// The file, or why there is none.
    pub(crate) capture: Result<PathBuf, String>,
}

impl Failure {
    /// The pcapng file with the last packets of the run, if it could be written.
    ///
    /// ```
    /// # use trackbed_test::Track;
    /// let failure = Track::new(7).try_run(std::future::pending::<()>()).unwrap_err();
    /// if let Some(file) = failure.capture() {
    ///     assert!(file.is_file());
    /// }
    /// ```
    pub fn capture(&self) -> Option<&Path> {
        self.capture.as_deref().ok()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.why.trim_end())?;
        writeln!(f, "seed: {}", self.seed)?;
        match &self.capture {
            Ok(path) => write!(f, "packets, for Wireshark: {}", path.display()),
            Err(why) => write!(f, "no capture: {why}"),
        }
    }
}

/// As the text, because tests print errors in this form.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
