//! Sources of images: files, a video, or a generator.

mod error;
mod folder;
mod generated;
mod video;

use std::path::Path;

use crate::image::Image;

pub use error::FrameError;
use folder::Folder;
pub use generated::Generated;
use video::Video;

/// A sequence of images, of one size or several.
#[derive(Debug)]
pub struct Frames(Source);

#[derive(Debug)]
enum Source {
    Folder(Folder),
    Video(Video),
    Generated(Generated),
}

impl Frames {
    /// Generated frames of 640 x 480 pixels with moving boxes, drawn from a seed; they never end.
    pub fn generated(seed: u64) -> Frames {
        Frames(Source::Generated(Generated::new(seed)))
    }

    /// The images of a folder, or of its folder `img1` as in MOTChallenge, sorted by name with
    /// numbers by value; or the images of a video, decoded by ffmpeg.
    ///
    /// # Errors
    /// If there is nothing at `path`, or no image in it.
    pub fn open(path: &Path) -> Result<Frames, FrameError> {
        let data = std::fs::metadata(path).map_err(|why| FrameError::File(path.to_owned(), why))?;
        Ok(Frames(match data.is_dir() {
            true => Source::Folder(Folder::open(path)?),
            false => Source::Video(Video::open(path)?),
        }))
    }

    /// The next image; `None` at the end.
    ///
    /// # Errors
    /// If it cannot be read. Do not call it again after an error.
    pub fn read(&mut self) -> Result<Option<Image>, FrameError> {
        match &mut self.0 {
            Source::Folder(folder) => folder.next(),
            Source::Video(video) => video.next(),
            Source::Generated(generated) => Ok(Some(generated.next())),
        }
    }

    /// Returns to the first image.
    ///
    /// # Errors
    /// If a video cannot be opened again.
    pub fn rewind(&mut self) -> Result<(), FrameError> {
        match &mut self.0 {
            Source::Folder(folder) => folder.rewind(),
            Source::Video(video) => video.rewind()?,
            Source::Generated(generated) => generated.rewind(),
        }
        Ok(())
    }
}
