//! The protocol of gpsd: one JSON object per line (gpsd_json(5)).

use serde::Deserialize;
use trackbed_railway::motion::Coordinates;

/// A position from a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// The coordinates.
    pub coordinates: Coordinates,
    /// The speed in metres per second, if known.
    pub speed_m_s: Option<f64>,
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A position.
    Fix(Fix),
    /// The receiver works, but has no position.
    NoFix,
    /// gpsd refused a request.
    Error(String),
    /// Any other report.
    Other,
}

/// A line that is not from gpsd.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Nonsense(pub String);

/// The request of a client for positions.
pub const WATCH: &[u8] = b"?WATCH={\"enable\":true,\"json\":true};\n";

/// The fields that are used, of any class.
#[derive(Deserialize)]
struct Line {
    class: String,
    mode: Option<u8>,
    lat: Option<f64>,
    lon: Option<f64>,
    speed: Option<f64>,
    message: Option<String>,
}

impl Report {
    /// Parses a line.
    ///
    /// # Errors
    /// If it is not a line from gpsd.
    pub fn parse(line: &[u8]) -> Result<Report, Nonsense> {
        let line: Line = serde_json::from_slice(line)
            .map_err(|why| Nonsense(format!("not a line from gpsd: {why}")))?;
        match line.class.as_str() {
            // Mode 2 is a position without altitude, 3 one with it.
            "TPV" if line.mode.is_some_and(|mode| mode >= 2) => {
                let (Some(lat), Some(lon)) = (line.lat, line.lon) else { return Ok(Report::NoFix) };
                let coordinates =
                    Coordinates::new(lat, lon).map_err(|why| Nonsense(why.to_string()))?;
                let speed_m_s = line.speed.filter(|speed| speed.is_finite() && *speed >= 0.0);
                Ok(Report::Fix(Fix { coordinates, speed_m_s }))
            }
            "TPV" => Ok(Report::NoFix),
            "ERROR" => Ok(Report::Error(line.message.unwrap_or_default())),
            _ => Ok(Report::Other),
        }
    }
}

/// Splits a stream into lines. A line that is too long is invalid, and truncated.
#[derive(Debug, Default)]
pub struct Lines {
    waiting: Vec<u8>,
}

impl Lines {
    /// Takes bytes, and returns the complete lines, without their ends.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.waiting.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(end) = self.waiting.iter().position(|byte| *byte == b'\n') {
            let mut line: Vec<u8> = self.waiting.drain(..=end).collect();
            line.truncate(line.trim_ascii_end().len());
            if !line.is_empty() {
                lines.push(line);
            }
        }
        if self.waiting.len() > LINE_MAX {
            lines.push(std::mem::take(&mut self.waiting));
        }
        lines
    }
}

/// gpsd guarantees at most 10,240 bytes (`GPS_JSON_RESPONSE_MAX`).
const LINE_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Report, Nonsense> {
        Report::parse(line.as_bytes())
    }

    /// Lines of gpsd 3.22 with gpsfake.
    #[test]
    fn positions_are_taken_from_what_gpsd_says() {
        let fix = parse(
            r#"{"class":"TPV","device":"/dev/pts/1","mode":3,"time":"2026-05-01T08:00:00.000Z","ept":0.005,"lat":48.123456789,"lon":11.5,"altHAE":500.1,"epx":3.1,"epy":4.2,"track":90.0,"speed":83.333,"climb":0.0}"#,
        );
        let coordinates = Coordinates::new(48.123456789, 11.5).unwrap();
        assert_eq!(fix, Ok(Report::Fix(Fix { coordinates, speed_m_s: Some(83.333) })));
        assert_eq!(parse(r#"{"class":"TPV","device":"/dev/pts/1","mode":1}"#), Ok(Report::NoFix));
        assert_eq!(parse(r#"{"class":"TPV","mode":3,"lat":1.0}"#), Ok(Report::NoFix));
        let version =
            r#"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#;
        assert_eq!(parse(version), Ok(Report::Other));
        let error = parse(r#"{"class":"ERROR","message":"Can't open device"}"#);
        assert_eq!(error, Ok(Report::Error("Can't open device".to_owned())));
    }

    #[test]
    fn nonsense_is_said_to_be_that() {
        for line in [
            "",
            "HTTP/1.1 400 Bad Request",
            "{}",
            "[1,2",
            r#"{"class":"TPV","mode":3,"lat":"north","lon":1.0}"#,
            r#"{"class":"TPV","mode":3,"lat":91.0,"lon":1.0}"#,
            "\u{0}\u{1}",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
        assert_eq!(
            parse(r#"{"class":"TPV","mode":3,"lat":1.0,"lon":2.0,"speed":-1.0}"#),
            Ok(Report::Fix(Fix {
                coordinates: Coordinates::new(1.0, 2.0).unwrap(),
                speed_m_s: None
            }))
        );
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        let text = b"one\r\ntwo\n\nthree\n";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let cut: Vec<Vec<u8>> = text.chunks(size).flat_map(|piece| lines.feed(piece)).collect();
            assert_eq!(cut, [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()]);
        }
        let mut lines = Lines::default();
        assert_eq!(lines.feed(&[b'x'; LINE_MAX + 1]).len(), 1, "memory does not grow for ever");
        assert_eq!(lines.feed(b"y\n"), [b"y".to_vec()]);
    }
}
