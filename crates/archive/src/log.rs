//! `runs.jsonl` as it is written: a line for each result, as soon as it is there.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use trackbed_measure::results::RunResult;
use trackbed_outward::files::{Fresh, append};

use crate::error::{DirectoryError, Problem};
use crate::files::RUNS;
use crate::index::RecordedRuns;

/// An open log.
#[derive(Debug)]
pub(crate) struct RunLog {
    file: Arc<File>,
    runs: RecordedRuns,
}

impl RunLog {
    /// An empty log in `directory`, in place of any that is there.
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

    /// The log in `directory`, to be continued; one that is not there begins. A last line that was
    /// cut off in writing is taken away: that run is to be done again.
    pub fn open(directory: &Path) -> Result<RunLog, DirectoryError> {
        let runs = RecordedRuns::read(directory)?;
        let continued = || -> io::Result<RunLog> {
            let path = runs.path();
            let mut log = RunLog::of(runs, append(&path)?);
            log.mend()?;
            Ok(log)
        };
        continued().map_err(|why| DirectoryError::new(directory, Problem::Io(why)))
    }

    /// Leaves the file with whole lines only.
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

    /// What is there.
    pub fn runs(&self) -> &RecordedRuns {
        &self.runs
    }

    /// Keeps a result, at once.
    pub fn append(&mut self, run: &RunResult) -> io::Result<()> {
        let mut line = serde_json::to_vec(run)?;
        line.push(b'\n');
        (&*self.file).write_all(&line)?;
        self.runs.note(run, line.len());
        Ok(())
    }

    /// Puts the lines in the order of cells and runs, which does not depend on who was done when.
    /// Whatever happens meanwhile, the one order or the other is there.
    pub fn settle(&mut self) -> Result<(), Problem> {
        if self.runs.is_in_order() {
            return Ok(());
        }
        let path = self.runs.path();
        let mut writer = io::BufWriter::new(Fresh::begin(&path).map_err(Problem::Io)?);
        for cell in 0..self.runs.cells() {
            for line in self.runs.lines(cell) {
                writer.write_all(&line?.1).map_err(Problem::Io)?;
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
