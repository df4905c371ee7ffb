//! GPX files (Topografix, versions 1.0 and 1.1).

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use trackbed_core::text::{decimal, known, seconds};

use super::sample::{DriveLog, Sample, parse_rsrp};
use crate::motion::MotionError;
use crate::motion::coordinates::Coordinates;

pub(super) fn parse(text: &str) -> Result<DriveLog, MotionError> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().trim_text(true);
    let mut points = Points { text, ..Points::default() };
    loop {
        let before = reader.buffer_position();
        let event = reader.read_event().map_err(|why| {
            let line = points.line(reader.error_position());
            MotionError::new(format!("{why}; the file must be well-formed XML")).in_line(line)
        })?;
        match event {
            Event::Start(element) => points.open(&element, before, false)?,
            Event::Empty(element) => points.open(&element, before, true)?,
            Event::Text(text) => points.content.push_str(&text),
            Event::End(element) => points.close(element.local_name().as_ref(), before)?,
            Event::Eof => break,
            _ => {}
        }
    }
    if points.inside.is_some() || points.depth > 0 {
        let why = "the file ends within an element; is it complete?";
        return Err(MotionError::new(why).in_line(points.line(text.len() as u64)));
    }
    let samples = if points.track.is_empty() { points.route } else { points.track };
    Ok(DriveLog { samples, ..DriveLog::default() })
}

#[derive(Default)]
struct Points<'a> {
    text: &'a str,
    counted: (usize, u64),
    track: Vec<Sample>,
    route: Vec<Sample>,
    inside: Option<Sample>,
    /// The `operator` of the current element.
    operator: String,
    content: String,
    depth: u32,
}

impl Points<'_> {
    fn open(&mut self, element: &BytesStart<'_>, at: u64, empty: bool) -> Result<(), MotionError> {
        let name = element.local_name().as_ref().to_owned();
        let line = self.line(at);
        self.content.clear();
        self.depth += u32::from(!empty);
        if matches!(name.as_str(), "trkpt" | "rtept") {
            let latitude = degrees(element, "lat").map_err(|why| why.in_line(line))?;
            let longitude = degrees(element, "lon").map_err(|why| why.in_line(line))?;
            let place = Coordinates::new(latitude, longitude).map_err(|why| why.in_line(line))?;
            self.inside = Some(Sample::at(line, place));
            if empty {
                self.finish(&name);
            }
        } else if matches!(name.as_str(), "cell" | "rsrp") {
            self.operator = attribute(element, "operator")?.unwrap_or_default();
        }
        Ok(())
    }

    fn close(&mut self, name: &str, at: u64) -> Result<(), MotionError> {
        self.depth = self.depth.saturating_sub(1);
        let (content, line) = (std::mem::take(&mut self.content), self.line(at));
        let operator = &self.operator;
        let Some(sample) = &mut self.inside else { return Ok(()) };
        match (name, known(&content)) {
            ("trkpt" | "rtept", _) => self.finish(name),
            ("time", Some(text)) => {
                let why = || format!("\"{text}\" is not a valid time; write 2026-05-01T08:00:00Z");
                let time = seconds(text, None).ok_or_else(|| MotionError::new(why()).in_line(line));
                sample.seconds = Some(time?);
            }
            ("speed", Some(text)) => sample.speed_m_s = decimal(text).filter(|s| *s >= 0.0),
            ("cell", Some(cell)) => sample.cells.push((operator.clone(), cell.to_owned())),
            ("rsrp", Some(text)) => {
                let power = parse_rsrp(text).map_err(|why| why.in_line(line))?;
                sample.rsrp_dbm.push((operator.clone(), power));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, name: &str) {
        let list = if name == "trkpt" { &mut self.track } else { &mut self.route };
        list.extend(self.inside.take());
    }

    /// The line of a byte of the text. Counts from the byte of the previous call.
    fn line(&mut self, at: u64) -> u64 {
        let before = self.text.len().min(usize::try_from(at).unwrap_or(usize::MAX));
        // The byte before an element's first character may be the end of the previous line.
        let rest = &self.text.as_bytes()[before..];
        let end = before + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let (from, lines) = if self.counted.0 <= end { self.counted } else { (0, 0) };
        let passed = &self.text.as_bytes()[from..end];
        self.counted = (end, lines + passed.iter().filter(|byte| **byte == b'\n').count() as u64);
        1 + self.counted.1
    }
}

fn degrees(element: &BytesStart<'_>, name: &str) -> Result<f64, MotionError> {
    let text = attribute(element, name)?.unwrap_or_default();
    text.trim().parse().map_err(|_| {
        MotionError::new(format!(
            "\"{text}\" is not a valid {name}; write degrees, as {name}=\"48.85\""
        ))
    })
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, MotionError> {
    let attribute = element.try_get_attribute(name);
    let attribute = attribute.map_err(|why| MotionError::new(format!("{why}; fix the XML")))?;
    Ok(attribute.map(|attribute| attribute.value.into_owned()))
}
