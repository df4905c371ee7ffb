//! The positions of results in `runs.jsonl`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use trackbed_measure::results::RunResult;
use trackbed_outward::files;

use crate::error::{DirectoryError, Problem};
use crate::files::RUNS;
use crate::results::Results;
use trackbed_scenario::CELLS_MAX;

/// The results in a run directory. They stay on disk; each takes 16 bytes of memory for its
/// position.
#[derive(Clone, Debug)]
pub struct RecordedRuns {
    directory: PathBuf,
    /// The file in which they were found, even if it is replaced meanwhile; `None` if there was
    /// none.
    file: Option<Arc<File>>,
    /// For each cell, the positions of its runs, in order of their numbers.
    cells: Vec<Vec<Line>>,
    /// The length of what was read: up to the end of the last complete line.
    end: u64,
}

/// The length of a line: 20,000,000 samples with all their digits fit.
const LINE_BYTES_MAX: u64 = 512_000_000;

/// The position of a run's result, including its line feed.
#[derive(Clone, Copy, Debug)]
struct Line {
    run: u32,
    len: u32,
    start: u64,
}

impl RecordedRuns {
    /// The results in `directory`, each run once; none if the file is missing. An incomplete last
    /// line, as a crash leaves it, is ignored.
    ///
    /// # Errors
    /// If a line before the last is damaged, or the file cannot be read.
    pub fn read(directory: &Path) -> Result<RecordedRuns, DirectoryError> {
        let refuse = |problem| DirectoryError::new(directory, problem);
        let mut runs = RecordedRuns::none(directory);
        let file = match files::open(&runs.path()) {
            Ok(file) => Arc::new(file),
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(runs),
            Err(why) => return Err(refuse(Problem::Unreadable(RUNS, why))),
        };
        runs.file = Some(file.clone());
        let mut reader = BufReader::new(Window { file, place: 0 });
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            let length = (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            if length.map_err(|why| refuse(Problem::Unreadable(RUNS, why)))? == 0 {
                return Ok(runs);
            }
            match serde_json::from_slice::<RunResult>(&line) {
                // A large cell number would allocate memory for all cells before it.
                Ok(run) if u64::from(run.cell) >= CELLS_MAX => {
                    let why = format!("line {number}: cell {} is out of range", run.cell);
                    return Err(refuse(Problem::Damaged(RUNS, why)));
                }
                Ok(run) => runs.note(&run, line.len()),
                Err(_) if line.len() as u64 == LINE_BYTES_MAX => {
                    let why =
                        format!("line {number} is longer than {} MB", LINE_BYTES_MAX / 1_000_000);
                    return Err(refuse(Problem::Damaged(RUNS, why)));
                }
                Err(_) if line.last() != Some(&b'\n') => return Ok(runs),
                Err(why) => {
                    return Err(refuse(Problem::Damaged(RUNS, format!("line {number}: {why}"))));
                }
            }
        }
    }

    pub(crate) fn none(directory: &Path) -> RecordedRuns {
        RecordedRuns { directory: directory.to_owned(), file: None, cells: Vec::new(), end: 0 }
    }

    /// From now on they are read from `file`.
    pub(crate) fn read_from(&mut self, file: Arc<File>) {
        self.file = Some(file);
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(RUNS)
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Records the position of the result just read or written; for duplicates, the first one.
    pub(crate) fn note(&mut self, run: &RunResult, len: usize) {
        let cell = run.cell as usize;
        if self.cells.len() <= cell {
            self.cells.resize_with(cell + 1, Vec::new);
        }
        let lines = &mut self.cells[cell];
        if let Err(place) = lines.binary_search_by_key(&run.run, |line| line.run) {
            lines.insert(place, Line { run: run.run, len: len as u32, start: self.end });
        }
        self.end += len as u64;
    }

    /// Records that a missing line feed was added to the last line.
    pub(crate) fn note_line_feed(&mut self) {
        let end = self.end;
        let ends_here = |line: &&mut Line| line.start + u64::from(line.len) == end;
        self.cells.iter_mut().flatten().filter(ends_here).for_each(|line| line.len += 1);
        self.end += 1;
    }

    /// Records that the lines are consecutive, ordered by cell and run.
    pub(crate) fn note_order(&mut self) {
        self.end = 0;
        for line in self.cells.iter_mut().flatten() {
            line.start = self.end;
            self.end += u64::from(line.len);
        }
    }

    /// Whether the file consists of lines ordered by cell and run, and nothing else.
    pub(crate) fn is_in_order(&self) -> bool {
        let mut end = 0;
        let in_place = self.cells.iter().flatten().all(|line| {
            let follows = line.start == end;
            end += u64::from(line.len);
            follows
        });
        in_place && end == self.end
    }

    pub(crate) fn refuse(&self, problem: Problem) -> DirectoryError {
        DirectoryError::new(&self.directory, problem)
    }

    /// Whether a run has a result.
    pub fn has(&self, cell: u32, run: u32) -> bool {
        self.line(cell, run).is_some()
    }

    fn line(&self, cell: u32, run: u32) -> Option<&Line> {
        let lines = self.cells.get(cell as usize)?;
        lines.binary_search_by_key(&run, |line| line.run).ok().map(|place| &lines[place])
    }

    /// The result of a run, if there is one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn one(&self, cell: u32, run: u32) -> Result<Option<RunResult>, DirectoryError> {
        let lines = self.line(cell, run).map_or(&[][..], slice::from_ref);
        self.parsed(cell, self.text_of(lines)).next().transpose()
    }

    /// The number of results.
    pub fn len(&self) -> u64 {
        self.cells.iter().map(|lines| lines.len() as u64).sum()
    }

    /// Whether there are no results.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more than the highest cell number with results.
    pub fn cells(&self) -> u32 {
        self.cells.len() as u32
    }

    /// The numbers of the runs of a cell that have results, in order.
    pub fn runs_of(&self, cell: u32) -> impl Iterator<Item = u32> + '_ {
        self.cells.get(cell as usize).into_iter().flatten().map(|line| line.run)
    }

    /// The lines of a cell exactly as in the file, each with its line feed, in the order of their
    /// runs.
    pub(crate) fn lines(&self, cell: u32) -> Lines<'_> {
        self.text_of(self.cells.get(cell as usize).map_or(&[][..], Vec::as_slice))
    }

    fn text_of<'a>(&self, lines: &'a [Line]) -> Lines<'a> {
        let place = lines.first().map_or(0, |line| line.start);
        let window = self.file.clone().map(|file| Window { file, place });
        Lines { lines: lines.iter(), file: window.map(BufReader::new), place }
    }

    /// The results of a cell in the order of their runs, one in memory at a time.
    pub fn each(&self, cell: u32) -> impl Iterator<Item = Result<RunResult, DirectoryError>> + '_ {
        self.parsed(cell, self.lines(cell))
    }

    fn parsed<'a>(
        &'a self,
        cell: u32,
        lines: Lines<'a>,
    ) -> impl Iterator<Item = Result<RunResult, DirectoryError>> + 'a {
        lines.map(move |line| {
            line.and_then(|text| parse(cell, &text)).map_err(|why| self.refuse(why))
        })
    }

    /// All results at once, by cell and run, for callers that need them in memory.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn all(&self) -> Result<Vec<RunResult>, DirectoryError> {
        let mut all = Vec::new();
        for cell in 0..self.cells() {
            all.extend(self.of(cell)?.into_owned());
        }
        Ok(all)
    }
}

impl Results for RecordedRuns {
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError> {
        Ok(Cow::Owned(self.each(cell).collect::<Result<_, _>>()?))
    }
}

/// A position in a file shared by several readers.
struct Window {
    file: Arc<File>,
    place: u64,
}

impl io::Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.place)?;
        self.place += length as u64;
        Ok(length)
    }
}

impl io::Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(distance) => self.place.checked_add_signed(distance),
            SeekFrom::End(distance) => self.file.metadata()?.len().checked_add_signed(distance),
        };
        self.place = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.place)
    }
}

/// Reads lines of a cell. Consecutive lines share a buffer.
pub(crate) struct Lines<'a> {
    lines: slice::Iter<'a, Line>,
    /// `None` if there are no lines.
    file: Option<BufReader<Window>>,
    /// The current position in the file.
    place: u64,
}

impl Lines<'_> {
    fn read(file: &mut BufReader<Window>, place: u64, line: &Line) -> io::Result<Vec<u8>> {
        let mut text = vec![0; line.len as usize];
        file.seek_relative(line.start as i64 - place as i64)?;
        file.read_exact(&mut text)?;
        if text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
        Ok(text)
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Vec<u8>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.lines.next()?;
        let text = Lines::read(self.file.as_mut()?, self.place, line);
        self.place = line.start + u64::from(line.len);
        Some(text.map_err(|why| Problem::Unreadable(RUNS, why)))
    }
}

fn parse(cell: u32, line: &[u8]) -> Result<RunResult, Problem> {
    let damaged = |why| Problem::Damaged(RUNS, format!("a line of cell {cell}: {why}"));
    serde_json::from_slice(line).map_err(damaged)
}
