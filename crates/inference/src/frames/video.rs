//! A video, decoded by ffmpeg through a pipe.
//!
//! Images arrive as PPM (<https://netpbm.sourceforge.net/doc/ppm.html>): raw pixels, each image
//! preceded by its size.

use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use super::error::FrameError;
use crate::image::Image;
use crate::tail;

#[derive(Debug)]
pub(super) struct Video {
    path: PathBuf,
    decoder: Decoder,
    begun: bool,
    /// The arguments that make this ffmpeg output each image once, whatever its timestamp.
    each_once: [&'static str; 2],
}

#[derive(Debug)]
struct Decoder {
    ffmpeg: Child,
    pixels: BufReader<ChildStdout>,
    /// Reads its standard error, so that it never blocks on it.
    words: Option<JoinHandle<String>>,
}

impl Video {
    pub(super) fn open(path: &Path) -> Result<Video, FrameError> {
        let decoder = Decoder::start(path, "ffmpeg", SINCE_5_1)?;
        Ok(Video { path: path.to_owned(), decoder, begun: false, each_once: SINCE_5_1 })
    }

    pub(super) fn next(&mut self) -> Result<Option<Image>, FrameError> {
        match read_ppm(&mut self.decoder.pixels) {
            Ok(Some(image)) => {
                self.begun = true;
                Ok(Some(image))
            }
            Ok(None) => match self.decoder.end() {
                // A video without images would be restarted forever.
                (true, _) if self.begun => Ok(None),
                (false, words) if !self.begun && self.is_older(&words) => {
                    self.each_once = BEFORE_5_1;
                    self.rewind()?;
                    self.next()
                }
                (_, words) => Err(self.failed(words)),
            },
            Err(why) => {
                let (_, words) = self.decoder.end();
                let why = if words.is_empty() { why.to_string() } else { words };
                Err(self.failed(why))
            }
        }
    }

    pub(super) fn rewind(&mut self) -> Result<(), FrameError> {
        self.decoder = Decoder::start(&self.path, "ffmpeg", self.each_once)?;
        self.begun = false;
        Ok(())
    }

    /// Whether this error message is from an ffmpeg that does not know the argument.
    fn is_older(&self, words: &str) -> bool {
        self.each_once == SINCE_5_1 && words.contains("fps_mode")
    }

    fn failed(&self, why: String) -> FrameError {
        let why = if why.is_empty() { "it contains no image".to_owned() } else { why };
        FrameError::Video { path: self.path.clone(), why }
    }
}

impl Decoder {
    fn start(path: &Path, ffmpeg: &str, each_once: [&str; 2]) -> Result<Decoder, FrameError> {
        let mut command = Command::new(ffmpeg);
        command.args(["-nostdin", "-v", "error", "-i"]).arg(path);
        command.args(["-map", "0:v:0"]).args(each_once);
        command.args(["-f", "image2pipe", "-c:v", "ppm", "pipe:1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut ffmpeg = command.spawn().map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => FrameError::NoFfmpeg(path.to_owned()),
            _ => FrameError::Video { path: path.to_owned(), why: why.to_string() },
        })?;
        let (Some(pixels), Some(stderr)) = (ffmpeg.stdout.take(), ffmpeg.stderr.take()) else {
            unreachable!("both were asked to be pipes");
        };
        let words = Some(std::thread::spawn(move || tail::read(stderr)));
        Ok(Decoder { ffmpeg, pixels: BufReader::with_capacity(1 << 16, pixels), words })
    }

    fn end(&mut self) -> (bool, String) {
        // Its output has ended, or is no longer needed: then it must be killed.
        let success = match self.ffmpeg.try_wait() {
            Ok(Some(status)) => status.success(),
            _ if matches!(self.pixels.fill_buf(), Ok([])) => {
                self.ffmpeg.wait().is_ok_and(|status| status.success())
            }
            _ => {
                let _ = self.ffmpeg.kill();
                let _ = self.ffmpeg.wait();
                false
            }
        };
        let words = self.words.take().and_then(|words| words.join().ok());
        (success, words.unwrap_or_default())
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        let _ = self.ffmpeg.kill();
        let _ = self.ffmpeg.wait();
    }
}

const SINCE_5_1: [&str; 2] = ["-fps_mode", "passthrough"];
const BEFORE_5_1: [&str; 2] = ["-vsync", "0"];

/// The next image of a stream of binary PPM files with 8 bits per colour; `None` at its end.
fn read_ppm(stream: &mut impl BufRead) -> io::Result<Option<Image>> {
    let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    if stream.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let magic = word(stream)?;
    let [width, height, most] = [word(stream)?, word(stream)?, word(stream)?];
    if magic != "P6" || most != "255" {
        return Err(bad("its images have an unexpected format"));
    }
    let (Ok(width), Ok(height)) = (width.parse::<u32>(), height.parse::<u32>()) else {
        return Err(bad("its images have no size"));
    };
    let most = crate::image::SIDE_MAX as u32;
    if width.max(height) > most {
        return Err(bad(&format!("{width} x {height} pixels; sides may be up to {most}")));
    }
    let mut rgb = vec![0; 3 * width as usize * height as usize];
    stream.read_exact(&mut rgb)?;
    Image::new(width, height, rgb).map(Some).ok_or_else(|| bad("its images have no pixels"))
}

/// A word of the header, with one white-space character after it.
fn word(stream: &mut impl BufRead) -> io::Result<String> {
    let mut word = String::new();
    for byte in stream.by_ref().take(16).bytes() {
        match byte? {
            space if space.is_ascii_whitespace() => return Ok(word),
            byte => word.push(char::from(byte)),
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_different_sizes_follow_one_another() {
        let mut stream = &b"P6\n2 1\n255\nabcdefP6 1 1 255 xyz"[..];
        let first = read_ppm(&mut stream).unwrap().unwrap();
        assert_eq!((first.width(), first.height(), first.rgb()), (2, 1, &b"abcdef"[..]));
        assert_eq!(read_ppm(&mut stream).unwrap().unwrap().rgb(), b"xyz");
        assert!(read_ppm(&mut stream).unwrap().is_none());
    }

    #[test]
    fn a_stream_that_is_no_ppm_or_stops_short_is_an_error() {
        let cases: [&[u8]; 6] = [
            b"P5\n2 1\n255\nab",
            b"P6\n2 1\n65535\nabcdefabcdef",
            b"P6\n2 1\n255\nabcde",
            b"P6\n99999 99999\n255\n",
            b"P6\n0 1\n255\n",
            b"no white space for a long while",
        ];
        for case in cases {
            assert!(read_ppm(&mut &case[..]).is_err(), "{case:?}");
        }
    }

    #[test]
    fn without_ffmpeg_the_error_says_what_to_install() {
        let error = Decoder::start(Path::new("a.mp4"), "/no/such/ffmpeg", SINCE_5_1).unwrap_err();
        assert!(error.to_string().contains("Debian package ffmpeg"), "{error}");
    }
}
