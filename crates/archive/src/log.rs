//! Writing `runs.jsonl`: each result is appended as a line at once.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use trackbed_measure::results::RunResult;
use trackbed_outward::files::{Fresh, append};

use crate::error::{DirectoryError, Problem};
use crate::files::RUNS;
use crate::index::RecordedRuns;

#[derive(Debug)]
pub(crate) struct RunLog {
    file: Arc<File>,
    runs: RecordedRuns,
}

impl RunLog {
    /// Creates an empty log in `directory`, replacing any existing one.
    pub fn create(directory: &Path) -> io::Result<RunLog> {
        let file = append(&directory.join(RUNS))?;
        file.set_len(0)?;
        Ok(RunLog::of(RecordedRuns::none(directory), file))
    }

    fn of(mut runs: RecordedRuns, file: File) -> RunLog {
        let file = Arc::new(file);
        runs.read_from(file.clone());
        RunLog { file, runs }
    }

    /// Opens the log in `directory` to continue it; creates a missing one. An incomplete last line
    /// is removed: that run is repeated.
    pub fn open(directory: &Path) -> Result<RunLog, DirectoryError> {
        let runs = RecordedRuns::read(directory)?;
        let continued = || -> io::Result<RunLog> {
            let path = runs.path();
            let mut log = RunLog::of(runs, append(&path)?);
            log.mend()?;
            Ok(log)
        };
        continued().map_err(DirectoryError::io(directory))
    }

    /// Leaves the file with complete lines only.
    fn mend(&mut self) -> io::Result<()> {
        let end = self.runs.end();
        self.file.set_len(end)?;
        if end == 0 {
            return Ok(());
        }
        let mut last = [0];
        self.file.read_exact_at(&mut last, end - 1)?;
        if last != *b"\n" {
            (&*self.file).write_all(b"\n")?;
            self.runs.note_line_feed();
        }
        Ok(())
    }

    /// The results so far.
    pub fn runs(&self) -> &RecordedRuns {
        &self.runs
    }

    /// Stores a result immediately.
    pub fn append(&mut self, run: &RunResult) -> io::Result<()> {
        // In pieces: a run of millions of messages is a line of many megabytes.
        let mut line = io::BufWriter::new(&*self.file);
        let written = serde_json::to_writer(&mut line, run).map_err(io::Error::from);
        let written = written.and_then(|()| line.write_all(b"\n")).and_then(|()| line.flush());
        // What could not be written is not tried again.
        drop(line.into_parts());
        written?;
        let end = (&*self.file).stream_position()?;
        self.runs.note(run, usize::try_from(end - self.runs.end()).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Sorts the lines by cell and run, independent of timing. The file is always complete, in the
    /// old or the new order.
    pub fn settle(&mut self) -> Result<(), Problem> {
        if self.runs.is_in_order() {
            return Ok(());
        }
        let path = self.runs.path();
        let mut writer = io::BufWriter::new(Fresh::begin(&path).map_err(Problem::Io)?);
        for cell in 0..self.runs.cells() {
            for line in self.runs.lines(cell) {
                writer.write_all(&line?).map_err(Problem::Io)?;
            }
        }
        let finish = || -> io::Result<File> {
            writer.into_inner()?.keep()?;
            append(&path)
        };
        self.file = Arc::new(finish().map_err(Problem::Io)?);
        self.runs.read_from(self.file.clone());
        self.runs.note_order();
        Ok(())
    }
}
