//! Reads long logs in pieces.

use std::io::{self, BufRead, Read as _};

use trackbed_core::text::lines;
use trackbed_outward::files::text_of;

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
            let mut rest = Vec::new();
            let read = source.by_ref().take(WHOLE_MAX).read_to_end(&mut rest);
            if read.map_err(unreadable)? as u64 == WHOLE_MAX {
                return Err(MotionError::new("it is longer than 256 MB; split it"));
            }
            piece.push_str(&text(rest, line)?);
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
    let (mut bytes, above, mut more) = (Vec::new(), *line, true);
    while more && bytes.len() < PIECE_BYTES {
        let read = source.by_ref().take(PIECE_BYTES as u64).read_until(b'\n', &mut bytes);
        more = read.map_err(unreadable)? > 0;
        *line += u64::from(more);
    }
    piece.push_str(&text(bytes, above)?);
    Ok(more)
}

/// The text below line `above`.
fn text(bytes: Vec<u8>, above: u64) -> Result<String, MotionError> {
    text_of(bytes).map_err(|why| {
        let valid = &why.as_bytes()[..why.utf8_error().valid_up_to()];
        let line = above + 1 + valid.iter().filter(|byte| **byte == b'\n').count() as u64;
        MotionError::new("it is not text in UTF-8; convert it").in_line(line)
    })
}

fn unreadable(why: io::Error) -> MotionError {
    MotionError::new(format!("it cannot be read: {why}"))
}

const PIECE_BYTES: usize = 1 << 20;
const WHOLE_MAX: u64 = 256_000_000;
