//! Writes detections to a file.

use std::io::{self, Write};

use serde_json::json;

use super::Detection;

/// The format of detections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line per detection in the MOTChallenge format (<https://motchallenge.net/instructions/>):
    /// frame from 1, -1 for the unknown track, left, top, width, height, confidence, and three
    /// times -1. It has no field for the class.
    Mot,
    /// A JSON object per detection: `frame` from 1, `class`, `confidence`, `left`, `top`, `width`,
    /// `height`.
    Ndjson,
}

/// Writes detections frame by frame.
#[derive(Debug)]
pub struct DetectionWriter<W> {
    form: Form,
    output: W,
}

impl<W: Write> DetectionWriter<W> {
    /// Writes to `output`.
    pub fn new(form: Form, output: W) -> DetectionWriter<W> {
        DetectionWriter { form, output }
    }

    /// Writes the detections of a frame; frames are counted from 1.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, frame: u64, found: &[Detection]) -> io::Result<()> {
        for Detection { sides: [left, top, right, bottom], class, confidence } in found {
            let (width, height) = (right - left, bottom - top);
            match self.form {
                Form::Mot => writeln!(
                    self.output,
                    "{frame},-1,{left:.2},{top:.2},{width:.2},{height:.2},{confidence:.4},-1,-1,-1"
                )?,
                Form::Ndjson => {
                    let object = json!({
                        "frame": frame, "class": class, "confidence": confidence,
                        "left": left, "top": top, "width": width, "height": height,
                    });
                    writeln!(self.output, "{object}")?;
                }
            }
        }
        Ok(())
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detection_is_a_line() {
        let found = [Detection { sides: [10.0, 20.5, 40.0, 80.0], class: 3, confidence: 0.5 }];
        let mut mot = Vec::new();
        DetectionWriter::new(Form::Mot, &mut mot).write(7, &found).unwrap();
        assert_eq!(mot, b"7,-1,10.00,20.50,30.00,59.50,0.5000,-1,-1,-1\n");
        let mut json = Vec::new();
        DetectionWriter::new(Form::Ndjson, &mut json).write(7, &found).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(value["frame"], 7);
        assert_eq!(value["height"], 59.5);
        assert_eq!(value["class"], 3);
    }
}
