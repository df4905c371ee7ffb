//! Why there is no image.

use std::io;
use std::path::PathBuf;

use crate::image::ImageError;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A file or folder cannot be read.
    #[error("cannot read frames from {0}: {1}")]
    File(PathBuf, io::Error),
    /// A folder has no image.
    #[error("{0} has no frames: name a folder of .jpg or .png files, or one with img1/ in it")]
    Empty(PathBuf),
    /// A file is no image that can be used.
    #[error("the frame {0} cannot be used: {1}")]
    Image(PathBuf, ImageError),
    /// There is no ffmpeg to read a video.
    #[error(
        "{0} is no folder, and to read it as a video takes ffmpeg, which is not installed (Debian \
         package ffmpeg); or name a folder of .jpg or .png files"
    )]
    NoFfmpeg(PathBuf),
    /// ffmpeg could not read the video, or not to its end.
    #[error("ffmpeg cannot read the video {path}: {why}")]
    Video {
        /// The video.
        path: PathBuf,
        /// What ffmpeg says.
        why: String,
    },
}
