//! Reads long logs in pieces.

use std::io::{self, BufRead, Read as _};

use trackbed_core::text::lines;

use super::{DriveLog, LogFormat};
use crate::motion::MotionError;

impl DriveLog {
    /// Reads a log for a drive, and passes it on in pieces, so that a table may be longer than memory. Other
    /// formats are read as a whole, at most 256 MB.
    ///
    /// # Errors
    /// If it cannot be read, or is invalid; the message names the line. Or the error of `take`.
    pub fn read_pieces(
        mut source: impl BufRead,
        columns: &[(String, String)],
        mut take: impl FnMut(DriveLog) -> Result<(), MotionError>,
    ) -> Result<(), MotionError> {
        let (mut piece, mut line, mut above) = (String::new(), 0, 0);
        let mut more = read_lines(&mut source, &mut piece, &mut line)?;
        let format = LogFormat::of_text(&piece);
        if format != LogFormat::Csv {
            let rest = source.by_ref().take(WHOLE_MAX).read_to_string(&mut piece);
            if rest.map_err(|why| unreadable(&why, line))? as u64 == WHOLE_MAX {
                return Err(MotionError::new("it is longer than 256 MB; split it"));
            }
            return take(DriveLog::read(&piece, format, columns, true)?);
        }
        // With the comments above it, so that lines keep their numbers.
        let heading_lines = lines(&piece).next().map_or(0, |(at, _)| at);
        let heading = piece.split_inclusive('\n').take(heading_lines as usize);
        let heading: String = heading.collect();
        loop {
            let read = DriveLog::read(&piece, format, columns, true);
            let mut log = read.map_err(|why| why.below(above))?;
            log.readings.iter_mut().for_each(|reading| reading.line += above);
            take(log)?;
            above = line - heading_lines;
            piece.clone_from(&heading);
            more = more && read_lines(&mut source, &mut piece, &mut line)?;
            if piece.len() == heading.len() {
                return Ok(());
            }
        }
    }
}

/// Adds a piece of whole lines; false if these were the last.
fn read_lines(
    source: &mut impl BufRead,
    piece: &mut String,
    line: &mut u64,
) -> Result<bool, MotionError> {
    let start = piece.len();
    while piece.len() - start < PIECE_BYTES {
        let read = source.by_ref().take(PIECE_BYTES as u64).read_line(piece);
        if read.map_err(|why| unreadable(&why, *line))? == 0 {
            return Ok(false);
        }
        *line += 1;
    }
    Ok(true)
}

fn unreadable(why: &io::Error, line: u64) -> MotionError {
    let advice = match why.kind() {
        io::ErrorKind::InvalidData => "it is not text in UTF-8; convert it".to_owned(),
        _ => format!("it cannot be read: {why}"),
    };
    MotionError::new(advice).in_line(line + 1)
}

const PIECE_BYTES: usize = 1 << 20;
const WHOLE_MAX: u64 = 256_000_000;
