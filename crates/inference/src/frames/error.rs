//! Why there is no image.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::image::ImageError;

/// Why there is no image.
#[derive(Debug)]
#[non_exhaustive]
pub enum FrameError {
    /// A file or folder cannot be read.
    File(PathBuf, io::Error),
    /// A folder has no image.
    Empty(PathBuf),
    /// A file is no image that can be used.
    Image(PathBuf, ImageError),
    /// There is no ffmpeg to read a video.
    NoFfmpeg(PathBuf),
    /// ffmpeg could not read the video, or not to its end.
    Video {
        /// The video.
        path: PathBuf,
        /// What ffmpeg says.
        why: String,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::File(path, why) => {
                write!(f, "cannot read frames from {}: {why}", path.display())
            }
            FrameError::Empty(path) => write!(
                f,
                "{} has no frames: name a folder of .jpg or .png files, or one with img1/ in it",
                path.display()
            ),
            FrameError::Image(path, why) => {
                write!(f, "the frame {} cannot be used: {why}", path.display())
            }
            FrameError::NoFfmpeg(path) => write!(
                f,
                "{} is no folder, and to read it as a video takes ffmpeg, which is not installed \
                 (Debian package ffmpeg); or name a folder of .jpg or .png files",
                path.display()
            ),
            FrameError::Video { path, why } => {
                write!(f, "ffmpeg cannot read the video {}: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for FrameError {}
