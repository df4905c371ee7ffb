//! Why there is no image.

use std::io;
use std::path::PathBuf;

use crate::image::ImageError;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum FrameError {
    #[error("cannot read frames from {0}: {1}")]
    File(PathBuf, io::Error),
    #[error("{0} has no frames: give a folder of .jpg or .png files, or one that contains img1/")]
    Empty(PathBuf),
    #[error("the frame {0} cannot be used: {1}")]
    Image(PathBuf, ImageError),
    #[error(
        "{0} is not a folder, and reading it as a video needs ffmpeg, which is not installed \
         (Debian package ffmpeg); install it, or give a folder of .jpg or .png files"
    )]
    NoFfmpeg(PathBuf),
    #[error("ffmpeg cannot read the video {path}: {why}")]
    Video { path: PathBuf, why: String },
}
